import type { Kind } from '../core/kind.ts'
import { worklogFile } from './file/format.ts'
import { storeId } from './names.ts'
import { type Worklog, worklogLifecycle } from './record.ts'

export const worklog: Kind<Worklog> = {
  name: 'worklog',
  table: 'worklogs',
  list: ['workflow', 'session'],
  fields: {
    workflow: 'text',
    session: 'text',
    worker: 'text',
    file: 'text',
    role: 'text',
    plan_path: 'text',
    extra: 'json',
  },
  lifecycle: worklogLifecycle,
  file: worklogFile,
  idOf: item => storeId(item, String(item['worker'])),
}
