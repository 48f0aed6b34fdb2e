import * as v from 'valibot'
import type { Caller } from '../core/operation.ts'
import type { Workflow } from '../core/session.ts'
import type { Unreadable } from '../core/store.ts'
import { lastAttempt, type Told } from './accounts.ts'
import { progressOf } from './progress.ts'
import { regardless } from './regardless.ts'
import { type TaskView, taskShape, taskViewOf, viewOf, type WorklogView, worklogShape } from './view.ts'

/** The parts that answers of this room are made of. */

export const warnings = () => ({
  warnings: v.array(v.object({ file: v.string(), line: v.number(), message: v.string() })),
})

/** What was written; where that could not be, a warning and nothing else. */
export const about = () =>
  v.object({
    worklog: v.nullable(worklogShape()),
    task: v.optional(taskShape()),
    written: v.boolean(),
    ...warnings(),
  })

interface Answer {
  worklog: WorklogView | null
  task?: TaskView | undefined
  written: boolean
  warnings: Unreadable[]
}

/** Does something about a worklog and answers with it, and with the task it was about; whatever happens to the store, the work goes on. */
export async function written(
  caller: Caller,
  flow: Workflow | undefined,
  work: () => Promise<Told>,
  task?: number,
): Promise<Answer> {
  const done = await regardless(caller, flow, work)
  if ('hindered' in done) return { worklog: null, written: false, warnings: [done.hindered] }
  const { item, account, warning } = done
  const section = task === undefined ? undefined : lastAttempt(account.sections, task)
  return {
    worklog: viewOf(caller, item, progressOf(item, account)),
    ...(section && { task: taskViewOf(section) }),
    written: true,
    warnings: warning ? [warning] : [],
  }
}
