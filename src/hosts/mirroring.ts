import { openStatuses } from '../core/lifecycle.ts'
import { amend, move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { currentTurn, itemsOf } from '../plans/current-turn.ts'
import { type PlanItem, planItem, type Turn } from '../plans/record.ts'
import { addItems, finishItem } from '../plans/work.ts'
import type { Host, HostTask } from './event.ts'
import { apart } from './hearing.ts'

/**
 * Brings the plan in step with the list that the host keeps itself: each of its
 * tasks is one item of the plan. Answers what could not be done because the
 * plan's own rules do not allow it.
 */
export async function mirror(
  caller: Caller,
  host: Host,
  told: readonly HostTask[],
  whole: boolean,
): Promise<Problem | undefined> {
  const tasks = apart(told.slice(0, MOST).map(plain))
  const known = await mirrored(caller, host)
  await add(
    caller,
    host,
    tasks.filter(task => isNew(task, known.get(task.key))),
  )
  const present = await mirrored(caller, host)
  let refused: Problem | undefined
  for (const task of tasks) {
    const item = present.get(task.key)
    if (item) refused = (await follow(caller, host, task, item)) ?? refused
  }
  if (!whole) return refused
  const named = new Set(tasks.map(({ key }) => key))
  for (const [key, item] of present) {
    if (named.has(key) || !isOpen(item)) continue
    const outcome = `taken off the list of ${titleOf(host)}`
    refused = (await attempt(() => finishItem(caller, { id: item.id, status: 'cancelled', outcome }))) ?? refused
  }
  return refused
}

/** A list longer than this is none that somebody works through. */
const MOST = 1_000

/** What a model wrote into another list obeys the rules of this one. */
function plain({ key, title, context, status }: HostTask): HostTask {
  const line = (text: string) => sound(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim(), 500)
  const prose = context && sound(context.replace(/[^\P{Cc}\n\t]+/gu, ' '), 32_768)
  return { key: line(key), title: line(title), context: prose, status }
}

/** Cut off, and without half characters. */
function sound(text: string, most: number): string {
  return text.slice(0, most).toWellFormed()
}

/** By what the host calls them: the items of the present turn that stand for tasks of its list, the last of each name. */
async function mirrored(caller: Caller, { name }: Host): Promise<Map<string, PlanItem>> {
  const prefix = `${name}:`
  const items = await itemsOfTurn(caller)
  return new Map(
    items.flatMap(item =>
      item.mirrors?.startsWith(prefix) ? [[item.mirrors.slice(prefix.length), item] as const] : [],
    ),
  )
}

async function itemsOfTurn(caller: Caller): Promise<PlanItem[]> {
  const of: Turn | undefined = await currentTurn(caller)
  return of ? await caller.store.find(planItem, { where: itemsOf(of) }) : []
}

function isNew(task: HostTask, item: PlanItem | undefined): boolean {
  if (task.title === '' || task.status === 'cancelled') return false
  // What was finished and is on the list again is to be done again.
  return !item || (!isOpen(item) && task.status !== 'completed')
}

/** An item of the same words that the model made in the plan itself is that task; it is not made twice. */
async function add(caller: Caller, { name }: Host, tasks: readonly HostTask[]): Promise<void> {
  const free = (await itemsOfTurn(caller)).filter(item => item.mirrors === null && isOpen(item))
  const wanted = []
  for (const { key, title, context } of tasks) {
    const mirrors = `${name}:${key}`
    const index = free.findIndex(item => item.title === title)
    const [same] = index === -1 ? [] : free.splice(index, 1)
    if (!same) wanted.push({ title, context: context === title ? undefined : context, mirrors })
    else await amend(caller.store, planItem, { id: same.id, fields: () => ({ mirrors }), ...noted(caller) })
  }
  if (wanted.length > 0) await addItems(caller, wanted)
}

async function follow(caller: Caller, host: Host, task: HostTask, item: PlanItem): Promise<Problem | undefined> {
  const { id } = item
  if (task.title !== '' && task.title !== item.title && isOpen(item)) {
    await amend(caller.store, planItem, { id, fields: () => ({ title: task.title }), ...noted(caller) })
  }
  if (task.status === item.status || !isOpen(item)) return undefined
  if (task.status === 'completed' || task.status === 'cancelled') {
    const { status } = task
    return await attempt(() => finishItem(caller, { id, status, outcome: `${status} in the list of ${titleOf(host)}` }))
  }
  const fields = task.status === 'in_progress' ? { owner: caller.by } : {}
  return await attempt(() => move(caller.store, planItem, { id, to: task.status, fields, ...noted(caller) }))
}

function titleOf({ title, name }: Host): string {
  return title ?? name
}

function isOpen({ status }: PlanItem): boolean {
  return openStatuses(planItem.lifecycle).includes(status)
}

function noted(caller: Caller) {
  return { by: caller.by, at: caller.now().toISOString() }
}

async function attempt(work: () => Promise<unknown>): Promise<Problem | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof Problem && error.code === 'move_refused') return error
    throw error
  }
}
