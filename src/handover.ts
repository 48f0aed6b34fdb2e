import * as v from 'valibot'
import { claimTodo, releaseTodo } from './backlog/claiming.ts'
import { completeTodo } from './backlog/deciding.ts'
import { requireFree } from './backlog/dependencies.ts'
import { todo } from './backlog/kind.ts'
import { qualified } from './backlog/names.ts'
import type { Todo } from './backlog/record.ts'
import { requireOne } from './backlog/short-ids.ts'
import { described, line } from './core/input.ts'
import { openStatuses } from './core/lifecycle.ts'
import { type Caller, operation } from './core/operation.ts'
import { PROBLEMS, Problem } from './core/problem.ts'
import type { Unreadable } from './core/store.ts'
import { task } from './queue/kind.ts'
import { locate } from './queue/locating.ts'
import * as queue from './queue/operations.ts'
import { writtenPath } from './queue/paths.ts'
import type { Priority, Task } from './queue/record.ts'
import * as reports from './queue/reports.ts'
import { type TaskView, viewOf } from './queue/view.ts'

/** Todos of the backlog as tasks of the queue, and back: a task that is completed resolves the todo it was made of. */

const PRIORITY: Readonly<Record<Todo['priority'], Priority>> = { p1: 'HIGH', p2: 'NORMAL', p3: 'LOW' }
/** The queue holds a todo for as long as its task takes. */
const HELD_MS = 365 * 24 * 3_600_000

const fromBacklog = () =>
  described(v.pipe(v.array(line(300)), v.maxLength(500, 'must be at most 500')), 'ready todos to make tasks of, by id')

const room = queue.queueAdd

export const queueAdd = operation({
  ...room,
  summary: 'Add tasks for workers; with a parent, divide that one into parts; from the backlog, make tasks of todos.',
  input: () => {
    const { items, ...rest } = entriesOf(room)
    return v.object({ items: v.optional(items), ...rest, fromBacklog: fromBacklog() })
  },
  form: {
    args: () => v.object({ ...room.form!.args().entries, fromBacklog: fromBacklog() }),
    async input({ fromBacklog: ids, ...args }, read) {
      const alone = ids !== undefined && args['title'] === undefined && args['items'] === undefined
      if (!alone) return { ...((await room.form!.input(args, read)) as object), ...(ids ? { fromBacklog: ids } : {}) }
      const { parent, stage } = args
      refuseOthers(args)
      return { fromBacklog: ids, ...(parent ? { parent } : {}), ...(stage ? { stage } : {}) }
    },
  },
  async run(caller, { fromBacklog: ids = [], items = [], parent, stage }) {
    const todos: Todo[] = []
    for (const id of ids) todos.push(await ready(caller, id))
    const free = todos.filter(({ status }) => status === 'ready')
    const wanted = [...items, ...(await Promise.all(free.map(item => taskOf(caller, item))))]
    if (wanted.length + todos.length === 0)
      throw new Problem('bad_input', 'items: is missing', 'Send items, or fromBacklog.')
    const added = wanted.length > 0 ? await room.run(caller, { items: wanted, parent, stage }) : undefined
    const tasks: TaskView[] = added ? [...(added.tasks ?? [added.task])] : []
    const unheld: Unreadable[] = []
    for (const [index, item] of free.entries()) {
      const { id } = tasks[items.length + index]!
      try {
        await claimTodo(caller, item, { as: id, leaseMs: HELD_MS })
      } catch (error) {
        // The task is there by now: `recover` and the next run try again.
        if (!(error instanceof Problem)) throw error
        const message = `${qualified(item)} does not say yet that ${id} was made of it: ${error.message}`
        unheld.push({ file: caller.work, line: 1, message })
      }
    }
    const warned = unheld.length > 0 ? { warnings: unheld } : {}
    // What was handed over before is answered with the task it became.
    for (const { status, owner } of todos) {
      if (status !== 'ready') tasks.push(await viewOf(caller, await locate(caller, owner!)))
    }
    return { task: tasks[0]!, ...(tasks.length > 1 ? { tasks } : {}), ...warned }
  },
})

/** What was cut off between a task and its todo is finished as well. */
export const queueRecover: typeof reports.queueRecover = {
  ...reports.queueRecover,
  async run(caller, input) {
    const answer = await reports.queueRecover.run(caller, input)
    await settleAll(caller)
    return answer
  },
}

/** Completing a task resolves the todo it was made of. */
export const queueComplete: typeof queue.queueComplete = {
  ...queue.queueComplete,
  async run(caller, input) {
    const answer = await queue.queueComplete.run(caller, input)
    return { ...answer, ...(await settleWhatCan(caller, answer.tasks ?? [answer.task])) }
  },
}

/** Cancelling one lets others have the todo. */
export const queueCancel: typeof queue.queueCancel = {
  ...queue.queueCancel,
  async run(caller, input) {
    const answer = await queue.queueCancel.run(caller, input)
    return { ...answer, ...(await settleWhatCan(caller, [answer.task, ...answer.parts.map(id => ({ id }))])) }
  },
}

/** The tasks have ended whatever becomes of their todos: one that cannot be written is a warning. */
async function settleWhatCan(
  caller: Caller,
  tasks: readonly { readonly id: string }[],
): Promise<{ readonly warnings?: readonly Unreadable[] }> {
  const warnings: Unreadable[] = []
  for (const { id } of tasks) {
    try {
      await settle(caller, id)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      warnings.push({ file: caller.work, line: 1, message: `the todo of ${id} is as it was: ${error.message}` })
    }
  }
  return warnings.length > 0 ? { warnings } : {}
}

/** Brings the todo that a task was made of up to what became of the task. */
export async function settle(caller: Caller, id: string): Promise<void> {
  const [item] = await caller.store.find(task, { where: { id }, limit: 1 })
  if (!item || item.origin === null) return
  const [from] = await caller.store.find(todo, { where: { id: item.origin }, limit: 1 })
  if (from?.status === 'in_progress' && from.owner === id) await resolved(caller, from, item)
}

/** The same for all todos that tasks were made of. A process may have been killed between the task and the todo. */
export async function settleAll(caller: Caller): Promise<void> {
  await holdAgain(caller)
  const held = await caller.store.find(todo, { status: ['in_progress'] })
  for (const { owner } of held) {
    if (owner?.startsWith('req_')) await settle(caller, owner).catch(unlessAboutOne)
  }
}

/** Claims the todos of open tasks that are still free: they could not be claimed when the tasks were added. */
async function holdAgain(caller: Caller): Promise<void> {
  const open = await caller.store.find(task, { status: openStatuses(task.lifecycle), fields: ['origin'] })
  const made = new Map(open.flatMap(({ id, origin }) => (origin === null ? [] : [[origin, id] as const])))
  if (made.size === 0) return
  for (const item of await caller.store.find(todo, { where: { id: [...made.keys()] }, status: ['ready'] })) {
    await claimTodo(caller, item, { as: made.get(item.id)!, leaseMs: HELD_MS }).catch(unlessAboutOne)
  }
}

/** A todo that cannot be written, its file damaged say, keeps no other from being resolved. */
function unlessAboutOne(error: unknown): void {
  if (!(error instanceof Problem) || PROBLEMS[error.code].retry) throw error
}

async function resolved(caller: Caller, from: Todo, { id, status, owner, verifiedAt }: Task): Promise<void> {
  try {
    if (status === 'completed') {
      const how = verifiedAt === null ? '' : ', and wards passed'
      await completeTodo(caller, from, { as: owner ?? caller.by, token: from.token, reason: `done as ${id}${how}` })
    } else if (status === 'cancelled') {
      await releaseTodo(caller, from, { as: id, token: from.token }, `${id} was cancelled`)
    }
  } catch (error) {
    // Somebody has decided otherwise meanwhile, which counts.
    if (!(error instanceof Problem) || !['move_refused', 'lease_lost', 'changed_meanwhile'].includes(error.code))
      throw error
  }
}

async function ready(caller: Caller, name: string): Promise<Todo> {
  const item = await requireOne(caller, undefined, name)
  const ours = item.status === 'in_progress' && item.owner?.startsWith('req_') === true
  // Before a task is made of it: nobody could claim it.
  if (item.status === 'ready') await requireFree(caller, item, 'claim', {})
  if (item.status === 'ready' || ours) return item
  throw new Problem(
    'move_refused',
    `${qualified(item)} is ${item.status}, not ready`,
    item.status === 'pending'
      ? `Approve it first: punchlist backlog approve ${qualified(item)}.`
      : `See what it waits for: punchlist backlog show ${qualified(item)}.`,
    { id: qualified(item), status: item.status },
  )
}

/** A task that says what its todo says. */
async function taskOf(caller: Caller, item: Todo) {
  const texts = (await caller.store.texts(todo, [item.id])).get(item.id) ?? {}
  const files = item.files.length > 0 ? `\n\nFiles: ${item.files.join(', ')}` : ''
  const writes = item.files.flatMap(file => writtenPath(file) ?? [])
  return {
    title: item.title.slice(0, 300),
    description: `${texts['body']?.trim() || item.title}${files}`,
    expect: `${qualified(item)} is resolved: what was done, in one or two sentences.`,
    priority: PRIORITY[item.priority],
    ...(writes.length > 0 ? { writes } : {}),
    origin: item.id,
    // Each time that it is free it may become a task once: after a task that was cancelled, another.
    key: `backlog:${item.id}:${item.token}`,
  }
}

function entriesOf<S extends { entries: v.ObjectEntries }>(op: { input: () => S }): S['entries'] {
  return op.input().entries
}

function refuseOthers(args: Readonly<Record<string, unknown>>): void {
  const known = new Set(['parent', 'stage'])
  const wrong = Object.entries(args).flatMap(([name, value]) => (value === undefined || known.has(name) ? [] : [name]))
  if (wrong.length === 0) return
  throw new Problem(
    'bad_input',
    `${wrong.join(', ')}: a task that is made of a todo says what the todo says`,
    `Leave out ${wrong.join(', ')}, or change the todo.`,
    { wrong },
  )
}
