import { returnTask, unlessReported } from '../queue/claiming.ts'
import { task } from '../queue/kind.ts'
import { entriesOf } from './diary.ts'
import { isGoingOn, LARGEST_SIGN, thisRunner } from './going-on.ts'
import type { Run } from './run.ts'
import type { RunState } from './state.ts'

/** What a run leaves where others find it while it is under way. */
interface Sign {
  /** The names of its workers, where nobody else can have them: what is claimed in them is its own. */
  readonly workers: readonly string[]
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
  const giveBack = async (id: string, token: number) =>
    await returnTask(caller, id, token, 'the run that had it was killed').catch(unlessReported)
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
  return sign && { workers: sign.workers ?? [], since: sign.since ?? '' }
}

function claimsLeftBy(state: RunState, name: string): Map<string, number> {
  const claims = new Map<string, number>()
  for (const entry of entriesOf(state, name)) {
    if (entry.what === 'claimed') claims.set(entry.task, entry.token)
    if (entry.what === 'ended') claims.delete(entry.task)
  }
  return claims
}
