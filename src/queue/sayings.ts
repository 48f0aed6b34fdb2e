import type { Complaint } from '../core/kind.ts'
import { oneLine, tidy } from '../core/markdown.ts'
import { frontmatterOf } from '../core/yaml/frontmatter.ts'
import { nodeOf } from '../core/yaml/value.ts'
import { documentOf, keyOf } from './document.ts'

/** What a file says about one field, and where. */
interface Said {
  readonly text: string
  readonly line: number
  /** The same as a list, where it is written as one. */
  readonly items: readonly string[]
}

const HEADERS = [
  'type',
  'priority',
  'posted',
  'targetWorker',
  'session',
  'dependsOn',
  'writes',
  'origin',
  'discrete',
] as const
const SECTIONS = ['description', 'expectedResponse', 'entryCriteria', 'exitCriteria', 'subtasks', 'notes'] as const
/** `heading` is the first line, with the number of the task; `id` a key that names it. */
export type Field = (typeof HEADERS)[number] | (typeof SECTIONS)[number] | 'title' | 'heading' | 'id'

export type Sayings = ReadonlyMap<Field, Said>

/** What a task file says, in header lines and sections, or in a YAML frontmatter with the same names. */
export function sayingsIn(text: string): Sayings | Complaint {
  const said = new Map<Field, Said>()
  const after = isFronted(text) ? frontmatterInto(said, text) : 0
  if (typeof after === 'object') return after
  const body = after === 0 ? text : text.slice(after + 1)
  const firstLine = after === 0 ? 1 : text.slice(0, after).split('\n').length + 1
  const { title, headers, sections } = documentOf(body, firstLine, HEADER_KEYS)
  if (title && !said.has('title')) said.set('heading', { ...title, items: [] })
  const fronted = new Set(said.keys())
  const bold = new Set(headers.filter(header => header.bold).map(({ key }) => headerNamed(key)))
  for (const { key, bold: isBold, ...part } of headers) {
    const field = headerNamed(key)
    if (field === undefined || fronted.has(field) || (!isBold && bold.has(field))) continue
    if (said.has(field)) return { line: part.line, message: `${LABELS[field]} stands here a second time` }
    said.set(field, part)
  }
  for (const [key, part] of sections) {
    const field = key === 'taskdescription' ? 'description' : named(SECTIONS, key)
    if (field !== undefined && !said.has(field)) said.set(field, { ...part, items: [] })
  }
  return said
}

export const LABELS: Readonly<Record<Field, string>> = {
  title: 'the title',
  heading: 'the title',
  id: 'the id',
  type: 'Type',
  priority: 'Priority',
  posted: 'Posted',
  targetWorker: 'Target Worker',
  session: 'Session',
  dependsOn: 'Depends On',
  writes: 'Writes',
  origin: 'Origin',
  discrete: 'Discrete',
  description: 'Task Description',
  expectedResponse: 'Expected Response',
  entryCriteria: 'Entry Criteria',
  exitCriteria: 'Exit Criteria',
  subtasks: 'Subtasks',
  notes: 'Notes',
}

function named<F extends Field>(fields: readonly F[], key: string): F | undefined {
  return fields.find(field => field.toLowerCase() === key)
}

/** The field of a header line: people also write `Prio`. */
function headerNamed(key: string): (typeof HEADERS)[number] | undefined {
  return key === 'prio' ? 'priority' : named(HEADERS, key)
}

/** A header line with one of these names is one even where it is not in bold. */
const HEADER_KEYS: ReadonlySet<string> = new Set(['prio', ...HEADERS.map(name => name.toLowerCase())])

function isFronted(text: string): boolean {
  return /^\ufeff?---[ \t]*\r?(?:\n|$)/.test(text)
}

/** Reads the frontmatter; the line break after its end. */
function frontmatterInto(said: Map<Field, Said>, text: string): number | Complaint {
  const front = frontmatterOf(text)
  if ('message' in front) return front
  for (const entry of front.entries) {
    const key = keyOf(entry.key ?? '')
    const field = key === 'taskdescription' ? 'description' : named(FRONT, FRONT_SPELLINGS[key] ?? key)
    if (field === undefined) continue
    if (said.has(field)) return { line: entry.line, message: `${LABELS[field]} stands here a second time` }
    const node = nodeOf(entry)
    if ('message' in node) return { line: node.line, message: `${LABELS[field]}: ${node.message}` }
    const items = Array.isArray(node.value) ? (node.value as readonly string[]).map(oneLine) : []
    const words = typeof node.value === 'string' ? node.value : items.map(item => `- ${item}`).join('\n')
    const isText = (SECTIONS as readonly string[]).includes(field)
    const only = (field === 'type' || field === 'priority') && items.length === 1 ? items[0] : undefined
    said.set(field, { text: only ?? (isText ? tidy(words) : oneLine(words)), items, line: entry.line })
  }
  return front.after
}

const FRONT_SPELLINGS: Readonly<Record<string, string>> = { reqid: 'id', prio: 'priority' }
const FRONT = ['title', 'id', ...HEADERS, ...SECTIONS] as const
