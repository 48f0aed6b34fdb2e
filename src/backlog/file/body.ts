import { type Heading, oneLine, outline, tidy, trimmed } from '../../core/markdown.ts'
import { HISTORY } from './history.ts'

const SECTIONS = [
  'Problem Statement',
  'Findings',
  'Proposed Solutions',
  'Recommended Action',
  'Acceptance Criteria',
  'Work Log',
] as const

export interface LogEntry {
  readonly date: string
  readonly phase: string
  readonly by: string
  readonly actions: readonly string[]
  readonly learnings: readonly string[]
}

/** The body of a new todo: what was given, then a heading for each section that was not. */
export function newBody(given: string | undefined): string {
  const text = tidy(given ?? '')
  const { headings, open } = outlineOf(text)
  const sections = headings.filter(({ level }) => level === 2)
  // Left open, the fence would show every section after it as code.
  const closed = open === null ? text : `${text}\n${open}`
  const told = closed === '' || sections.length > 0 ? closed : `## ${SECTIONS[0]}\n\n${closed}`
  const there = told === closed ? sections.map(heading => heading.text.toLowerCase()) : [SECTIONS[0].toLowerCase()]
  const missing = SECTIONS.filter(name => !there.includes(name.toLowerCase())).map(name => `## ${name}`)
  return [told, ...missing].filter(part => part !== '').join('\n\n')
}

/** Whether a text has a heading that would be taken for the history's. */
export function hasHistory(text: string): boolean {
  return outlineOf(text).headings.some(isHistory)
}

export function isHistory({ level, text }: Heading): boolean {
  return level === 2 && (text === HISTORY || /^status history(?:[ \t]+#+)?$/i.test(text))
}

/** The body with one more entry in its work log; as it is when that entry is the last one already. */
export function withLogEntry(body: string, entry: LogEntry): string {
  const text = tidy(body)
  const written = logEntry(entry)
  const { headings } = outlineOf(text)
  const log = headings.findLastIndex(heading => heading.level === 2 && heading.text.toLowerCase() === 'work log')
  if (log < 0) return [text, '## Work Log', written].filter(part => part !== '').join('\n\n')
  const next = headings.findIndex((heading, n) => n > log && heading.level <= 2)
  const { end } = trimmed(text, 0, next < 0 ? text.length : headings[next]!.start)
  const last = headings.findLast((heading, n) => n > log && (next < 0 || n < next) && heading.level === 3)
  if (last && text.slice(last.start, end) === written) return body
  return `${text.slice(0, end)}\n\n${written}${text.slice(end)}`
}

function outlineOf(text: string): ReturnType<typeof outline> {
  const { headings, ...rest } = outline(`\n${text}`, 0)
  return {
    headings: headings.map(heading => ({ ...heading, start: heading.start - 1, end: heading.end - 1 })),
    ...rest,
  }
}

function logEntry({ date, phase, by, actions, learnings }: LogEntry): string {
  return [
    `### ${oneLine(date)} - ${oneLine(phase)}`,
    `**By**: ${oneLine(by)}`,
    ['**Actions**:', ...listItems(actions)].join('\n'),
    ...(learnings.length > 0 ? [['**Learnings**:', ...listItems(learnings)].join('\n')] : []),
  ].join('\n\n')
}

/** One list item for each text: a line that begins like a heading or a fence is made plain text. */
function listItems(texts: readonly string[]): string[] {
  return texts
    .map(text => text.split(/[\r\n]+/).map(line => line.trimEnd().replace(/^\s*(?=#|```|~~~)/, '$&\\')))
    .map(lines => lines.filter(line => line !== ''))
    .map(lines => `- ${lines.map((line, n) => (n === 0 ? line.trimStart() : `  ${line}`)).join('\n')}`.trimEnd())
}
