import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Whereabouts } from '../core/session.ts'
import { worklog } from './kind.ts'
import { fileOf, storeId } from './names.ts'
import type { Worklog } from './record.ts'

/** The worklog of one worker. A file that is there and cannot be read says so. */
export async function locate(caller: Caller, where: Whereabouts, name: string): Promise<Worklog> {
  const [found] = await caller.store.find(worklog, { where: { ...where, id: storeId(where, name) }, limit: 1 })
  if (found) return found
  const unreadable = await caller.store.unreadable(worklog, where)
  const broken = unreadable.find(({ file }) => file.endsWith(`/${fileOf(name)}`))
  if (broken) {
    const { file, line, message } = broken
    const hint = 'Correct the file by hand; nothing was written to it.'
    throw new Problem('unreadable_file', `${file}:${line} ${message}`, hint, { file, line })
  }
  throw new Problem(
    'not_found',
    `${name} has no worklog in session ${where.session} of ${where.workflow}`,
    `Open it first: punchlist worklog open ${name} --role implementation --plan PATH --session ${where.session}`,
    { name, ...where },
  )
}
