import type { Item, Kind } from './kind.ts'
import { phaseOf } from './lifecycle.ts'
import type { Caller } from './operation.ts'
import { Problem } from './problem.ts'

/**
 * Who acts: a person at the command line, an agent that `run` started, a model over MCP, or a program that uses the
 * library. The doors fill it in; what each may do is decided here.
 */
export interface Authority {
  readonly who: 'person' | 'agent' | 'model' | 'program'
  /** The tasks of the runs that the caller works in; an agent with none could be working on any. */
  readonly tasks: readonly string[]
}

/** Whether the caller needs the token of a claim to write about it. */
async function needsToken(caller: Caller): Promise<boolean> {
  const { who } = await caller.authority()
  return who === 'agent' || who === 'model'
}

/** Whether an item is claimed: worked on, or held for its owner. */
function isClaimed(kind: Kind, item: Item): boolean {
  const phase = phaseOf(kind.lifecycle, item.status)
  const revoked = kind.lifecycle.statuses[item.status]?.revokes === true
  return item.owner !== null && (phase === 'active' || (phase === 'held' && !revoked))
}

/**
 * Refuses an agent or a model that writes about a claimed item without a token. People and programs act with their own
 * authority. A token that is given is compared where the item is written.
 */
export async function requireToken(caller: Caller, kind: Kind, item: Item, token: number | undefined): Promise<void> {
  if (token !== undefined || !isClaimed(kind, item) || !(await needsToken(caller))) return
  throw new Problem(
    'lease_lost',
    `${item.id} is claimed by ${item.owner}: writing about it needs the token of its claim`,
    'Send the token that your claim of it gave; if you did not claim it, leave it to its owner and claim something else.',
    { id: item.id, owner: item.owner },
  )
}

/**
 * Refuses an agent or a model the claim of another as its own, which renews the lease and tells the token. The name a
 * model's door gives it is its own; an agent chooses its name itself, so only the token counts.
 */
export async function requireOwnClaim(
  caller: Caller,
  kind: Kind,
  item: Item,
  token: number | undefined,
): Promise<void> {
  if (token === item.token || (await ownsByName(caller, item))) return
  await requireToken(caller, kind, item, undefined)
}

/** Whether an item is claimed in the name that the caller's door gives a model. */
export async function ownsByName(caller: Caller, item: Item): Promise<boolean> {
  return item.owner === caller.by && (await caller.authority()).who === 'model'
}

/** Refuses the answer to a question to the one who asked it: an agent of that task, or a model that works on it. */
export async function requireOther(caller: Caller, item: Item, works: boolean): Promise<void> {
  const { who, tasks } = await caller.authority()
  if (who !== 'agent' && who !== 'model') return
  const unknown = who === 'agent' && tasks.length === 0
  if (!unknown && !works && !tasks.includes(item.id)) return
  throw new Problem(
    'move_refused',
    `${item.id} is your own task: its question is for a person`,
    'Stop here and leave the answer to a person: punchlist queue reply, typed outside of the run.',
    { id: item.id },
  )
}

/** Refuses an agent, or a model that works on a task, to go on with what waits for a person. */
export async function requirePerson(caller: Caller, id: string, needs: string): Promise<void> {
  if (!(await isAgent(caller))) return
  throw new Problem(
    'move_refused',
    `Item ${id} waits for a person: ${needs}`,
    'Go on with another item, or stop: a person answers, and the item is given out again.',
    { id, needs },
  )
}

/** Whether an agent of a run acts, or a model that works on a task. */
export async function isAgent(caller: Caller): Promise<boolean> {
  const { who, tasks } = await caller.authority()
  const working = tasks.length > 0 || caller.scope.task !== undefined
  return who === 'agent' || (who === 'model' && working)
}

export async function isPerson(caller: Caller): Promise<boolean> {
  return (await caller.authority()).who === 'person'
}

/** The same caller for the tool calls of a model: what a person or a program may do, it may not. */
export function asModel(caller: Caller): Caller {
  return {
    ...caller,
    authority: async () => {
      const { who, tasks } = await caller.authority()
      return { who: who === 'agent' ? who : 'model', tasks }
    },
  }
}
