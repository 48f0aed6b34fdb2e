import { returnTask } from '../queue/claiming.ts'
import { task } from '../queue/kind.ts'
import { entriesOf } from './diary.ts'
import { unlessItsOwn } from './enduring.ts'
import { isGoingOn, LARGEST_SIGN, thisRunner } from './going-on.ts'
import type { Run } from './run.ts'
import type { RunState } from './state.ts'

/** What a run leaves where others find it while it is under way. */
interface Sign {
  /** The names of its workers, where nobody else can have them: what is claimed in them is its own. */
  readonly workers: readonly string[]
  /** The names of its workers in any case: the logs in these names are its own to close. */
  readonly names: readonly string[]
  /** To the second: a flag tells no more. */
  readonly since: string
}

/** Notes that a run is under way, by which process; gives back how to say that it has ended. */
export function underWay(state: RunState, name: string, sign: Sign): () => void {
  // Whole or not there: whoever reads half of it would take the run for killed.
  state.keep({ ...thisRunner(), ...sign }, 'open', name)
  return () => state.drop(LARGEST_SIGN, 'open', name)
}

/**
 * Gives back at once what runs that were killed on this machine had claimed:
 * nobody waits for their leases. A sign without the seal is nobody's.
 */
export async function settleEarlier({ caller, state, logbook }: Run): Promise<void> {
  const all = state.names('open').flatMap(name => {
    const sign = signOf(state, name)
    return sign ? [{ name, ...sign, dead: !isGoingOn(state, name) }] : []
  })
  const atWork = new Set(all.flatMap(({ dead, workers }) => (dead ? [] : workers)))
  // What is wrong with one of them keeps no run from the others.
  const giveBack = async (id: string, token: number) =>
    await returnTask(caller, id, token, 'the run that had it was killed').catch(unlessItsOwn)
  for (const { name, workers, since } of all.filter(({ dead }) => dead)) {
    for (const [id, token] of claimsLeftBy(state, name)) await giveBack(id, token)
    // It may have been killed between a claim and the account of it.
    const owner = workers.filter(worker => !atWork.has(worker))
    const left = owner.length > 0 ? await caller.store.find(task, { where: { owner }, status: ['in_progress'] }) : []
    for (const { id, token, startedAt } of left) if ((startedAt ?? '') >= since) await giveBack(id, token)
    await logbook.interrupted(owner)
    state.drop(LARGEST_SIGN, 'open', name)
  }
}

function signOf(state: RunState, name: string): Sign | undefined {
  const sign = state.sealed(LARGEST_SIGN, 'open', name) as Partial<Sign> | undefined
  const names = sign?.names ?? sign?.workers ?? []
  return sign && { workers: sign.workers ?? [], names, since: sign.since ?? '' }
}

/** The workers of this run whose names no other run here has that is under way. */
export function workersAlone(state: RunState, run: string, workers: readonly string[]): string[] {
  const others = state.names('open').filter(name => name !== run && isGoingOn(state, name))
  const taken = new Set(others.flatMap(name => signOf(state, name)?.names ?? []))
  return workers.filter(worker => !taken.has(worker))
}

function claimsLeftBy(state: RunState, name: string): Map<string, number> {
  const claims = new Map<string, number>()
  for (const entry of entriesOf(state, name)) {
    if (entry.what === 'claimed') claims.set(entry.task, entry.token)
    if (entry.what === 'ended') claims.delete(entry.task)
  }
  return claims
}
