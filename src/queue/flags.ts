import type { Entry } from '../core/kind.ts'
import { readTaskId } from './names.ts'
import { stampOf, stampTime } from './times.ts'

const WORDS = ['started', 'completed', 'error', 'cancelled'] as const
export type Word = (typeof WORDS)[number]

/** An empty file in a task's directory whose name tells what happened, and when. */
export interface Flag {
  readonly name: string
  readonly what: Word
  /** ISO time, UTC. */
  readonly at: string
  /** When the file was written, in milliseconds. */
  readonly written: number
}

/** Flags that we write: what became an error has a report instead. */
const WRITTEN: Readonly<Record<string, Word>> = {
  in_progress: 'started',
  completed: 'completed',
  cancelled: 'cancelled',
}

/** The name of the flag for a status; undefined where there is none for it. */
export function flagName(id: string, status: string, at: string): string | undefined {
  const word = Object.hasOwn(WRITTEN, status) ? WRITTEN[status] : undefined
  return word && flagFor(id, word, at)
}

export function flagFor(id: string, what: Word, at: string): string {
  return `${id}_${stampOf(at)}_${what}`
}

/** The flags of a task, the newest last, and what is wrong with files that look like one but do not count. */
export function flagsIn(
  id: string,
  entries: readonly Entry[],
): { readonly flags: Flag[]; readonly complaints: string[] } {
  const flags: Flag[] = []
  const complaints: string[] = []
  for (const { name, size, isFile, written } of entries) {
    const [, owner, stamp = '', what] = FLAG.exec(name) ?? []
    if (owner === undefined || name.includes('/')) {
      if (LIKE.test(name) && isFile && size === 0)
        complaints.push(`${name} is no flag: one is named ${id}_20260125T143022_started, with the time`)
      continue
    }
    // `${TASK_DIR%%_*}` in a shell gives no more of the id than `req`.
    const wrong = isFile ? size > 0 && 'is not empty' : 'is not a regular file'
    if (wrong) complaints.push(`${name} ${wrong}: it does not count as a flag`)
    else if (owner !== 'req' && readTaskId(owner) !== id)
      complaints.push(`${name} is not a flag of ${id}: it does not count`)
    else flags.push({ name, what: what as Word, at: stampTime(stamp) ?? new Date(written).toISOString(), written })
  }
  return { flags: flags.toSorted((one, other) => order(one, other)), complaints }
}

/** The newest flag that tells this. */
export function newest(flags: readonly Flag[], ...what: readonly Word[]): Flag | undefined {
  return flags.findLast(flag => what.includes(flag.what))
}

const FLAG = /^(.+)_(\d{8}T\d{6})_(started|completed|error|cancelled)$/s
const LIKE = /^req_?[\d_]*_(?:started|completed|error|cancelled)$/

function order(one: Flag, other: Flag): number {
  return one.at === other.at ? one.written - other.written : one.at < other.at ? -1 : 1
}
