import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../core/operation.ts'
import { redacted } from '../core/text.ts'
import { settleAll } from '../handover.ts'
import { claimNext, meantFor } from '../queue/claiming.ts'
import { task } from '../queue/kind.ts'
import type { Task } from '../queue/record.ts'
import { listArrived } from './arrival-list.ts'
import type { Outcome } from './diary.ts'
import { settleEarlier } from './earlier.ts'
import { enduring } from './enduring.ts'
import { endOrphans } from './marked.ts'
import type { Run } from './run.ts'
import { workOn } from './working.ts'

export interface Draining {
  /** Its workers. */
  readonly names: readonly string[]
  /** `drain`: until nothing is left to claim. `once`: each worker takes one task at most. `watch`: until it is stopped. */
  readonly mode: 'drain' | 'once' | 'watch'
  /** The runner's name, which its workers are called after. */
  readonly name: string
}

export type Counts = Readonly<Record<Outcome, number>>

/** How long nothing is asked of the store when nobody tells of a change: a lease that runs out tells nobody. */
const LOOK_MS = 1000

/** Gives the tasks of the queue to agents, so many at a time, until there are no more. */
export async function drain(run: Run, { names, mode, name }: Draining): Promise<Counts> {
  const began = performance.now()
  const { store } = run.caller
  const counts: Record<Outcome, number> = { completed: 0, failed: 0, returned: 0, lost: 0, waiting: 0 }
  run.diary.tell({ what: 'run_started', agent: run.agent().name, workers: names.length, name })
  const idle = names.toReversed()
  const busy = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  const fail = (error: unknown) => void (failure ??= { error })
  let [begun, over] = [0, 0]
  const start = (worker: string, item: Task) => {
    const caller: Caller = { ...run.caller, by: worker }
    const work = workOn({ ...run, caller }, worker, item)
      .then(outcome => void counts[outcome]++)
      .catch(fail)
      .finally(() => {
        busy.delete(work)
        idle.push(worker)
        over++
      })
    busy.add(work)
    begun++
  }
  const more = () => !run.signal.aborted && !failure && (mode !== 'once' || begun < names.length)
  /** Gives every idle worker a task, as far as there are any; gives back what had happened in the store before. */
  const giveOut = async () => {
    if (!more()) return undefined
    const seen = await enduring(run.signal, async () => (await store.events({ last: 1 }))[0]?.seq ?? 0)
    while (idle.length > 0 && more()) {
      const next = await nextFor(run, idle)
      if (!next) break
      // Others may have become idle meanwhile.
      idle.splice(idle.indexOf(next.worker), 1)
      start(next.worker, next.item)
    }
    return seen
  }
  await begin(run, name).catch(fail)
  for (;;) {
    const before = over
    // Those who are at work are waited for, whatever keeps the others from it.
    const seen = await giveOut().catch(error => (run.signal.aborted ? undefined : fail(error)))
    if (busy.size > 0 || (mode === 'watch' && more()))
      await woken(run, busy, idle.length > 0 && more() ? seen : undefined)
    // What ended while it was looked for work may have made way for some.
    else if (over === before) break
  }
  const error = failure ? { error: redacted((failure.error as Error).message) } : {}
  run.diary.tell({ what: 'run_ended', counts, ms: Math.round(performance.now() - began), ...error })
  if (failure) throw failure.error
  return counts
}

/** Brings what others have left behind in order. */
async function begin(run: Run, name: string): Promise<void> {
  const { store, now } = run.caller
  endOrphans()
  await settleEarlier(run)
  await store.recover(task, { by: name, at: now().toISOString() })
  await settleAll(run.caller)
  await listArrived(run)
}

/** The next task for one of these workers: what anybody may have, or what is meant for one of them. */
async function nextFor({ caller, signal, leaseMs }: Run, idle: readonly string[]) {
  // What is held to wards is not completed before they have passed, whoever says so.
  const guarded = caller.wards.commands.length > 0 && (await caller.wards.mayRun())
  const others = new Set(idle)
  for (let worker = idle.at(-1); worker !== undefined; ) {
    const [by, claiming] = [worker, { worker, leaseMs, guarded }]
    const [item] = await enduring(signal, () => claimNext({ ...caller, by }, claiming))
    if (item) return { worker, item }
    others.delete(worker)
    worker = await enduring(signal, () => meantFor(caller, [...others]))
  }
  return undefined
}

/** Waits until a worker is free, or there may be work for one that is. */
async function woken(
  { caller, signal }: Run,
  busy: ReadonlySet<Promise<void>>,
  seen: number | undefined,
): Promise<void> {
  const enough = new AbortController()
  const ends = AbortSignal.any([signal, enough.signal])
  // A store that does not answer now is asked again when it matters.
  const changed =
    seen === undefined
      ? []
      : [
          caller.store
            .changed(seen, LOOK_MS, ends)
            .catch(async () => await sleep(LOOK_MS, undefined, { signal: ends }).catch(() => undefined)),
        ]
  const stopped = new Promise<void>(done => {
    if (signal.aborted) done()
    else ends.addEventListener('abort', () => done(), { once: true })
  })
  // Once it is to stop, only its workers are waited for.
  await Promise.race([...busy, ...(signal.aborted && busy.size > 0 ? [] : [...changed, stopped])])
  enough.abort()
  await Promise.allSettled(changed)
}
