import { type Caller, type Operation, perform } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { worklogClose, worklogComplete, worklogFail, worklogOpen, worklogTask } from '../worklogs/operations.ts'
import { worklogList, worklogPr, worklogProtocol, worklogSummary } from '../worklogs/reports.ts'
import type { Outcome } from './diary.ts'

/** What was done with a task, for whoever reads the log. */
export interface Deed {
  readonly id: string
  readonly title: string
  readonly outcome: Outcome
  readonly text: string
  /** The wards that passed, in words. */
  readonly wards: string | undefined
}

/** A log is rewritten with each task: of a worker that does thousands, the first are enough, and the run's own account has them all. */
const MOST_NOTED = 200

/** The worklogs of a run: its agents keep them, and what they leave out is added. A log never stops the work. */
export class Logbook {
  private readonly caller: Caller
  private writing: Promise<void> = Promise.resolve()
  private readonly noted = new Map<string, number>()
  private readonly protocols = new Map<string, Promise<string>>()

  constructor(caller: Caller) {
    // The wards were run already, and their result is told.
    this.caller = { ...caller, wards: { ...caller.wards, commands: [] } }
  }

  /** What a worker's prompt says about its log. */
  async protocol(worker: string): Promise<string> {
    const known =
      this.protocols.get(worker) ??
      this.asked(worklogProtocol, { name: worker, role: 'implementation' }).then(told => told?.text ?? '')
    this.protocols.set(worker, known)
    return await known
  }

  /** Writes a task down that its agent has not written down itself; nobody waits for that before the run ends. */
  note(worker: string, deed: Deed): void {
    const noted = (this.noted.get(worker) ?? 0) + 1
    this.noted.set(worker, noted)
    if (noted <= MOST_NOTED) this.writing = this.writing.then(() => this.written(worker, deed)).catch(() => undefined)
  }

  /** When everything is written down. */
  async settled(): Promise<void> {
    await this.writing
  }

  private async written(worker: string, { id, title, outcome, text, wards }: Deed): Promise<void> {
    if (outcome !== 'completed' && outcome !== 'failed') return
    const known = await this.asked(worklogList, { worker, all: true })
    const tasks = known?.tasks ?? []
    if (tasks.some(({ subject }) => subject === id || subject.startsWith(`${id} `))) return
    if (!known) await this.asked(worklogOpen, { name: worker, role: 'implementation', plan: 'the queue' })
    const number = Math.max(0, ...tasks.map(one => one.number)) + 1
    await this.asked(worklogTask, { name: worker, task: number, subject: `${id} ${title}`.slice(0, 300) })
    if (outcome === 'completed') await this.asked(worklogComplete, { name: worker, task: number, ward: wards })
    else await this.asked(worklogFail, { name: worker, task: number, reason: text.slice(0, 4000) })
  }

  /** Closes the logs of workers that are gone: while one is open, the summary is theirs to write. */
  async interrupted(workers: readonly string[]): Promise<void> {
    for (const name of workers) await this.asked(worklogClose, { name, interrupted: true })
  }

  /** Closes the logs of these workers and writes the summary; gives back where it is. While others are at work it is theirs to write. */
  async summary(workers: readonly string[]): Promise<string | undefined> {
    await this.writing
    for (const name of workers) await this.asked(worklogClose, { name })
    const active = await this.asked(worklogList, { status: 'active', limit: 1 })
    if (!active || active.worklogs.length > 0) return undefined
    return (await this.asked(worklogSummary, {}))?.path ?? undefined
  }

  async pullRequest(): Promise<string | undefined> {
    return (await this.asked(worklogPr, {}))?.text
  }

  private async asked<O>(op: Operation<never, O>, input: unknown): Promise<O | undefined> {
    try {
      return await perform(op as Operation<unknown, O>, this.caller, input)
    } catch (error) {
      if (error instanceof Problem) return undefined
      throw error
    }
  }
}
