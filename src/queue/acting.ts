import { requireToken } from '../core/authority.ts'
import { phaseOf } from '../core/lifecycle.ts'
import type { Caller } from '../core/operation.ts'
import { task } from './kind.ts'
import { readTaskId } from './names.ts'
import type { Task } from './record.ts'

/** The token that a report about a task is held to: the one sent, or that of the environment where it is about this task. */
export function tokenFor(caller: Caller, id: string, given: number | undefined): number | undefined {
  const { token, task: own } = caller.scope
  return given ?? (own === undefined || readTaskId(own) === id ? token : undefined)
}

/** The same, where it is known to be about this task: a token of the environment that names no task could be any's. */
export function namedToken(caller: Caller, id: string, given: number | undefined): number | undefined {
  return given ?? (caller.scope.task === undefined ? undefined : tokenFor(caller, id, undefined))
}

/**
 * Who writes, when, with which token and why. A person who has no token may act on what another works on, and the log
 * says so; an agent or a model may not.
 */
export async function acting(caller: Caller, item: Task, given: number | undefined, why?: string) {
  const token = tokenFor(caller, item.id, given)
  await requireToken(caller, task, item, namedToken(caller, item.id, given))
  const claimed = phaseOf(task.lifecycle, item.status) === 'active' && item.owner !== caller.by
  const reason = claimed && token === undefined ? [why, '(without a token)'].filter(Boolean).join(' ') : why
  return { by: caller.by, at: caller.now().toISOString(), token, why: reason }
}
