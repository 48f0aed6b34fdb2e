import type { Happening, Texts } from '../../core/kind.ts'
import { FRONTMATTER, PRIORITIES, TODO_STATUSES } from '../record.ts'
import { asMove, HISTORY, TABLE_HEAD } from './history.ts'
import { KEYS, type Values } from './values.ts'

/** What the frontmatter and the title of a file say. */
export interface Quick {
  readonly values: Values
  readonly title: string
  readonly last: Happening | undefined
}

/**
 * Reads a file that is written the way we write, plain values only; undefined
 * for any other, which the reader for all files takes. A first look at thousands
 * of files runs before the code is compiled well: with this it takes a quarter
 * of the time. What both read, they must read alike.
 */
export function quickly(text: string): Quick | undefined {
  if (!text.startsWith('---\n') || UNUSUAL.some(sign => text.includes(sign)) || !text.isWellFormed()) return undefined
  // A copy of a whole record, and only what is filled in set on it: adding key after key to an empty one takes as long again.
  const values: Values = { ...EMPTY }
  let at = 4
  for (let n = 0; n < KEYS.length; n++) {
    const head = HEADS[n]!
    if (!text.startsWith(head, at)) return undefined
    const start = at + head.length
    if (text.startsWith(EMPTIES[n]!, start)) {
      at = start + EMPTIES[n]!.length
      continue
    }
    const end = text.indexOf('\n', start)
    const value = end < 0 ? undefined : TYPES[n]!(text.slice(start, end))
    if (value === undefined) return undefined
    values[KEYS[n]!] = value
    at = end + 1
  }
  if (!text.startsWith('---\n\n# ', at) || !isUsual(values)) return undefined
  const start = at + 7
  const end = text.indexOf('\n', start)
  const title = text.slice(start, end)
  const row = TITLE.test(title) ? lastRow(text) : undefined
  return row === undefined ? undefined : { values, title, last: asMove(row.trim()) }
}

/** Texts and history as somebody asks for them: a list needs neither. */
export function later(read: () => { readonly texts: Texts; readonly history: readonly Happening[] }) {
  let content: ReturnType<typeof read> | undefined
  return {
    get texts() {
      return (content ??= read()).texts
    },
    get history() {
      return (content ??= read()).history
    },
  }
}

/** Searched for one by one: a pattern is slow until it is compiled, and the text is long. */
const UNUSUAL = ['\r', '\0', '```', '~~~']
const HEADS = KEYS.map(key => `${key}: `)
const EMPTIES = KEYS.map(key => (FRONTMATTER[key] === 'json' ? '[]\n' : 'null\n'))
const EMPTY = Object.fromEntries(
  KEYS.map(key => [key, FRONTMATTER[key] === 'json' ? Object.freeze([]) : null]),
) as unknown as Readonly<Values>
const PLAIN = /^[A-Za-z_/][\w./@+-]*$/
const WORDS = /^[A-Za-z_/][\w./@+-]*(?: [\w./@+-]+)*$/
const QUOTED = /^"[\w./:@+ -]*"$/
const TITLE = /^[A-Za-z0-9](?:[\w .,;:()'"/-]*[\w.,;:()'"/-])?$/

const TYPES = KEYS.map(key => {
  const type = FRONTMATTER[key]
  if (type === 'json') return list
  if (type === 'integer') return integer
  return key === 'issue_id' ? issueId : scalar
})

function scalar(text: string): string | undefined {
  if (text[0] === '"') return text.length > 2 && QUOTED.test(text) ? text.slice(1, -1) : undefined
  return WORDS.test(text) && !(text.length === 4 && text.toLowerCase() === 'null') ? text : undefined
}

function issueId(text: string): string | undefined {
  return /^"\d{3,15}"$/.test(text) && (text.length === 5 || text[1] !== '0') ? text.slice(1, -1) : undefined
}

function integer(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function list(text: string): readonly string[] | undefined {
  if (text[0] !== '[' || text.at(-1) !== ']') return undefined
  const items = text.slice(1, -1).split(', ')
  return items.every(item => PLAIN.test(item) && item.toLowerCase() !== 'null') ? items : undefined
}

/** What is missing or unheard of has a meaning that is not decided here. */
function isUsual({ schema_version, status, priority, issue_id }: Values): boolean {
  if (schema_version === null || issue_id === null) return false
  return (TODO_STATUSES as readonly unknown[]).includes(status) && (PRIORITIES as readonly unknown[]).includes(priority)
}

const HISTORY_BEGINS = `\n## ${HISTORY}\n\n${TABLE_HEAD}\n`

/** The last row of the history, if nothing but rows comes after its heading: then nothing there is foreign. */
function lastRow(text: string): string | undefined {
  const heading = text.lastIndexOf(HISTORY_BEGINS)
  if (heading < 0) return undefined
  let row: string | undefined
  for (let at = heading + HISTORY_BEGINS.length; at < text.length; ) {
    const end = text.indexOf('\n', at)
    if (text[at] !== '|' || end < 0) return undefined
    row = text.slice(at, end)
    at = end + 1
  }
  return row
}
