import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { type Whereabouts, whereabouts } from '../core/session.ts'
import { redacted } from '../core/text.ts'
import { lastAttempt, type Told, toldBy } from '../worklogs/accounts.ts'
import { locate } from '../worklogs/locating.ts'
import { beginTask, closeLog, openLog } from '../worklogs/logging.ts'
import { isWorker } from '../worklogs/names.ts'
import { openedProtocolText } from '../worklogs/protocol.ts'
import { summarise, worklogPr } from '../worklogs/reports.ts'
import { readSession } from '../worklogs/sessions.ts'
import { type Settlement, settleTasks } from '../worklogs/settlement.ts'
import { taskKey } from '../worklogs/task-key.ts'
import { pathOf } from '../worklogs/view.ts'
import type { Outcome } from './diary.ts'
import type { RunState } from './state.ts'
import { TaskNumbers } from './task-numbers.ts'

/** What was done with a task, for whoever reads the log. */
export interface Deed {
  readonly id: string
  readonly title: string
  readonly outcome: Outcome
  readonly text: string
  /** When its worker claimed it, ISO time. */
  readonly claimed: string
  /** The wards that were run and passed, in words. */
  readonly wards: string | undefined
}

/** A log is rewritten with each task: of a worker that does thousands, the first have a section at once, the others at the end. */
const MOST_AT_ONCE = 200
/** So many sections are written together: a log is at most a mebibyte long. */
const MOST_IN_ONE = 1000
/** Logs that a worker may get beside the one of its name, where that one cannot be written. */
const MOST_LOGS = 9

/**
 * The worklogs of a run. It opens them and the sections of their tasks, its
 * agents keep them, and before the summary is made they are held to what the run
 * knows of its tasks. A log never stops the work.
 */
export class Logbook {
  private readonly given: Caller
  private readonly state: RunState
  private writing: Promise<unknown> = Promise.resolve()
  private readonly begun = new Map<string, number>()
  /** What became of the tasks of each worker, by their ids. */
  private readonly deeds = new Map<string, Map<string, Settlement>>()
  private opened: Promise<Session | undefined> | undefined

  constructor(caller: Caller, state: RunState) {
    this.given = caller
    this.state = state
  }

  /** Opens a worker's log, and the section of a task in it; gives what the agent's prompt says about them. */
  async protocol(worker: string, { id, title }: Pick<Deed, 'id' | 'title'>): Promise<string> {
    const begun = (this.begun.get(worker) ?? 0) + 1
    this.begun.set(worker, begun)
    if (begun > MOST_AT_ONCE) return ''
    const opening = this.writing.then(() => this.open(worker, id, title))
    this.writing = opening.catch(() => undefined)
    return (await opening) ?? ''
  }

  /** Writes down what became of a task; nobody waits for that before the run ends. */
  note(worker: string, { id, title, outcome, text, claimed, wards }: Deed): void {
    if (outcome !== 'completed' && outcome !== 'failed') return
    const ended = this.given.now().toISOString()
    const failure = outcome === 'failed' ? redacted(text).slice(0, 4000) || 'no reason was given' : undefined
    const noting = async () => {
      const session = await this.session()
      if (!session) return
      const number = session.numbers.of(id)
      const deed = { number, subject: subjectOf(id, title), claimed, ended, failure, ward: wards }
      const deeds = this.deeds.get(worker) ?? new Map<string, Settlement>()
      this.deeds.set(worker, deeds.set(id, deed))
      if (deeds.size <= MOST_AT_ONCE) await quietly(() => this.settle(session, worker, [deed]))
    }
    this.writing = this.writing.then(noting).catch(() => undefined)
  }

  /** When everything is written down. */
  async settled(): Promise<void> {
    await this.writing
  }

  /** Closes the logs of workers that are gone. */
  async interrupted(workers: readonly string[]): Promise<void> {
    const session = await this.session()
    for (const worker of session ? workers : []) await this.close(session!, worker, 'interrupted')
  }

  /**
   * Holds the logs of these workers to what became of their tasks, closes them
   * and writes the summary; gives back where it is. The logs of others that are
   * active are left as they are.
   */
  async summary(workers: readonly string[]): Promise<string | undefined> {
    await this.writing
    const session = await this.session()
    if (!session) return undefined
    for (const worker of workers) {
      // Agents can edit their logs, break them and take them away: what the run knows is written once more where it is missing.
      const deeds = [...(this.deeds.get(worker)?.values() ?? [])]
      for (const part of [
        deeds.filter(({ ward }) => ward === undefined),
        deeds.filter(({ ward }) => ward !== undefined),
      ]) {
        for (let n = 0; n < part.length; n += MOST_IN_ONE) {
          await quietly(() => this.settle(session, worker, part.slice(n, n + MOST_IN_ONE)))
        }
      }
      await this.close(session, worker, 'completed')
    }
    return (await quietly(() => summarise(session.caller, 'work', { others: true })))?.path ?? undefined
  }

  async pullRequest(): Promise<string | undefined> {
    const session = await this.session()
    return session && (await quietly(() => worklogPr.run(session.caller, {})))?.text
  }

  /** The session that this run writes about, whichever ones are begun meanwhile. */
  private async session(): Promise<Session | undefined> {
    const session = await (this.opened ??= quietly(() => sessionOf(this.given, this.state)))
    // A store that does not answer now may do so later.
    if (!session) this.opened = undefined
    return session
  }

  private async open(worker: string, id: string, title: string): Promise<string | undefined> {
    const session = await this.session()
    if (!session) return undefined
    const { caller, at } = session
    const subject = subjectOf(id, title)
    const begin = async (fresh: boolean) => {
      const item = await opened(session, worker)
      const wanted = { number: session.numbers.of(id, fresh), subject, subtasks: [], again: true }
      return { wanted, told: await beginTask(caller, item, wanted) }
    }
    // Another task may have its number there.
    const done = (await quietly(() => begin(false))) ?? (await quietly(() => begin(true)))
    if (!done) return undefined
    const { told, wanted } = done
    const section = lastAttempt(told.account.sections, wanted.number)
    return openedProtocolText({
      ...at,
      worker,
      path: pathHere(caller, told),
      plan: told.item.plan_path ?? planOf(caller),
      number: wanted.number,
      subject: section?.subject ?? subject,
      name: id,
      claimed: section?.claimed ?? caller.now().toISOString(),
      inFiles: caller.inFiles,
    }).trim()
  }

  /** Writes into the worker's log, or where that cannot be read any more, into one beside it. */
  private async settle(session: Session, worker: string, deeds: readonly Settlement[]): Promise<void> {
    for (const name of namesFor(worker)) {
      const written = await quietly(async () => await settleTasks(session.caller, await opened(session, name), deeds))
      if (written) return
    }
  }

  private async close({ caller, at }: Session, worker: string, to: 'completed' | 'interrupted'): Promise<void> {
    for (const name of namesFor(worker)) {
      const item = await quietly(() => locate(caller, at, name))
      if (item?.status === 'active') await quietly(() => closeLog(caller, item, to))
    }
  }
}

interface Session {
  readonly at: Whereabouts
  readonly caller: Caller
  readonly numbers: TaskNumbers
}

async function sessionOf(given: Caller, state: RunState): Promise<Session> {
  const at = await whereabouts(given)
  const caller: Caller = { ...given, scope: { ...given.scope, session: at.session } }
  const { items } = await readSession(caller, at)
  const keys = new Map<number, Set<string>>()
  for (const item of items) {
    const [told] = await toldBy(caller, [item], true)
    for (const section of told!.account.sections) {
      keys.set(section.number, (keys.get(section.number) ?? new Set()).add(taskKey(section)))
    }
  }
  const known = new Map<string, number>()
  let last = 0
  for (const [number, named] of keys) {
    last = Math.max(last, number)
    // A number that several tasks have is nobody's.
    for (const key of named.size === 1 ? named : []) known.set(key, number)
  }
  return { at, caller, numbers: new TaskNumbers(state, `${at.workflow}~${at.session}`, known, last) }
}

/** The log of a worker, opened where it is not; one that is there keeps its role and its plan. */
async function opened({ caller, at }: Session, worker: string) {
  try {
    const wanted = { worker, role: 'implementation', plan: planOf(caller) } as const
    return (await openLog(caller, at, wanted)).item
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'move_refused')) throw error
    return await locate(caller, at, worker)
  }
}

/** What a run works off: the folder of the queue, where it is one. */
function planOf({ inFiles, queue }: Caller): string {
  return inFiles ? queue : 'the queue'
}

function pathHere(caller: Caller, { item }: Told): string {
  const path = pathOf(caller, item)
  return caller.here === caller.root ? path : `${caller.root}/${path}`
}

function subjectOf(id: string, title: string): string {
  return `${id} ${redacted(title)}`.slice(0, 300)
}

function namesFor(worker: string): string[] {
  return [worker, ...Array.from({ length: MOST_LOGS }, (_, n) => `${worker}_${n + 2}`)].filter(isWorker)
}

/** What cannot be written is left out; our own mistakes are not. */
async function quietly<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}
