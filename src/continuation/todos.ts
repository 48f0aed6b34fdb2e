import type { Work } from './judging.ts'

/** An item of the list that a session works on. */
export interface Todo {
  readonly id?: string | undefined
  readonly content?: string | undefined
  /** A status that is not known here counts as open. */
  readonly status: TodoStatus | (string & {})
  readonly priority?: string | undefined
}

export type TodoStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled' | 'blocked' | 'awaiting_input'

/** How a list stands. */
export function workOf(todos: readonly Todo[]): Work {
  const count = (...statuses: readonly string[]) => todos.filter(({ status }) => statuses.includes(status)).length
  const waiting = count('blocked', 'awaiting_input')
  const completed = count('completed')
  return { open: todos.length - waiting - completed - count('cancelled'), waiting, completed, total: todos.length }
}
