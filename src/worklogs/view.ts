import * as v from 'valibot'
import { type Caller, PAGE_CHARACTERS } from '../core/operation.ts'
import { folderOf } from './names.ts'
import type { Progress } from './progress.ts'
import { TASK_STATUSES, type TaskSection, WORKLOG_STATUSES, type Worklog } from './record.ts'

const text = () => v.nullable(v.string())
const list = () => v.array(v.string())

/** A worklog as it is told: its frontmatter, where it lies, and what can be counted in it. */
export const worklogShape = () =>
  v.object({
    worker: v.string(),
    role: text(),
    status: v.picklist(WORKLOG_STATUSES),
    plan_path: text(),
    workflow: v.string(),
    session: v.string(),
    path: v.string(),
    tasks_completed: v.number(),
    tasks_total: v.number(),
    subtasks_completed: v.number(),
    subtasks_total: v.number(),
    decisions: v.number(),
  })

export type WorklogView = v.InferOutput<ReturnType<typeof worklogShape>>

export const taskShape = () =>
  v.object({
    number: v.number(),
    subject: v.string(),
    status: v.picklist(TASK_STATUSES),
    claimed: text(),
    completed: text(),
    subtasks: v.array(v.object({ text: v.string(), done: v.boolean() })),
    files: list(),
    ward: text(),
    decisions: list(),
    failure: text(),
  })

export type TaskView = v.InferOutput<ReturnType<typeof taskShape>>

export function viewOf(caller: Caller, item: Worklog, progress: Progress): WorklogView {
  const { worker, role, status, plan_path, workflow, session } = item
  const { tasks_completed, tasks_total, subtasks_completed, subtasks_total, decisions } = progress
  const counts = { tasks_completed, tasks_total, subtasks_completed, subtasks_total, decisions: decisions.length }
  return { worker, role, status, plan_path, workflow, session, path: pathOf(caller, item), ...counts }
}

export function taskViewOf(section: TaskSection): TaskView {
  const { subtasks, files, decisions } = section
  return { ...section, subtasks: subtasks.map(one => ({ ...one })), files: [...files], decisions: [...decisions] }
}

export function pathOf(caller: Caller, item: Pick<Worklog, 'workflow' | 'session' | 'file'>): string {
  return `${caller.work}/${folderOf(item)}/${item.file}`
}

/** As many as an answer can hold, the first at any rate. */
export function fitting<T>(views: readonly T[]): T[] {
  let size = 0
  return views.filter((view, index) => {
    size += JSON.stringify(view).length
    return index === 0 || size <= PAGE_CHARACTERS
  })
}
