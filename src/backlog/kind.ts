import type { Kind } from '../core/kind.ts'
import { todoFile } from './file/format.ts'
import { digits, fileName, storeId } from './names.ts'
import { FRONTMATTER, type Todo, todoLifecycle } from './record.ts'

const { status: _, ...own } = FRONTMATTER

export const todo: Kind<Todo> = {
  name: 'todo',
  table: 'backlog_todos',
  list: ['workflow', 'session', 'source'],
  fields: { workflow: 'text', session: 'text', file: 'text', ...own, extra: 'json' },
  lifecycle: todoLifecycle,
  file: todoFile,
  numbers: {
    give({ status, title, fields }, number) {
      const issue_id = digits(number)
      const file = fileName(issue_id, status, String(fields['priority']), title)
      return { id: storeId(fields, issue_id), fields: { issue_id, file } }
    },
    of: item => Number(item['issue_id']),
  },
  idOf: item => storeId(item, String(item['issue_id'])),
  afterwards: 'reopen it to make a new one that is linked to it',
  hints: {
    assigned_to: 'Claim it first: punchlist backlog claim ID, or unblock it with --as WORKER.',
    claimed_at: 'Claim it first: punchlist backlog claim ID, or unblock it with --as WORKER.',
    dependencies: 'Say what it waits for: --on ID.',
    resolution: 'Say what came of it: --as RESOLUTION, or --resolution where it is added.',
    resolution_reason: 'Say why: --reason TEXT.',
    duplicate_of: 'Name the todo it duplicates: --of ID.',
  },
}
