import { Problem } from '../core/problem.ts'
import type { Task, TaskState } from './record.ts'

/** Three verbs lead to `to_execute`, each from one state: whoever means another one is told which. */
const WAYS: Partial<Record<TaskState, (id: string) => string>> = {
  staged: id => `Release it: punchlist queue release ${id}.`,
  in_progress: id => `Give it back: punchlist queue return ${id}.`,
  error: id => `Try it again: punchlist queue retry ${id}.`,
}

/** Refuses a task that would come to `to_execute` from elsewhere; one that is there is fine. */
export function refuseUnlessFrom({ id, status }: Task, from: TaskState): void {
  const way = WAYS[status]
  if (status === from || status === 'to_execute' || !way) return
  throw new Problem('move_refused', `${id} is ${status}, not ${from}`, way(id), { id, from: status, to: 'to_execute' })
}
