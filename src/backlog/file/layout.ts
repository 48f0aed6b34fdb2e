import { outline, trimmed, unixLines } from '../../core/markdown.ts'
import { isHistory } from './body.ts'
import { type Table, tableIn } from './history.ts'

/** Where the parts of a file stand that come after its frontmatter. */
export interface Layout {
  readonly title: string | null
  /** Between title and history, without the blank lines around it. */
  readonly body: { readonly start: number; readonly end: number }
  /** The line of the history's heading. */
  readonly heading: { readonly start: number; readonly end: number } | null
  readonly table: Table | undefined
  /** What else stands below the history's heading. */
  readonly tail: string
}

/**
 * The last heading of that name is the history's: one that somebody wrote in the
 * body changes nothing. Where text stands before the title, the body is all of it,
 * title included, so that nothing is lost when the file is written anew.
 */
export function layoutOf(text: string, from: number): Layout {
  const { headings, fences } = outline(text, from)
  const last = headings.findLastIndex(isHistory)
  const heading = last < 0 ? null : headings[last]!
  const titled = headings.find(({ level, text: words }, n) => level === 1 && words !== '' && (last < 0 || n < last))
  const leads = titled && trimmed(text, from, titled.start).start === titled.start
  const body = trimmed(text, leads ? titled.end : from, heading ? heading.start : text.length)
  if (!heading) return { title: titled?.text ?? null, body, heading, table: undefined, tail: '' }
  const below = headings[last + 1]?.start ?? text.length
  const table = tableIn(text, heading.end, below, fences)
  const tail = table
    ? [part(text, heading.end, table.start), part(text, table.end, text.length)].filter(Boolean).join('\n\n')
    : part(text, heading.end, text.length)
  return { title: titled?.text ?? null, body, heading, table, tail }
}

function part(text: string, from: number, to: number): string {
  const { start, end } = trimmed(text, from, to)
  return unixLines(text.slice(start, end))
}
