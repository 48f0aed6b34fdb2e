import { harmlessLine } from '../core/text.ts'
import type { Entry, Outcome } from '../runner/diary.ts'

/** What one worker is at. */
export interface AtWork {
  readonly worker: string
  readonly task: string
  readonly title: string
  readonly since: number
  attempt: number
  /** What was last heard of it: a checkpoint, what its agent said, what became of it. */
  last: string
}

/** How a run stands, from what it has told so far. What is over is only counted: a run may go on for days. */
export class SoFar {
  began: number | undefined
  workers: readonly string[] = []
  readonly counts: Record<Outcome, number> = { completed: 0, failed: 0, returned: 0, lost: 0, waiting: 0 }
  costUsd: number | null = null
  private readonly byTask = new Map<string, AtWork>()

  get atWork(): readonly AtWork[] {
    return [...this.byTask.values()]
  }

  hear(task: string, last: string): void {
    const work = this.byTask.get(task)
    if (work) work.last = last.slice(0, LONGEST)
  }

  take(entry: Entry): void {
    switch (entry.what) {
      case 'run_started':
        this.began = Date.parse(entry.at)
        this.workers = Array.from({ length: entry.workers }, (_, n) => `${entry.name}-${n + 1}`)
        break
      case 'claimed': {
        const { worker, task, title } = entry
        this.byTask.set(task, { worker, task, title, since: Date.parse(entry.at), attempt: 1, last: '' })
        break
      }
      case 'agent_started': {
        const work = this.byTask.get(entry.task)
        if (work) work.attempt = entry.attempt
        break
      }
      case 'agent_ended':
        if (entry.exit !== 0) this.hear(entry.task, `the agent ended: ${entry.signal ?? `exit ${entry.exit ?? '—'}`}`)
        break
      case 'sent_on':
        this.hear(entry.task, `sent on: ${entry.open} open`)
        break
      case 'wards':
        this.hear(entry.task, `wards ${harmlessLine(entry.text)}`)
        break
      case 'ended':
        this.byTask.delete(entry.task)
        this.counts[entry.outcome]++
        if (entry.costUsd !== null) this.costUsd = (this.costUsd ?? 0) + entry.costUsd
        break
      default:
    }
  }
}

/** More of it does not fit on a line. */
const LONGEST = 500
