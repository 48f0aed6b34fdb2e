import type { Texts } from '../core/kind.ts'
import { EXECUTION_LOG, type LogEntry, logged } from './execution-log.ts'

/** The texts of a task with one more entry in its execution log. */
export function logging(entry: LogEntry): (texts: Texts) => Texts {
  return texts => ({ [EXECUTION_LOG]: logged(texts[EXECUTION_LOG], entry) })
}
