import { requireOwnClaim, requireToken } from '../core/authority.ts'
import { unlessTooLate } from '../core/keeping.ts'
import { claim, claimAll, move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Recovered, Store } from '../core/store.ts'
import { acting, namedToken, tokenFor } from './acting.ts'
import { task } from './kind.ts'
import { locate } from './locating.ts'
import { logging } from './logging.ts'
import type { Task } from './record.ts'
import { conflictOf, giveUp, isCareful, refusalOf } from './reserving.ts'
import { stillWaits } from './waiting.ts'
import { refuseUnlessFrom } from './ways-back.ts'

/** How long a claim holds without being renewed, unless told otherwise. */
const LEASE_MS = 15 * 60_000

/** How often claims whose lease ran out are looked for while there is other work. */
const SWEEP_MS = 1000

export interface Claiming {
  readonly worker?: string | undefined
  readonly leaseMs?: number | undefined
  /** Whether the claimant holds the task to wards: until it has, nobody takes a script's word that it is completed. */
  readonly guarded?: boolean | undefined
}

/** Makes a named task one worker's, if nothing keeps it; a claim whose lease ran out is taken over. */
export async function claimTask(caller: Caller, name: string, claiming: Claiming): Promise<Task> {
  const { worker = caller.by, leaseMs = LEASE_MS } = claiming
  const before = await locate(caller, name)
  if (before.status === 'in_progress' && before.owner !== worker) await sweepLapsed(caller)
  if (before.status === 'in_progress' && before.owner === worker) await requireRenewable(caller, before)
  const at = caller.now().toISOString()
  const where = eligible(worker)
  try {
    const taken = (await claim(caller.store, task, {
      id: before.id,
      where,
      to: 'in_progress',
      by: worker,
      at,
      leaseMs,
    }))!
    const conflict = await conflictOf(caller, taken)
    if (!conflict) return taken
    await giveUp(caller, taken, conflict)
    throw refusalOf(taken, conflict)
  } catch (error) {
    // The task is there, but not for this worker, or not yet.
    const item = await locate(caller, before.id)
    if (!(error instanceof Problem) || (error.code !== 'not_found' && error.code !== 'move_refused')) throw error
    if (item.status === 'in_progress' && item.owner === worker) {
      await requireRenewable(caller, item)
      return await caller.store.renew(task, item.id, item.token, leaseMs)
    }
    throw await whyNotClaimed(caller, item, worker, error)
  }
}

/** Claiming again renews the lease and tells the token: only for whom the claim is. */
async function requireRenewable(caller: Caller, item: Task): Promise<void> {
  await requireOwnClaim(caller, task, item, namedToken(caller, item.id, undefined))
}

/** The next tasks for a worker, at most so many; none when there is nothing for it now. */
export async function claimNext(caller: Caller, claiming: Claiming, limit = 1): Promise<Task[]> {
  const { worker = caller.by, leaseMs = LEASE_MS, guarded } = claiming
  const { store } = caller
  if (isDue(store)) await sweepLapsed(caller)
  const take = async () => {
    const wanted = {
      where: eligible(worker),
      to: 'in_progress',
      by: worker,
      at: caller.now().toISOString(),
      leaseMs,
      guarded,
    }
    if (limit > 1) return await claimAll(store, task, { ...wanted, limit })
    const item = await claim(store, task, wanted)
    return item ? [item] : []
  }
  if (isCareful(store)) return await claimFree(caller, claiming, limit)
  const first = await take()
  const taken = first.length > 0 || (await sweepLapsed(caller)).length === 0 ? first : await take()
  const kept = await withoutConflicts(caller, taken)
  if (kept.length === taken.length) return kept
  return [...kept, ...(await claimFree(caller, claiming, limit - kept.length))]
}

/** Of tasks just claimed, those whose paths nobody else writes; the others are given up. */
async function withoutConflicts(caller: Caller, taken: readonly Task[]): Promise<Task[]> {
  const kept: Task[] = []
  for (const item of taken) {
    const conflict = await conflictOf(caller, item)
    if (conflict) await giveUp(caller, item, conflict)
    else kept.push(item)
  }
  return kept
}

/** How many that wait are looked at for one whose paths nobody writes. */
const LOOKED_AT = 500

/** The same, looking before each claim whether its paths are free: for queues in which some are not. */
async function claimFree(caller: Caller, claiming: Claiming, limit: number): Promise<Task[]> {
  const { worker = caller.by, leaseMs = LEASE_MS, guarded } = claiming
  const { store } = caller
  const taken: Task[] = []
  await sweepLapsed(caller)
  const waiting = await store.find(task, { where: eligible(worker), status: ['to_execute'], limit: LOOKED_AT })
  for (const item of waiting) {
    if (taken.length === limit) break
    if (await conflictOf(caller, item)) continue
    const at = caller.now().toISOString()
    const where = eligible(worker)
    const wanted = { id: item.id, where, to: 'in_progress', by: worker, at, leaseMs, guarded }
    const claimed = await claim(store, task, wanted).catch(unlessReported)
    if (claimed) taken.push(...(await withoutConflicts(caller, [claimed])))
  }
  return taken
}

/** Of these workers, one that a task which could be begun is meant for. */
export async function meantFor({ store }: Caller, workers: readonly string[]): Promise<string | undefined> {
  if (workers.length === 0) return undefined
  const where = { ...UNHINDERED, targetWorker: workers }
  const [item] = await store.find(task, { where, status: ['to_execute'], limit: 1 })
  return item?.targetWorker
}

/** The same, waiting until there is something, at most so long. */
export async function claimWaiting(caller: Caller, claiming: Claiming, limit: number, ms: number): Promise<Task[]> {
  const { store } = caller
  const end = performance.now() + ms
  for (let seen = await lastEvent(store), woken = false; ; ) {
    const taken = await claimNext(caller, claiming, limit)
    const left = end - performance.now()
    if (taken.length > 0 || left <= 0) return taken
    if (woken) {
      // It was something else that happened: from here on, and one more look, lest what comes now be missed.
      seen = await lastEvent(store)
      woken = false
      continue
    }
    // A lease that runs out tells nobody.
    await store.changed(seen, Math.min(left, SWEEP_MS))
    woken = true
  }
}

async function lastEvent(store: Store): Promise<number> {
  return (await store.events({ last: 1 }))[0]?.seq ?? 0
}

/** Why there is nothing for a worker, and what can be done about it. */
export async function nothingToClaim(caller: Caller, worker = caller.by): Promise<Problem> {
  const counts = await caller.store.count(task, {})
  const of = (state: string) => counts[state] ?? 0
  const kept = of('to_execute')
  const facts = [
    kept > 0 ? `${kept} wait for other tasks or are meant for other workers` : '',
    of('in_progress') > 0 ? `${of('in_progress')} in progress` : '',
    of('staged') > 0 ? `${of('staged')} staged` : '',
    of('error') > 0 ? `${of('error')} failed` : '',
  ].filter(Boolean)
  const hint =
    of('staged') > 0
      ? 'Release a staged task: punchlist queue release ID; or wait for work: punchlist queue claim --wait.'
      : of('error') > 0
        ? 'Try a failed one again: punchlist queue retry ID; or wait for work: punchlist queue claim --wait.'
        : 'Wait for work: punchlist queue claim --wait; or add some: punchlist queue add TITLE.'
  return new Problem(
    'nothing_to_do',
    `There is nothing for ${worker} to claim${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`,
    hint,
    {
      counts,
    },
  )
}

/** Gives a claimed task back, so that anyone may take it. */
export async function returnTask(caller: Caller, name: string, given?: number, reason?: string): Promise<Task> {
  const item = await locate(caller, name)
  // Giving it back has ended the claim with this token, or the end of its lease has: anyone may take it now.
  if (item.status === 'to_execute' && (tokenFor(caller, item.id, given) ?? item.token - 1) === item.token - 1)
    return item
  refuseUnlessFrom(item, 'in_progress')
  const who = await acting(caller, item, given, reason)
  const note = { at: who.at, by: who.by, what: 'returned', note: reason }
  const texts = reason === undefined ? undefined : logging(note)
  return await move(caller.store, task, { id: item.id, known: item, to: 'to_execute', ...who, texts })
}

/** Renews the lease of a claim. */
export async function heartbeat(caller: Caller, name: string, given?: number, leaseMs = LEASE_MS): Promise<Task> {
  const item = await locate(caller, name)
  await requireToken(caller, task, item, namedToken(caller, item.id, given))
  return await caller.store.renew(task, item.id, tokenFor(caller, item.id, given) ?? item.token, leaseMs)
}

/** Gives back every task whose lease ran out, and says which; its owner is refused from then on. */
export async function sweepLapsed(caller: Caller): Promise<Recovered[]> {
  const { store } = caller
  swept.set(store, performance.now())
  const given: Recovered[] = []
  for (const { id, owner, token } of await store.lapsed(task, 100)) {
    const why = `the lease of ${owner ?? 'nobody'} ran out`
    const at = caller.now().toISOString()
    const wanted = { id, to: 'to_execute', token, lapsed: true, by: caller.by, at, why }
    const moved = await move(store, task, wanted).catch(unlessReported)
    if (moved) given.push({ id, from: 'in_progress', to: 'to_execute', what: `${why}: given back` })
  }
  return given
}

/** Its owner was faster: with another lease, or with a report, after which nothing is given back. */
export function unlessReported(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'move_refused') return undefined
  return unlessTooLate(error)
}

/** What may be given to a worker: nothing keeps it, and it is meant for anyone or for him. */
function eligible(worker: string) {
  return { ...UNHINDERED, targetWorker: ['', worker] }
}

const UNHINDERED = { blockers: 0, awaiting: 0 } as const

const swept = new WeakMap<Store, number>()

function isDue(store: Store): boolean {
  return performance.now() - (swept.get(store) ?? -Infinity) > SWEEP_MS
}

async function whyNotClaimed(caller: Caller, item: Task, worker: string, otherwise: Problem): Promise<Problem> {
  const { id, status, targetWorker } = item
  if (status === 'to_execute' && item.blockers > 0) return await stillWaits(caller, item, 'in_progress')
  if (status === 'to_execute' && item.awaiting === 1) {
    return new Problem(
      'move_refused',
      `${id} waits for a reply to its checkpoint ${item.checkpoints}`,
      `Answer it: punchlist queue reply ${id} TEXT.`,
      { id, from: status, to: 'in_progress', checkpoints: item.checkpoints },
    )
  }
  if (status === 'to_execute' && targetWorker !== '' && targetWorker !== worker) {
    return new Problem(
      'move_refused',
      `${id} is meant for ${targetWorker}, not for ${worker}`,
      `Claim it as ${targetWorker}: --worker ${targetWorker}.`,
      { id, from: status, to: 'in_progress', targetWorker },
    )
  }
  if (status === 'in_progress') {
    const whose = item.owner === null ? 'in progress, without a lease' : `${item.owner}'s`
    return new Problem(
      'move_refused',
      `${id} is ${whose}${item.leaseUntil ? ` until ${item.leaseUntil}` : ''}`,
      item.leaseUntil
        ? 'Claim another task (punchlist queue claim), or wait until its lease runs out.'
        : `Claim another task (punchlist queue claim); if nobody works on it, give it back: punchlist queue return ${id}.`,
      { id, from: status, to: 'in_progress', owner: item.owner, leaseUntil: item.leaseUntil },
    )
  }
  if (status === 'staged') {
    return new Problem('move_refused', `${id} is staged`, `Release it first: punchlist queue release ${id}.`, {
      id,
      from: status,
      to: 'in_progress',
    })
  }
  if (status === 'error') {
    return new Problem(
      'move_refused',
      `${id} has failed`,
      `Try it again: punchlist queue retry ${id}, then claim it.`,
      {
        id,
        from: status,
        to: 'in_progress',
      },
    )
  }
  if (otherwise.code !== 'not_found') return otherwise
  return new Problem(
    'move_refused',
    `${id} is ${status}: it is not claimed any more`,
    'Claim another task: punchlist queue claim; or add one for what is left to do.',
    { id, from: status, to: 'in_progress' },
  )
}
