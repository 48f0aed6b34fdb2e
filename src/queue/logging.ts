import type { Texts } from '../core/kind.ts'
import { tidy } from '../core/markdown.ts'
import { EXECUTION_LOG, type LogEntry, lastNote, logged } from './execution-log.ts'

/** The texts of a task with one more entry in its execution log. */
export function logging(entry: LogEntry): (texts: Texts) => Texts {
  return texts => ({ [EXECUTION_LOG]: logged(texts[EXECUTION_LOG], entry) })
}

/** What a task's log says of how it ended, in words; undefined where that is this very note. */
export function noteInstead(texts: Texts, what: string, note: string): string | undefined {
  const recorded = lastNote(texts[EXECUTION_LOG] ?? '', what) ?? ''
  if (recorded === tidy(note)) return undefined
  return recorded === '' ? 'without a note' : `with another note: ${recorded}`
}
