import { openStatuses } from '../core/lifecycle.ts'
import type { Caller } from '../core/operation.ts'
import { task } from './kind.ts'
import { locate } from './locating.ts'
import type { Task } from './record.ts'

/** A task with its parts below it. */
export interface TreeNode {
  readonly id: string
  readonly title: string
  readonly state: string
  readonly priority: string
  readonly owner: string | null
  readonly waiting: boolean
  readonly blockers: number
  /** Of everything below it. */
  readonly progress: { readonly completed: number; readonly waived: number; readonly total: number }
  /** Why its parent goes on without it; null where it does not. */
  readonly waived: string | null
  readonly children: TreeNode[]
}

/** One task and everything below it, or the first so many that are no part of another; says how many more there are. */
export async function treeOf(
  caller: Caller,
  name: string | undefined,
  limit: number,
): Promise<{ tree: TreeNode[]; more: number }> {
  const roots = name === undefined ? await rootsOf(caller, limit + 1) : [await locate(caller, name)]
  const shown = roots.slice(0, limit)
  const parts = new Map<string, Task[]>()
  // Level by level: one look for each, however many tasks stand in it.
  for (let level = shown; level.length > 0; ) {
    const ids = level.filter(({ children }) => children > 0).map(({ id }) => id)
    level = ids.length === 0 ? [] : await caller.store.find(task, { where: { parent: ids } })
    for (const part of level.toSorted((one, other) => one.number - other.number)) {
      parts.set(part.parent, [...(parts.get(part.parent) ?? []), part])
    }
  }
  return { tree: shown.map(item => nodeOf(item, parts)), more: roots.length - shown.length }
}

/** Tasks that are no part of another, those with something to do first. */
async function rootsOf(caller: Caller, limit: number): Promise<Task[]> {
  const { store } = caller
  const where = { parent: '' }
  const open = await store.find(task, { where, status: openStatuses(task.lifecycle), limit })
  const finished = ['completed', 'cancelled']
  const over =
    open.length < limit ? await store.find(task, { where, status: finished, limit: limit - open.length }) : []
  return [...open, ...over]
}

/** Depth is bounded by the length of a name: every level takes three characters. */
function nodeOf(item: Task, parts: ReadonlyMap<string, readonly Task[]>, waived: string | null = null): TreeNode {
  const children = (parts.get(item.id) ?? []).map(part => nodeOf(part, parts, item.waived[part.id] ?? null))
  const sum = (of: (node: TreeNode) => number) => children.reduce((total, child) => total + of(child), 0)
  const { id, title, status, priority, owner, blockers } = item
  return {
    id,
    title,
    state: status,
    priority,
    owner,
    waiting: item.awaiting === 1 && (status === 'in_progress' || status === 'to_execute'),
    blockers,
    progress: {
      completed: sum(({ state, progress }) => progress.completed + Number(state === 'completed')),
      waived: sum(one => one.progress.waived + Number(one.waived !== null && one.state !== 'completed')),
      total: sum(({ progress }) => progress.total + 1),
    },
    waived,
    children,
  }
}
