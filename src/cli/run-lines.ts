import { harmlessLine } from '../core/text.ts'
import type { Entry } from '../runner/diary.ts'
import { lasted } from './lasted.ts'

/** What is worth a line of its own in what a run does. */
export class Lines {
  /** An agent is started several times in one attempt: to go on, and to mend. */
  private readonly attempts = new Map<string, number>()

  /** Undefined where it is not worth one. */
  for(entry: Entry): string | undefined {
    const words = this.isNews(entry) ? wordsFor(entry) : undefined
    return words && harmlessLine(`${entry.at.slice(11, 19)}  ${words.filter(Boolean).join('  ')}`)
  }

  private isNews(entry: Entry): boolean {
    if (entry.what === 'ended') this.attempts.delete(entry.task)
    if (entry.what !== 'agent_started') return true
    const before = this.attempts.get(entry.task)
    this.attempts.set(entry.task, entry.attempt)
    return before !== entry.attempt
  }
}

/** How many of each, without those that there are none of. */
export function counted(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, n]) => n > 0)
  return some.map(([what, n]) => `${n} ${what}`).join(', ')
}

function wordsFor(entry: Entry): string[] | undefined {
  switch (entry.what) {
    case 'run_started':
      return [workersWith(entry)]
    case 'not_added_here':
      return [entry.task, entry.title, 'not added here']
    case 'more_not_added_here':
      return [`${entry.count} more`, 'not added here']
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
    case 'ended':
      return [entry.task, entry.outcome, lasted(entry.ms), costs(entry.costUsd), saidBesides(entry)]
    case 'run_ended':
      return [counted(entry.counts) || (entry.error ? '' : 'nothing to do'), lasted(entry.ms), entry.error ?? '']
    default:
      // A newer program's account may tell more.
      return undefined
  }
}

/** A command may be a path: its name is enough to know it by. */
export function workersWith({ workers, agent }: { readonly workers: number; readonly agent: string }): string {
  return `${workers} ${workers === 1 ? 'worker' : 'workers'} with ${agent.replace(/^.*\//, '')}`
}

function saidBesides({ outcome, text }: { readonly outcome: string; readonly text: string }): string {
  return text === outcome ? '' : text.split('\n')[0]!
}

function wayOut({ exit, signal }: { readonly exit: number | null; readonly signal: string | null }): string {
  return exit === null ? (signal ?? 'it could not be started') : `exit ${exit}`
}

export function costs(usd: number | null): string {
  return usd === null ? '' : `${usd.toFixed(2)} USD`
}
