import type { Content, Happening, Texts } from '../../core/kind.ts'
import { FRONTMATTER, PRIORITIES, TODO_STATUSES } from '../record.ts'
import { asMove, HISTORY, TABLE_HEAD } from './history.ts'
import { KEYS, type Values } from './values.ts'

/** What a file says, but for what the file itself does not: its name and list. */
export interface Quick {
  readonly fields: Record<string, unknown> & Values
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
  const fields: Quick['fields'] = { ...EMPTY }
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
    fields[KEYS[n]!] = value
    at = end + 1
  }
  if (!text.startsWith('---\n\n# ', at) || !isUsual(fields)) return undefined
  const start = at + 7
  const end = text.indexOf('\n', start)
  const title = text.slice(start, end)
  const row = TITLE.test(title) ? lastRow(text) : undefined
  if (row === undefined) return undefined
  fields['title'] = title
  fields['owner'] = fields.assigned_to
  return { fields, last: asMove(row.trim()) }
}

/** Content whose texts and history are read when somebody asks for them: a list needs neither. */
export class Later implements Content {
  readonly fields: Content['fields']
  readonly last: Happening | undefined
  private readonly read: () => Content
  private content: Content | undefined

  constructor({ fields, last }: Quick, read: () => Content) {
    this.fields = fields
    this.last = last
    this.read = read
  }

  get texts(): Texts {
    return (this.content ??= this.read()).texts
  }

  get history(): readonly Happening[] {
    return (this.content ??= this.read()).history
  }
}

/** Searched for one by one: a pattern is slow until it is compiled, and the text is long. */
const UNUSUAL = ['\r', '\0', '```', '~~~']
const HEADS = KEYS.map(key => `${key}: `)
const EMPTIES = KEYS.map(key => (FRONTMATTER[key] === 'json' ? '[]\n' : 'null\n'))
const EMPTY = Object.fromEntries([
  ...['title', 'owner', 'identity', 'workflow', 'session', 'file'].map(name => [name, null] as const),
  ...KEYS.map(key => [key, FRONTMATTER[key] === 'json' ? Object.freeze([]) : null] as const),
  ['extra', null],
]) as unknown as Readonly<Quick['fields']>
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
