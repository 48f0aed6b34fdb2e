import { amend } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem, type ProblemCode } from '../core/problem.ts'
import type { Whereabouts } from '../core/session.ts'
import { byUrgency } from './claiming.ts'
import { approveTodo, dismissTodo, logWork } from './deciding.ts'
import { todo } from './kind.ts'
import { qualified } from './names.ts'
import { DISMISSALS, type Priority, type Todo } from './record.ts'
import { requireOne } from './short-ids.ts'

/** So many at a time: what a person can still judge one by one. */
export const AT_A_TIME = 10

export const DECISIONS = ['approve', 'defer', ...DISMISSALS] as const

export interface Decision {
  readonly id: string
  readonly decision: (typeof DECISIONS)[number]
  readonly reason?: string | undefined
  readonly of?: string | undefined
  readonly priority?: Priority | undefined
}

export interface Triaged {
  readonly id: string
  readonly decision: Decision['decision']
  readonly status: string
}

export interface RefusedDecision {
  readonly id: string
  readonly code: ProblemCode
  readonly message: string
  readonly hint: string
}

/** Todos that wait for a decision, the most pressing first. */
export async function untriaged(caller: Caller, where: Whereabouts): Promise<Todo[]> {
  return (await caller.store.find(todo, { where, status: ['pending'] })).toSorted(byUrgency)
}

/** Carries decisions out one by one; one that is refused does not keep the others. */
export async function triageTodos(
  caller: Caller,
  where: Whereabouts,
  decisions: readonly Decision[],
): Promise<{ triaged: Triaged[]; refused: RefusedDecision[] }> {
  const triaged: Triaged[] = []
  const refused: RefusedDecision[] = []
  for (const one of decisions) {
    try {
      const item = await decide(caller, await requireOne(caller, where.workflow, one.id), one)
      triaged.push({ id: qualified(item), decision: one.decision, status: item.status })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      refused.push({ id: one.id, code: error.code, message: error.message, hint: error.hint })
    }
  }
  return { triaged, refused }
}

async function decide(caller: Caller, item: Todo, decision: Decision): Promise<Todo> {
  const decided = await carriedOut(caller, item, decision)
  const { priority } = decision
  // Last, as a decision that is refused must not leave half of it behind.
  return priority === undefined || item.status !== 'pending' ? decided : await reprioritise(caller, decided, priority)
}

async function carriedOut(caller: Caller, item: Todo, { decision, reason, of }: Decision): Promise<Todo> {
  if (decision === 'approve') return await approveTodo(caller, item, reason)
  if (decision !== 'defer') return (await dismissTodo(caller, item, { resolution: decision, reason, of })).todo
  // It stays where it is; why stands in its work log.
  return reason === undefined ? item : await logWork(caller, item, { text: `Deferred: ${reason}`, phase: 'triage' })
}

/** A todo's file keeps its name: the priority in it is the one it was made with. */
export async function reprioritise(caller: Caller, item: Todo, priority: Priority): Promise<Todo> {
  const at = caller.now().toISOString()
  return await amend(caller.store, todo, {
    id: item.id,
    fields: () => ({ priority }),
    by: caller.by,
    at,
    why: `priority ${priority}`,
  })
}
