import type { Expected, Verdict } from './verdict.ts'

/**
 * The tasks of the queue, by the protocol of directories and the rules for claims.
 *
 * Where the rules are silent the model follows the pages in `docs/` or the program:
 * - a verb that was carried out may be repeated; `release`, `return` and `retry` answer what is in `to_execute` already;
 * - a task waits for all it depends on, also when that is cancelled, until it is waived;
 * - a failed task that waited for a reply waits for it still when it is tried again;
 * - a reply is taken as long as the last checkpoint that asks has none, also when the task has failed or is done;
 * - a verb completes a task only when nothing is left that it waits for, though a script may have begun it earlier;
 * - a checkpoint is the same one again where its words and its worker are those of the last, and nobody has replied;
 * - what a script moved has no owner; a report under the claim before it is refused, or answered where it says the same;
 * - an older token is answered as lost or as a move that is refused where nobody holds the task.
 */
export type State = 'staged' | 'to_execute' | 'in_progress' | 'completed' | 'error' | 'cancelled'
export const STATES: readonly State[] = ['staged', 'to_execute', 'in_progress', 'completed', 'error', 'cancelled']
export const PRIORITIES = ['CRITICAL', 'URGENT', 'HIGH', 'NORMAL', 'LOW'] as const
type Priority = (typeof PRIORITIES)[number]

export interface Task {
  title: string
  state: State
  priority: Priority
  /** When it was added, as its file says; empty until that is seen. */
  posted: string
  parent: string | null
  target: string | null
  dependsOn: string[]
  waived: string[]
  owner: string | null
  /** The token of the last claim, as the program gave it, and every one before. */
  tokens: number[]
  /** Whether the last claim was ended by a script. */
  lost: boolean
  checkpoints: string[]
  replies: Record<number, string>
  awaiting: boolean
  failures: number
  /** Whether the words of its last report are those of the verb, which are the same each time; a script and a run have others. */
  failedByVerb: boolean
  key: string | null
  /** Whether it has been claimed, and the token of that claim was not seen yet. */
  fresh: boolean
  /** Whether it was completed by a verb, or by an agent, which links it from the task that it is a part of. */
  linked: boolean
  /** What a script began and did not end. */
  cut: 'completed' | 'error' | 'unflagged' | null
  /** The name of its directory; empty until that is seen. */
  name: string
}

export interface Queue {
  tasks: Record<string, Task>
  /** The highest number of a task that has ever been seen. */
  highest: number
}

export const emptyQueue = (): Queue => ({ tasks: {}, highest: 0 })

interface NewTask {
  title: string
  priority: Priority
  dependsOn?: string[]
  target?: string
  key?: string
}

type About = { id: string; token?: number }
export type QueueAction =
  | { verb: 'add'; items: NewTask[]; parent?: string; stage?: boolean }
  | { verb: 'release'; id: string; without?: string }
  | { verb: 'claim'; worker: string; id?: string }
  | ({ verb: 'heartbeat' } & About)
  | ({ verb: 'checkpoint'; by: string; summary: string; needs?: string } & About)
  | { verb: 'reply'; id: string; text: string }
  | ({ verb: 'complete'; note?: string } & About)
  | ({ verb: 'fail' } & About)
  | ({ verb: 'return' } & About)
  | { verb: 'retry'; id: string }
  | { verb: 'cancel'; id: string; children: boolean; token?: number }
  | { verb: 'recover' }

export const partsOf = (queue: Queue, id: string): string[] =>
  Object.keys(queue.tasks).filter(one => queue.tasks[one]!.parent === id)

/** What a task still waits for. */
export function blockersOf(queue: Queue, id: string): string[] {
  const { dependsOn, waived } = queue.tasks[id]!
  const all = new Set([...dependsOn, ...partsOf(queue, id)])
  return [...all].filter(one => queue.tasks[one]!.state !== 'completed' && !waived.includes(one))
}

export const tokenOf = ({ tokens }: Task): number | undefined => tokens.at(-1)
/** Whether the claim with its last token still holds. */
export const isHeld = (task: Task): boolean => task.state === 'in_progress' && task.owner !== null && !task.lost

/** The tasks that a worker may claim, the first of them first. */
export function claimable(queue: Queue, workers: readonly string[]): string[] {
  const free = Object.entries(queue.tasks).filter(
    ([id, { state, awaiting, target }]) =>
      state === 'to_execute' &&
      !awaiting &&
      (target === null || workers.includes(target)) &&
      blockersOf(queue, id).length === 0,
  )
  return free.toSorted(([one, a], [other, b]) => compare(a, b) || compareIds(one, other)).map(([id]) => id)
}

function compare(one: Task, other: Task): number {
  const ranked = PRIORITIES.indexOf(one.priority) - PRIORITIES.indexOf(other.priority)
  return ranked || Date.parse(one.posted) - Date.parse(other.posted)
}

function compareIds(one: string, other: string): number {
  const numbers = (id: string) => id.split('_').slice(1).map(Number)
  const [left, right] = [numbers(one), numbers(other)]
  for (let n = 0; n < Math.max(left.length, right.length); n++) {
    const by = (left[n] ?? -1) - (right[n] ?? -1)
    if (by !== 0) return by
  }
  return 0
}

/** Carries an action out, or says how it is refused; then nothing has changed. */
export function actOnQueue(queue: Queue, action: QueueAction): Expected {
  if (action.verb === 'add') return add(queue, action)
  if (action.verb === 'recover') return recover(queue)
  if (action.verb === 'claim' && action.id === undefined) {
    const [first] = claimable(queue, [action.worker])
    if (first === undefined) return 'nothing_to_do'
    return take(queue.tasks[first]!, action.worker)
  }
  const task = queue.tasks[action.id!]
  if (!task) return 'not_found'
  const late = 'token' in action && action.token !== undefined && action.token !== tokenOf(task)
  if (late && isHeld(task)) return 'lease_lost'
  const ended = 'token' in action && action.token !== undefined && !isHeld(task)
  const verdict = decide(queue, task, action)
  if (!late && !ended) return verdict
  return verdict === 'ok' ? ['ok', 'lease_lost', 'move_refused'] : ['lease_lost', 'move_refused']
}

function add(queue: Queue, { items, parent, stage = false }: Extract<QueueAction, { verb: 'add' }>): Expected {
  if (parent !== undefined && !queue.tasks[parent]) return 'not_found'
  const over = parent === undefined ? undefined : queue.tasks[parent]!.state
  if (over === 'completed' || over === 'cancelled') return 'move_refused'
  if (items.some(({ dependsOn = [] }) => dependsOn.some(id => !queue.tasks[id]))) return 'not_found'
  const circle = (on: string) => parent !== undefined && waitsFor(queue, on).has(parent)
  if (items.some(({ dependsOn = [] }) => dependsOn.some(circle))) return 'move_refused'
  for (const { title, priority, dependsOn = [], target = null, key = null } of items) {
    if (key !== null && Object.values(queue.tasks).some(task => task.key === key)) continue
    const id = parent === undefined ? taskId(queue.highest + 1) : nextPart(queue, parent)
    const told = { title, priority, dependsOn, target, key, parent: parent ?? null }
    putTask(queue, id, { ...told, state: stage ? 'staged' : 'to_execute' })
  }
  return 'ok'
}

/** Everything that a task waits for, itself included. */
function waitsFor(queue: Queue, id: string, seen = new Set<string>()): Set<string> {
  if (seen.has(id)) return seen
  seen.add(id)
  for (const blocker of blockersOf(queue, id)) waitsFor(queue, blocker, seen)
  return seen
}

export const taskId = (number: number): string => `req_${String(number).padStart(4, '0')}`

function nextPart(queue: Queue, parent: string): string {
  const last = Math.max(0, ...partsOf(queue, parent).map(id => Number(id.split('_').at(-1))))
  return `${parent}_${String(last + 1).padStart(2, '0')}`
}

export function putTask(
  queue: Queue,
  id: string,
  task: Pick<Task, 'title' | 'state' | 'priority' | 'parent' | 'target' | 'dependsOn' | 'key'>,
): Task {
  const nothing = { posted: '', waived: [], owner: null, tokens: [], lost: false, checkpoints: [], replies: {} }
  const made: Task = {
    ...nothing,
    ...task,
    awaiting: false,
    failures: 0,
    failedByVerb: false,
    fresh: false,
    linked: false,
    cut: null,
    name: '',
  }
  queue.tasks[id] = made
  queue.highest = Math.max(queue.highest, Number(id.split('_')[1]))
  return made
}

export function take(task: Task, worker: string): Expected {
  Object.assign(task, { state: 'in_progress', owner: worker, lost: false, fresh: true, cut: null })
  return 'ok'
}

function decide(queue: Queue, task: Task, action: Exclude<QueueAction, { verb: 'add' | 'recover' }>): Expected {
  const { state } = task
  switch (action.verb) {
    case 'claim': {
      if (state === 'in_progress') return task.owner === action.worker ? 'ok' : 'move_refused'
      return claimable(queue, [action.worker]).includes(action.id!) ? take(task, action.worker) : 'move_refused'
    }
    case 'release':
      if (action.without !== undefined) return waive(queue, task, action)
      if (state === 'staged') task.state = 'to_execute'
      return state === 'staged' || state === 'to_execute' ? 'ok' : 'move_refused'
    case 'heartbeat':
      return isHeld(task) ? 'ok' : ['lease_lost', 'move_refused']
    case 'checkpoint':
      if (state !== 'in_progress') return 'move_refused'
      if (task.checkpoints.at(-1) === words(action) && task.replies[task.checkpoints.length] === undefined) return 'ok'
      task.checkpoints.push(words(action))
      task.awaiting = action.needs !== undefined
      return 'ok'
    case 'reply': {
      const last = task.checkpoints.length
      if (task.awaiting) {
        task.replies[last] = action.text
        task.awaiting = false
        return 'ok'
      }
      return task.replies[last] === action.text ? ['ok', 'move_refused'] : 'move_refused'
    }
    case 'complete':
      if (state === 'completed') return 'ok'
      if (state !== 'in_progress') return 'move_refused'
      if (blockersOf(queue, action.id).length > 0) return 'move_refused'
      Object.assign(task, { state: 'completed', linked: true, cut: null })
      return 'ok'
    case 'fail':
      if (state === 'error') return task.failedByVerb ? 'ok' : 'move_refused'
      if (state !== 'in_progress') return 'move_refused'
      Object.assign(task, { state: 'error', failures: task.failures + 1, failedByVerb: true, cut: null })
      return 'ok'
    case 'return':
      if (state === 'to_execute') return 'ok'
      if (state !== 'in_progress') return 'move_refused'
      giveBack(task)
      return 'ok'
    case 'retry':
      if (state === 'to_execute') return 'ok'
      if (state !== 'error') return 'move_refused'
      giveBack(task)
      return 'ok'
    default:
      return cancel(queue, action.id, action.children)
  }
}

const words = ({ by, summary, needs = '' }: { by: string; summary: string; needs?: string }) =>
  [by, summary, needs].join('|')

function giveBack(task: Task): void {
  Object.assign(task, { state: 'to_execute', owner: null, cut: null })
}

function waive(queue: Queue, task: Task, { id, without = '' }: { id: string; without?: string }): Expected {
  if (!task.dependsOn.includes(without) && !partsOf(queue, id).includes(without)) return 'bad_input'
  if (!task.waived.includes(without)) task.waived.push(without)
  if (task.state === 'staged') task.state = 'to_execute'
  return 'ok'
}

function cancel(queue: Queue, id: string, children: boolean): Verdict {
  const task = queue.tasks[id]!
  if (task.state === 'cancelled') return 'ok'
  if (task.state === 'completed') return 'move_refused'
  const open = partsOf(queue, id).filter(one => !['completed', 'cancelled'].includes(queue.tasks[one]!.state))
  if (open.length > 0 && !children) return 'move_refused'
  for (const part of open) cancel(queue, part, true)
  Object.assign(task, { state: 'cancelled', cut: null })
  return 'ok'
}

function recover(queue: Queue): Expected {
  for (const task of Object.values(queue.tasks)) {
    if (task.cut === 'completed') Object.assign(task, { state: 'completed', cut: null })
    if (task.cut === 'error') Object.assign(task, { state: 'error', failedByVerb: false, cut: null })
    if (task.cut === 'unflagged') giveBack(task)
  }
  return 'ok'
}
