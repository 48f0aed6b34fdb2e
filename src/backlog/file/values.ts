import type { Complaint } from '../../core/kind.ts'
import type { Entry, Frontmatter } from '../../core/yaml/frontmatter.ts'
import { keysIn } from '../../core/yaml/keys.ts'
import { stripped } from '../../core/yaml/spaces.ts'
import { type Node, nodeOf, type Value } from '../../core/yaml/value.ts'
import { digits } from '../names.ts'
import { FRONTMATTER, type FrontmatterKey, PRIORITIES, TODO_STATUSES } from '../record.ts'
import { priorityWord, statusWord } from './spelling.ts'

export type Values = Record<FrontmatterKey, string | number | null | readonly string[]>

export interface Known {
  readonly values: Values
  /** Where each of `KEYS` stands, if it does. */
  readonly places: readonly (Entry | undefined)[]
  /** The lines that are none of ours. */
  readonly foreign: readonly string[]
  /** What a key `title` says, for a file that has no heading. */
  readonly title: string | null
}

export const KEYS = Object.keys(FRONTMATTER) as FrontmatterKey[]

/** What the keys of a frontmatter mean. */
export function knownIn(text: string, front: Frontmatter): Known | Complaint {
  const known = keysIn(text, front, KEYS.length, key => PLACES.get(key))
  if ('message' in known) return known
  const { places, nodes, foreign } = known
  const values: Values = { ...NOTHING }
  for (const [place, key] of KEYS.entries()) {
    const node = nodes[place]
    const value = node ? typed(key, node) : NOTHING[key]
    if (typeof value === 'object' && value && 'message' in value)
      return { line: places[place]!.line, message: `${key}: ${value.message}` }
    values[key] = value
  }
  if (values.status === null)
    return { line: places[PLACES.get('status')!]?.line ?? 1, message: `status is missing; ${A_STATUS}` }
  const title = front.entries.findLast(({ key }) => key === 'title')
  return { values, places, foreign, title: title ? titleIn(title) : null }
}

const PLACES: ReadonlyMap<string, number> = new Map(KEYS.map((key, place) => [key, place]))
const A_STATUS = `use one of ${TODO_STATUSES.join(', ')}`
const NOTHING = {
  ...Object.fromEntries(KEYS.map(key => [key, FRONTMATTER[key] === 'json' ? Object.freeze([]) : null])),
  schema_version: 1,
  priority: 'p2',
} as unknown as Readonly<Values>

function titleIn(entry: Entry): string | null {
  const node = nodeOf(entry)
  return 'message' in node || typeof node.value !== 'string' ? null : node.value
}

function typed(key: FrontmatterKey, { value, plain }: Node): Values[FrontmatterKey] | { readonly message: string } {
  const type = FRONTMATTER[key]
  if (type === 'json') return list(value, plain)
  if (value === null) return NOTHING[key]
  if (typeof value !== 'string') return { message: 'a list stands where one value is expected' }
  if (type === 'integer') return integer(value)
  if (key === 'status') return statusWord(value) ?? { message: `${shown(value)} is not a status; ${A_STATUS}` }
  if (key === 'priority')
    return priorityWord(value) ?? { message: `${shown(value)} is not a priority; use one of ${PRIORITIES.join(', ')}` }
  return key === 'issue_id' ? issueId(value) : value
}

function list(value: Value, plain: boolean): readonly string[] {
  if (value === null) return []
  if (typeof value !== 'string') return value
  const parts = plain ? value.split(',').map(stripped) : [value]
  return parts.filter(part => part !== '')
}

function integer(text: string): number | { readonly message: string } {
  const number = /^[+-]?\d{1,15}(?:\.0+)?$/.test(text) ? Number(text) : undefined
  return number ?? { message: `${shown(text)} is not a whole number` }
}

/** The number in it, written as we write numbers; null where it has none, and the name of the file decides. */
function issueId(text: string): string | null | { readonly message: string } {
  const number = text.match(/\d+/g)?.at(-1)
  if (number === undefined) return null
  return number.length > 15 ? { message: `${shown(number)} is too large a number` } : digits(Number(number))
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
