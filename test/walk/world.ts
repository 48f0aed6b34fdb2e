import { type Backlog, emptyBacklog, keyOf } from './backlog-model.ts'
import { type ItemOnDisk, logsOnDisk, planOnDisk, type TaskOnDisk, tasksOnDisk, todosOnDisk } from './disk.ts'
import type { Request } from './doors.ts'
import { isOpen, type PlanItem, type Plans, presentTurn } from './plan-model.ts'
import { blockersOf, emptyQueue, isHeld, type Queue, type Task } from './queue-model.ts'
import type { Logs } from './worklog-model.ts'

export const CONVERSATIONS = ['c1', 'c2'] as const
export const SESSIONS = ['s1', 's2'] as const

/** Everything that the models know of one workspace. */
export interface World {
  plans: Plans
  backlog: Backlog
  queue: Queue
  logs: Logs
}

export const emptyWorld = (): World => ({
  plans: Object.fromEntries(CONVERSATIONS.map(name => [name, []])),
  backlog: emptyBacklog(),
  queue: emptyQueue(),
  logs: {},
})

/** Asks for a list; every refusal is an error. */
export type Lister = (request: Request) => Promise<Readonly<Record<string, unknown>>>

/** What a list says, on disk and in the answers of the program. */
export interface Seen {
  readonly plans?: readonly { name: string; turns: ItemOnDisk[][]; items: readonly { id: string; status: string }[] }[]
  readonly backlog?: readonly { disk: ReturnType<typeof todosOnDisk>; todos: readonly ListedTodo[] }[]
  readonly queue?: { disk: ReturnType<typeof tasksOnDisk>; tasks: readonly ListedTask[]; warnings: readonly Warning[] }
  readonly logs?: readonly { disk: ReturnType<typeof logsOnDisk>; worklogs: readonly ListedLog[] }[]
}

interface Warning {
  readonly file: string
  readonly message: string
}

interface ListedTodo {
  readonly id: string
  readonly session: string
  readonly status: string
  readonly assigned_to: string | null
  readonly token: number
}

interface ListedTask {
  readonly id: string
  readonly state: string
  readonly title: string
  readonly priority: string
  readonly posted: string
  readonly owner: string | null
  readonly token: number
  readonly blockers: number
  readonly waiting: boolean
  readonly parent: string | null
  readonly children: readonly string[]
  readonly leaseUntil: string | null
}

interface ListedLog {
  readonly worker: string
  readonly session: string
  readonly status: string
  readonly tasks_completed: number
  readonly tasks_total: number
  readonly subtasks_completed: number
  readonly subtasks_total: number
  readonly decisions: number
}

export type Room = Request['room']

/** Looks at one list: the answers first, as reading finishes what a killed process has left. */
export async function look(root: string, room: Room, list: Lister): Promise<Seen> {
  const ask = async <T>(more: Partial<Request['scope']>, input = {}) =>
    (await list({ room, verb: 'list', input, scope: { actor: 'reader', ...more } })) as T
  if (room === 'plan') {
    const plans = []
    for (const name of CONVERSATIONS) {
      const { items } = await ask<{ items: { id: string; status: string }[] }>(
        { conversationId: name },
        { status: 'all', all: true },
      )
      plans.push({ name, items, turns: planOnDisk(root, name) })
    }
    return { plans }
  }
  if (room === 'queue') {
    const { tasks, warnings } = await ask<{ tasks: ListedTask[]; warnings: Warning[] }>({}, { all: true })
    return { queue: { tasks, warnings, disk: tasksOnDisk(root) } }
  }
  if (room === 'backlog') {
    const backlog = []
    for (const session of SESSIONS) {
      const { todos } = await ask<{ todos: ListedTodo[] }>({ session }, { all: true })
      backlog.push({ todos, disk: todosOnDisk(root, session) })
    }
    return { backlog }
  }
  const logs = []
  for (const session of SESSIONS) {
    const { worklogs } = await ask<{ worklogs: ListedLog[] }>({ session }, {})
    logs.push({ worklogs, disk: logsOnDisk(root, session) })
  }
  return { logs }
}

/** Every difference between what a model says and what was seen; what only the program can know is learnt on the way. */
export function differences(world: World, seen: Seen): string[] {
  const found: string[] = []
  const same = (what: string, expected: unknown, actual: unknown) => {
    const [model, real] = [JSON.stringify(expected), JSON.stringify(actual)]
    if (model !== real) found.push(`${what}: by the rules ${model}, in fact ${real}`)
  }
  for (const { name, turns, items } of seen.plans ?? []) {
    const expected = world.plans[name]!
    const filled = expected.filter(turn => turn.items.length > 0)
    same(`${name} turns`, filled.length, turns.length)
    for (const [n, turn] of filled.entries()) {
      same(
        `${name} turn ${n}`,
        turn.items.map(({ title }) => title),
        turns[n]?.map(({ title }) => title),
      )
      for (const [place, item] of turn.items.entries()) comparePlanItem(item, turns[n]?.[place], place, same)
    }
    const present = presentTurn(expected)?.items ?? []
    same(
      `${name} listed`,
      present.map(({ id, status }) => [id, status]),
      items.map(({ id, status }) => [id, status]),
    )
  }
  for (const { disk, todos } of seen.backlog ?? []) compareTodos(world.backlog, disk, todos, same)
  if (seen.queue) compareTasks(world.queue, seen.queue, same)
  for (const { disk, worklogs } of seen.logs ?? []) {
    for (const [name, log] of Object.entries(disk)) same(name, world.logs[name], log)
    for (const { worker, session, status, ...counts } of worklogs) {
      const log = world.logs[`${session}/${worker}`]
      if (!log) continue
      const last = [...new Map(log.sections.map(section => [section.number, section])).values()]
      const subtasks = last.flatMap(section => section.subtasks)
      same(
        `${session}/${worker} listed`,
        [
          log.status,
          last.filter(section => section.status === 'completed').length,
          last.length,
          subtasks.filter(({ done }) => done).length,
          subtasks.length,
        ],
        [status, counts.tasks_completed, counts.tasks_total, counts.subtasks_completed, counts.subtasks_total],
      )
    }
  }
  if (seen.logs) {
    const there = seen.logs.flatMap(({ disk }) => Object.keys(disk)).toSorted()
    same('logs', Object.keys(world.logs).toSorted(), there)
    const listed = seen.logs.flatMap(({ worklogs }) => worklogs.map(one => `${one.session}/${one.worker}`)).toSorted()
    same('logs listed', there, listed)
  }
  return found
}

type Same = (what: string, expected: unknown, actual: unknown) => void

function comparePlanItem(item: PlanItem, row: ItemOnDisk | undefined, place: number, same: Same): void {
  if (!row) return
  if (item.id === '') item.id = row.id
  const owner = item.status === 'in_progress' || item.status === 'pending' ? item.owner : row.owner
  same(
    `item ${row.id} ${row.title}`,
    [item.id, item.status, item.outcome, owner, item.needs, item.carriedFrom, place],
    [row.id, row.status, row.outcome, row.owner, row.needs, row.carriedFrom, row.priority],
  )
  if (item.attempt !== null) same(`item ${row.id} attempt`, true, row.context.endsWith(item.attempt))
  if (isOpen(item)) same(`item ${row.id} started`, item.status === 'in_progress', row.startedAt !== null)
  same(`item ${row.id} ended`, !isOpen(item), row.completedAt !== null)
}

function compareTodos(
  backlog: Backlog,
  disk: ReturnType<typeof todosOnDisk>,
  todos: readonly ListedTodo[],
  same: Same,
): void {
  const [first] = [...disk.map(({ key }) => key.split('/')[1]), ...todos.map(({ session }) => session)]
  const own = Object.values(backlog.todos).filter(({ session }) => session === first)
  same(`todos of ${first}`, own.map(keyOf).toSorted(), disk.map(({ key }) => key).toSorted())
  same(
    `todos of ${first} listed`,
    own.map(keyOf).toSorted(),
    todos.map(({ id, session }) => `work/${session}/${id}`).toSorted(),
  )
  for (const file of disk) {
    const todo = backlog.todos[file.key]
    if (!todo) continue
    const full = (ids: readonly string[]) => ids.map(id => `work/${todo.session}/${id}`)
    // An interrupted or finished todo may go on naming whom it was last.
    const owned = !['interrupted', 'complete', 'wont_fix'].includes(todo.status)
    same(
      file.key,
      [todo.title, todo.status, owned ? todo.owner : file.owner, todo.dependencies, todo.resolution, todo.duplicateOf],
      [
        file.title,
        file.status,
        file.owner,
        full(file.dependencies),
        file.resolution,
        file.duplicateOf && full([file.duplicateOf])[0],
      ],
    )
    same(`${file.key} related`, todo.related.toSorted(), full(file.related).toSorted())
    same(
      `${file.key} history`,
      true,
      todo.history.every((row, n) => file.history[n] === row),
    )
    if (!todo.byHand) same(`${file.key} last row`, todo.status, file.history.at(-1)?.split(' | ')[2])
    todo.history = [...file.history]
  }
  for (const { id, session, status, assigned_to: owner, token } of todos) {
    const todo = backlog.todos[`work/${session}/${id}`]
    if (!todo) continue
    const owned = todo.status === 'in_progress' || todo.status === 'blocked'
    same(`${keyOf(todo)} listed`, [todo.status, owned ? todo.owner : owner], [status, owner])
    if (todo.fresh) {
      if (token <= todo.token) same(`${keyOf(todo)} token`, `more than ${todo.token}`, token)
      Object.assign(todo, { token, fresh: false })
    }
  }
}

function compareTasks(queue: Queue, { disk, tasks, warnings }: NonNullable<Seen['queue']>, same: Same): void {
  // Whoever claims again what a script has given back adds a flag to the one that is there.
  same(
    'warnings',
    [],
    warnings.filter(({ message }) => !/^it has \d+ started flags/.test(message)),
  )
  same('strange', [], disk.strange)
  const ids = Object.keys(queue.tasks).toSorted()
  same('tasks', ids, disk.tasks.map(({ id }) => id).toSorted())
  same('tasks listed', ids, tasks.map(({ id }) => id).toSorted())
  for (const there of disk.tasks) {
    const task = queue.tasks[there.id]
    if (task) compareDirectory(queue, there, task, same)
  }
  for (const { id, ...listed } of tasks) {
    const task = queue.tasks[id]
    if (!task) continue
    const waits = task.awaiting && (task.state === 'in_progress' || task.state === 'to_execute')
    const owner = task.state === 'in_progress' || task.state === 'to_execute' ? task.owner : listed.owner
    same(
      `${id} listed`,
      [task.state, task.title, task.priority, task.parent, owner, blockersOf(queue, id).length, waits],
      [listed.state, listed.title, listed.priority, listed.parent, listed.owner, listed.blockers, listed.waiting],
    )
    if (isHeld(task)) same(`${id} lease`, true, listed.leaseUntil !== null)
    if (!task.fresh) continue
    if (task.tokens.includes(listed.token)) same(`${id} token`, `none of ${task.tokens.join()}`, listed.token)
    task.tokens.push(listed.token)
    task.fresh = false
  }
}

function compareDirectory(queue: Queue, there: TaskOnDisk, task: Task, same: Same): void {
  const { id } = there
  if (task.name === '') task.name = there.name
  if (task.posted === '') task.posted = there.posted
  same(
    id,
    [task.state, task.name, task.title, task.priority, task.posted, task.dependsOn],
    [there.state, there.name, there.title, there.priority, there.posted, there.dependsOn],
  )
  same(
    `${id} texts`,
    [task.checkpoints.length, Object.keys(task.replies).length, task.failures],
    [there.checkpoints, there.replies, there.failures],
  )
  if (task.state === 'in_progress' && task.cut !== 'unflagged') same(`${id} started`, true, there.started > 0)
  same(`${id} completed flags`, task.state === 'completed' || task.cut === 'completed' ? 1 : 0, there.completed)
  for (const [name, target] of Object.entries(there.links)) same(`${id} link`, `../../completed/${name}`, target)
  for (const part of Object.values(queue.tasks)) {
    if (part.parent === id && part.linked) same(`${id} links`, true, part.name in there.links)
  }
}
