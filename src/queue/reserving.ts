import { move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Store } from '../core/store.ts'
import { task } from './kind.ts'
import { shared } from './paths.ts'
import type { Task } from './record.ts'

/** A task in progress, and a path that another would write as well. */
export interface Conflict {
  readonly with: Task
  readonly path: string
}

/**
 * Two tasks that write the same paths are not worked on at once. It is looked
 * after the claim: of two who claim at the same moment the later one sees the
 * earlier one's claim, so never do both go on.
 */
export async function conflictOf(caller: Caller, item: Task): Promise<Conflict | undefined> {
  if (!item.writes) return undefined
  for (const other of await caller.store.find(task, { status: ['in_progress'] })) {
    const path = other.id === item.id || !other.writes ? undefined : shared(item.writes, other.writes)
    if (path !== undefined) return { with: other, path }
  }
  return undefined
}

/** Takes back a claim that another task's paths are in the way of: nobody was told of it. */
export async function giveUp(caller: Caller, item: Task, { with: other, path }: Conflict): Promise<void> {
  inPlay.set(caller.store, performance.now())
  const { id, token, owner } = item
  const at = caller.now().toISOString()
  const why = `not now: ${other.id} writes ${path}`
  await move(caller.store, task, { id, known: item, to: 'to_execute', token, by: owner ?? caller.by, at, why })
}

export function refusalOf(item: Task, { with: other, path }: Conflict): Problem {
  return new Problem(
    'move_refused',
    `${item.id} writes ${path}, and so does ${other.id}, which is ${other.owner ?? 'nobody'}'s now`,
    'Claim another task (punchlist queue claim), or wait until that one has ended.',
    { id: item.id, from: item.status, to: 'in_progress', path, conflictsWith: other.id },
  )
}

/** How long it is looked before each claim whether paths are in the way, after they were once. */
const CAREFUL_MS = 30_000
const inPlay = new WeakMap<Store, number>()

/** Whether paths have been in the way lately: then it is looked before a task is claimed, and not only afterwards. */
export function isCareful(store: Store): boolean {
  return performance.now() - (inPlay.get(store) ?? -Infinity) < CAREFUL_MS
}
