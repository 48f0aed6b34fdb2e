import type { Entry } from '../core/kind.ts'
import type { LogEntry } from './execution-log.ts'
import type { Word } from './flags.ts'
import { isoTime } from './times.ts'

/** What the file that once told of a completion says: how it ended, when, and all of it for the log. */
export function completionOf(
  text: string,
  { name, written }: Entry,
  pid: string | undefined,
  folder: string,
): { readonly what: Word; readonly time: string; readonly logEntry: LogEntry } {
  const time = isoTime(valueOf(text, TIMES)) ?? new Date(written).toISOString()
  const what = ENDS[folder] ?? endOf(valueOf(text, STATUS).toLowerCase())
  const note = `Taken from ${name}:\n\n${fenced(text)}`
  return { what, time, logEntry: { at: time, by: pid === undefined ? 'unknown' : `process ${pid}`, what, note } }
}

/** The folder knows best: it is where somebody moved the task in the end. */
const ENDS: Readonly<Record<string, Word>> = { completed: 'completed', error: 'error', cancelled: 'cancelled' }
const TIMES = /^(?:timestamp|completed_?(?:at)?|finished_?(?:at)?|date)$/
const STATUS = /^(?:status|result|state)$/

function endOf(status: string): Word {
  if (/^(?:fail|error)/.test(status)) return 'error'
  return status.startsWith('cancel') ? 'cancelled' : 'completed'
}

/** The value of the first line whose key is one of these, in YAML or in bold. */
function valueOf(text: string, keys: RegExp): string {
  for (const line of text.slice(0, 65_536).split('\n')) {
    const colon = line.indexOf(':')
    if (colon < 0 || colon > 60) continue
    const key = line
      .slice(0, colon)
      .replaceAll(/[\s*-]/g, '')
      .toLowerCase()
    const value = line
      .slice(colon + 1, colon + 200)
      .replaceAll(/["'*]/g, '')
      .trim()
    if (keys.test(key) && value !== '') return value
  }
  return ''
}

/** In a fence that is longer than any in it. */
function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text.trimEnd()}\n${fence}`
}
