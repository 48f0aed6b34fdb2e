import { digest } from '../core/id.ts'
import type { Draft } from '../core/kind.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Added } from '../core/store.ts'
import { DEFINITION } from './format.ts'
import { task } from './kind.ts'
import { locate, lookUp } from './locating.ts'
import { readTaskId, slugOf } from './names.ts'
import { writtenPath } from './paths.ts'
import { type Priority, rankOf, type Task, type TaskType } from './record.ts'
import { type Definition, renderTask } from './task-file.ts'
import { refuseCycles } from './waiting.ts'

export interface NewTask {
  readonly title: string
  readonly description: string
  readonly expect: string
  readonly slug?: string | undefined
  readonly type?: TaskType | undefined
  readonly priority?: Priority | undefined
  readonly targetWorker?: string | undefined
  readonly dependsOn?: readonly string[] | undefined
  readonly writes?: readonly string[] | undefined
  readonly origin?: string | undefined
  readonly discrete?: string | undefined
  readonly entryCriteria?: string | undefined
  readonly exitCriteria?: string | undefined
  readonly subtasks?: string | undefined
  readonly notes?: string | undefined
  readonly key?: string | undefined
}

export interface Adding {
  readonly parent?: string | undefined
  readonly stage?: boolean | undefined
}

/** Adds tasks in their order, all of them or none; with a parent, as its parts. */
export async function addTasks(
  caller: Caller,
  wishes: readonly NewTask[],
  { parent: of, stage = false }: Adding,
): Promise<Added<Task>[]> {
  const parent = of === undefined ? undefined : await locate(caller, of)
  if (parent) refuseFinished(parent)
  const wanted = wishes.map(({ dependsOn = [] }) => dependsOn.map(name => meant(name, wishes.length)))
  await refuseUnknown(caller, wanted.flat())
  await refuseCycles(
    caller,
    wanted.map(dependsOn => ({ parent: parent?.id ?? '', dependsOn })),
  )
  const at = caller.now().toISOString()
  const drafts = wishes.map((wish, index) =>
    draftOf(wish, wanted[index]!, { parent: parent?.id ?? '', stage, at, session: caller.scope.session ?? null }),
  )
  return await caller.store.insert(task, drafts, { by: caller.by, at })
}

interface Circumstances {
  readonly parent: string
  readonly stage: boolean
  readonly at: string
  readonly session: string | null
}

function draftOf(wish: NewTask, dependsOn: readonly string[], { parent, stage, at, session }: Circumstances): Draft {
  const { title, slug = slugOf(title), type = 'Standard', priority = 'NORMAL', targetWorker = '', key } = wish
  const fields = {
    slug,
    type,
    priority,
    rank: rankOf(priority),
    posted: at,
    parent,
    targetWorker,
    session,
    discrete: wish.discrete ?? null,
    dependsOn,
    writes: wish.writes ? [...new Set(wish.writes.map(path => writtenPath(path)!))] : null,
    origin: wish.origin ?? null,
    waived: {},
    blockers: 0,
    children: 0,
    checkpoints: 0,
    awaiting: 0,
  }
  return {
    title,
    status: stage ? 'staged' : 'to_execute',
    identity: key === undefined ? undefined : digest(key),
    fields,
    compose: ({ id, fields: own }) => ({ [DEFINITION]: renderTask(definitionOf(wish, id, own as unknown as Task)) }),
  }
}

function definitionOf({ title, ...wish }: NewTask, id: string, own: Task): Definition {
  const { type, priority, posted, targetWorker, session, dependsOn, writes, origin, discrete } = own
  return {
    id,
    title,
    type,
    priority,
    posted,
    targetWorker,
    session,
    dependsOn,
    writes: writes ?? [],
    origin,
    discrete,
    description: wish.description,
    expectedResponse: wish.expect,
    entryCriteria: wish.entryCriteria ?? null,
    exitCriteria: wish.exitCriteria ?? null,
    subtasks: wish.subtasks ?? null,
    notes: wish.notes ?? null,
  }
}

/** The id that is meant, or a place in this call. */
function meant(name: string, count: number): string {
  const place = /^#(\d+)$/.exec(name)?.[1]
  if (place !== undefined && Number(place) >= 1 && Number(place) <= count && place.length < 4)
    return `#${Number(place)}`
  const id = readTaskId(name)
  if (id !== undefined) return id
  throw new Problem(
    'bad_input',
    `dependsOn: "${name.slice(0, 60)}" is no task`,
    'Name tasks by their ids (req_0007), or others of this call by their place (#1).',
  )
}

async function refuseUnknown(caller: Caller, names: readonly string[]): Promise<void> {
  const ids = names.filter(name => !name.startsWith('#'))
  const known = await lookUp(caller, ids)
  const unknown = [...new Set(ids.filter(id => !known.has(id)))]
  if (unknown.length === 0) return
  const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''
  throw new Problem(
    'not_found',
    `There is no task ${unknown.slice(0, 5).join(', ')}${more} to wait for`,
    'Add what it depends on first, and use the ids that gives.',
    { ids: unknown },
  )
}

function refuseFinished({ id, status }: Task): void {
  if (status !== 'completed' && status !== 'cancelled') return
  throw new Problem(
    'move_refused',
    `${id} is ${status}: it cannot get another part`,
    'Add a task of its own instead: leave out --parent.',
    { id, state: status },
  )
}
