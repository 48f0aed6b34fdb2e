import { oneLine, outline, tidy } from '../core/markdown.ts'
import { meant, plain } from './plain.ts'

export const EXECUTION_LOG = 'execution_log.md'

export interface LogEntry {
  /** ISO time, UTC. */
  readonly at: string
  readonly by: string
  readonly what: string
  readonly note?: string | null | undefined
}

/** The log with one more entry and every byte that is there; as it is when it has that entry already. */
export function logged(log: string | undefined, entry: LogEntry): string {
  const written = entryText(entry)
  if (log === undefined || log === '') return `# Execution Log\n\n${written}`
  if (hasEntry(log, entry)) return log
  // Left open, a fence would show everything after it as code.
  const { open } = outline(`\n${log}`, 0)
  const ended = `${log}${log.endsWith('\n') ? '' : '\n'}${open === null ? '' : `${open}\n`}`
  return `${ended}${ended.endsWith('\n\n') ? '' : '\n'}${written}`
}

/** Whether a log has this entry. */
export function hasEntry(log: string, entry: LogEntry): boolean {
  // Up to the next entry: one without a note is the beginning of one that has one.
  return `\n${log}\n## `.includes(`\n${entryText(entry)}\n## `)
}

/** The note of the last entry about something; undefined where there is none. */
export function lastNote(log: string, what: string): string | undefined {
  const lines = `\n${log}`
  const entries = outline(lines, 0).headings.filter(({ level }) => level === 2)
  const last = entries.findLastIndex(({ text }) => text.endsWith(` - ${what}`))
  if (last === -1) return undefined
  const text = tidy(lines.slice(entries[last]!.end, entries[last + 1]?.start))
  return tidy(meant(text.replace(/^\*\*By:\*\*.*$/m, '')))
}

function entryText({ at, by, what, note }: LogEntry): string {
  const text = plain(tidy(note ?? ''))
  return `## ${oneLine(at)} - ${oneLine(what)}\n\n**By:** ${oneLine(by)}\n${text === '' ? '' : `\n${text}\n`}`
}
