import type { Kind } from '../core/kind.ts'
import { taskDirectory } from './format.ts'
import { numbersIn, taskId } from './names.ts'
import { TASK_FIELDS, type Task, taskLifecycle } from './record.ts'

export const task: Kind<Task> = {
  name: 'task',
  table: 'queue_tasks',
  list: ['parent'],
  order: ['rank', 'posted', 'family', 'id'],
  fields: TASK_FIELDS,
  lifecycle: taskLifecycle,
  directory: taskDirectory,
  waits: {
    on: 'dependsOn',
    parent: 'parent',
    without: 'waived',
    blockers: 'blockers',
    children: 'children',
    until: ['completed'],
  },
  numbers: {
    give({ fields }, number) {
      const id = taskId(String(fields['parent']), number)
      return { id, fields: numbersIn(id) }
    },
    of: item => Number(item['number']),
  },
  afterwards: 'add a new task for what is left to do',
}
