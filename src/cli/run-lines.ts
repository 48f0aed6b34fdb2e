import { harmlessLine } from '../core/text.ts'
import type { Entry } from '../runner/diary.ts'
import { lasted } from './lasted.ts'

/** What is worth a line of its own in what a run did; undefined for the rest. */
export function told(entry: Entry): string | undefined {
  const words = wordsFor(entry)
  return words && harmlessLine(`${entry.at.slice(11, 19)}  ${words.filter(Boolean).join('  ')}`)
}

/** How many of each, without those that there are none of. */
export function counted(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, n]) => n > 0)
  return some.map(([what, n]) => `${n} ${what}`).join(', ')
}

function wordsFor(entry: Entry): string[] | undefined {
  switch (entry.what) {
    case 'run_started':
      return [`${entry.workers} ${entry.workers === 1 ? 'worker' : 'workers'} with ${entry.agent}`]
    case 'claimed':
      return [entry.task, entry.worker, entry.title]
    case 'agent_started':
      return entry.attempt > 1 ? [entry.task, `attempt ${entry.attempt}`] : undefined
    case 'agent_ended':
      return entry.exit === 0
        ? undefined
        : [entry.task, `the agent ended: ${wayOut(entry)}`, `after ${lasted(entry.ms)}`]
    case 'sent_on':
      return [entry.task, `sent on: ${entry.open} open in its plan`]
    case 'wards':
      return [entry.task, `wards ${entry.text}`]
    case 'waits':
      return [entry.task, `waits for a reply: ${entry.needs}`]
    case 'ended':
      return [entry.task, entry.outcome, lasted(entry.ms), costs(entry.costUsd), entry.text.split('\n')[0]!]
    case 'run_ended':
      return [counted(entry.counts) || 'nothing to do', lasted(entry.ms)]
    default:
      // A newer program's account may tell more.
      return undefined
  }
}

function wayOut({ exit, signal }: { readonly exit: number | null; readonly signal: string | null }): string {
  return exit === null ? (signal ?? 'it could not be started') : `exit ${exit}`
}

export function costs(usd: number | null): string {
  return usd === null ? '' : `${usd.toFixed(2)} USD`
}
