import { type Caller, PAGE_CHARACTERS } from '../core/operation.ts'
import type { Where } from '../core/store.ts'
import { task } from './kind.ts'
import { locate } from './locating.ts'
import { TASK_STATES, type Task, type TaskState } from './record.ts'
import { type TaskView, viewOf } from './view.ts'

/** The order in which states are listed: what is going on first, what is over last. */
const LISTED: readonly TaskState[] = ['in_progress', 'to_execute', 'staged', 'error', 'completed', 'cancelled']

export interface Listing {
  readonly state?: readonly TaskState[] | undefined
  /** Only those that wait for a reply. */
  readonly waiting?: boolean | undefined
  readonly worker?: string | undefined
  readonly parent?: string | undefined
  readonly after?: string | undefined
  /** All of them where absent. */
  readonly limit?: number | undefined
}

export interface Listed {
  readonly tasks: Task[]
  readonly more: number
}

/** Tasks by state, and in each in the order in which they are claimed. */
export async function listTasks(caller: Caller, listing: Listing): Promise<Listed> {
  const { waiting, worker, parent, after, limit = Infinity } = listing
  const asked = waiting ? (['in_progress', 'to_execute'] as const) : (listing.state ?? TASK_STATES)
  const states = LISTED.filter(state => asked.includes(state))
  const where: Where = {
    ...(waiting ? { awaiting: 1 } : {}),
    ...(worker === undefined ? {} : { owner: worker }),
    ...(parent === undefined ? {} : { parent }),
  }
  const last = after === undefined ? undefined : await locate(caller, after)
  const left = last ? states.slice(Math.max(0, states.indexOf(last.status))) : states
  const tasks: Task[] = []
  for (const status of left) {
    if (tasks.length >= limit) break
    const beyond = last?.status === status ? { after: last.id } : {}
    const bound = limit === Infinity ? {} : { limit: limit - tasks.length + 1 }
    tasks.push(...(await caller.store.find(task, { where, status: [status], ...beyond, ...bound })))
  }
  const shown = limit === Infinity ? tasks : tasks.slice(0, limit)
  if (tasks.length <= limit) return { tasks: shown, more: 0 }
  const counts = await caller.store.count(task, { where, status: left })
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0)
  return { tasks: shown, more: Math.max(1, all - shown.length - (await passed(caller, where, last))) }
}

/** How many of its state come up to a task, itself among them. */
async function passed(caller: Caller, where: Where, last: Task | undefined): Promise<number> {
  if (!last) return 0
  const status = [last.status]
  const { [last.status]: all = 0 } = await caller.store.count(task, { where, status })
  const beyond = await caller.store.find(task, { where, status, after: last.id, fields: ['rank'] })
  return all - beyond.length
}

/** As many of them as an answer has room for. */
export async function paged(
  caller: Caller,
  { tasks, more }: Listed,
  all: boolean,
): Promise<{ tasks: TaskView[]; more: number; cursor: string | null }> {
  const views: TaskView[] = []
  let size = 0
  for (const item of tasks) {
    const view = await viewOf(caller, item)
    size += JSON.stringify(view).length
    if (!all && views.length > 0 && size > PAGE_CHARACTERS) break
    views.push(view)
  }
  const left = more + tasks.length - views.length
  return { tasks: views, more: left, cursor: left > 0 ? (views.at(-1)?.id ?? null) : null }
}
