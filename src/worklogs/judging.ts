import { type Fields, refusalFor } from '../core/lifecycle.ts'
import { refused } from '../core/move.ts'
import { type TaskSection, type TaskStatus, taskLifecycle, type Worklog } from './record.ts'

const task = {
  name: 'task',
  lifecycle: taskLifecycle,
  afterwards: 'to try it again, begin it again: punchlist worklog task NAME N SUBJECT (--again when it was completed)',
  hints: { failure: 'Say why: --reason TEXT.' },
}

/** Refuses what may not become of a task; an answer that was given is not written over. */
export function judge({ worker }: Worklog, section: TaskSection, to: TaskStatus, fields: Fields): void {
  const { number, status } = section
  const refusal =
    refusalFor(taskLifecycle, status, { ...section, ...fields, status: to }) ??
    (status === to ? ({ why: 'no_such_move', legal: [] } as const) : undefined)
  if (refusal) throw refused(task, { id: `#${number} of ${worker}`, status }, to, refusal)
}
