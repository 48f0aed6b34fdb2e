import * as v from 'valibot'
import type { Caller } from '../core/operation.ts'
import { task } from './kind.ts'
import { directoryName } from './names.ts'
import type { Task } from './record.ts'

const text = () => v.nullable(v.string())

/** A task as it is told. */
export const taskShape = () =>
  v.object({
    id: v.string(),
    slug: v.string(),
    state: v.string(),
    dir: v.pipe(text(), v.description('its directory below the workspace, where tasks are directories')),
    title: v.string(),
    type: v.string(),
    priority: v.string(),
    posted: v.string(),
    parent: text(),
    children: v.array(v.string()),
    dependsOn: v.array(v.string()),
    blockers: v.pipe(v.number(), v.description('how many tasks it still waits for')),
    writes: v.array(v.string()),
    origin: text(),
    waived: v.record(v.string(), v.string()),
    targetWorker: text(),
    session: text(),
    owner: text(),
    token: v.pipe(v.number(), v.description('counts the claims; send it with reports')),
    leaseUntil: text(),
    startedAt: text(),
    finishedAt: text(),
    verifiedAt: v.pipe(text(), v.description('when wards that punchlist ran passed')),
    claimed: v.pipe(
      v.boolean(),
      v.description('completed on its worker’s word: wards are set, and punchlist has not seen them pass'),
    ),
    checkpoints: v.number(),
    waiting: v.pipe(v.boolean(), v.description('its last checkpoint asks for something and has no reply')),
  })

export type TaskView = v.InferOutput<ReturnType<typeof taskShape>>

export async function viewOf(caller: Caller, item: Task): Promise<TaskView> {
  const parts =
    item.children > 0 ? await caller.store.find(task, { where: { parent: item.id }, fields: ['number'] }) : []
  const { id, slug, status, title, type, priority, posted, dependsOn, blockers, waived, session, owner, token } = item
  return {
    id,
    slug,
    state: status,
    dir: !caller.inFiles ? null : `${caller.queue}/${status}/${directoryName(item)}`,
    title,
    type,
    priority,
    posted,
    parent: item.parent || null,
    children: parts.toSorted((one, other) => one.number - other.number).map(part => part.id),
    dependsOn: [...dependsOn],
    blockers,
    writes: [...(item.writes ?? [])],
    origin: item.origin,
    waived: { ...waived },
    targetWorker: item.targetWorker || null,
    session,
    owner,
    token,
    leaseUntil: item.leaseUntil,
    startedAt: item.startedAt,
    finishedAt: item.finishedAt,
    verifiedAt: item.verifiedAt,
    claimed: status === 'completed' && item.verifiedAt === null && caller.wards.commands.length > 0,
    checkpoints: item.checkpoints,
    waiting: item.awaiting === 1 && (status === 'in_progress' || status === 'to_execute'),
  }
}

export async function viewsOf(caller: Caller, items: readonly Task[]): Promise<TaskView[]> {
  const views: TaskView[] = []
  for (const item of items) views.push(await viewOf(caller, item))
  return views
}
