import { requireToken } from '../core/authority.ts'
import { phaseOf } from '../core/lifecycle.ts'
import type { Caller } from '../core/operation.ts'
import { todo } from './kind.ts'
import { qualified } from './names.ts'
import type { Todo } from './record.ts'

/** Who acts on a todo, where that is not simply the caller. */
export interface Acting {
  readonly as?: string | undefined
  readonly token?: number | undefined
}

/**
 * Who writes, when, with which token and why. A token from the environment is about one item. A person who has none may
 * act on what another works on, and the log says so; an agent or a model may not.
 */
export async function acting(caller: Caller, item: Todo, { as, token: given }: Acting, why?: string) {
  const by = as ?? caller.by
  const { token: own, task } = caller.scope
  const token = given ?? (isAbout(task, item) ? own : undefined)
  await requireToken(caller, todo, item, given ?? namedToken(caller, item))
  const claimed = phaseOf(todo.lifecycle, item.status) === 'active' && item.owner !== by
  const reason = claimed && token === undefined ? [why, '(without a token)'].filter(Boolean).join(' ') : why
  return { by, at: caller.now().toISOString(), token, why: reason }
}

/** The token of the environment, where it is known to be about this todo. */
export function namedToken({ scope: { token, task } }: Caller, item: Todo): number | undefined {
  return task !== undefined && isAbout(task, item) ? token : undefined
}

/** Whether a task that an environment names is this todo; a full id is no other session's. */
export function isAbout(task: string | undefined, item: Todo): boolean {
  return task === undefined || task === item.id || task === qualified(item) || Number(task) === Number(item.issue_id)
}
