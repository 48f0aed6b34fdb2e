import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { task } from './kind.ts'
import { childrenOf, lookUp } from './locating.ts'
import type { Task } from './record.ts'

/** Something a task waits for; `missing` where there is no such task. */
export interface Awaited {
  readonly id: string
  readonly state: string
  readonly title: string
}

/** What a task still waits for: dependencies and parts that are not completed, but for those it goes on without. */
export async function waitsFor(caller: Caller, item: Task): Promise<Awaited[]> {
  const parts = await childrenOf(caller, item)
  const known = await lookUp(caller, item.dependsOn)
  const needed = [
    ...item.dependsOn.map(id => known.get(id) ?? { id, status: 'missing', title: '' }),
    ...parts.map(({ id, status, title }) => ({ id, status, title })),
  ]
  return needed
    .filter(({ id, status }) => status !== 'completed' && !Object.hasOwn(item.waived, id))
    .map(({ id, status, title }) => ({ id, state: status, title }))
}

/** Why a task cannot be begun or ended yet, and what can be done about it. */
export async function stillWaits(caller: Caller, item: Task, to: string): Promise<Problem> {
  const open = await waitsFor(caller, item)
  const told = open.map(({ id, state }) => `${id} (${state})`).join(', ')
  const dead = open.find(({ state }) => ['error', 'cancelled', 'missing'].includes(state))
  const verb = to === 'completed' ? 'complete' : 'release'
  const without = `punchlist queue ${verb} ${item.id} --without ${(dead ?? open[0])?.id ?? 'ID'} --reason TEXT`
  const retry = dead?.state === 'error' ? ` punchlist queue retry ${dead.id} tries it again;` : ''
  return new Problem(
    'move_refused',
    `${item.id} waits for ${told}`,
    dead
      ? `${retry} to go on without ${dead.id}: ${without}.`.trim()
      : `Complete them first, or go on without: ${without}.`,
    { id: item.id, from: item.status, to, waitsFor: open.map(({ id, state }) => ({ id, state })) },
  )
}

/** A task about to be added, as far as waiting is concerned: `#2` is the second of them. */
interface Wish {
  readonly parent: string
  readonly dependsOn: readonly string[]
}

/**
 * Refuses tasks that would wait for each other. A new task is waited for by
 * those it is a part of, all the way up, so nothing it waits for may wait for
 * one of them, however many steps away.
 */
export async function refuseCycles(caller: Caller, wishes: readonly Wish[]): Promise<void> {
  const edges = new Map<string, readonly string[]>()
  for (const [index, { dependsOn, parent }] of wishes.entries()) {
    edges.set(`#${index + 1}`, dependsOn)
    if (parent !== '') edges.set(parent, [...(edges.get(parent) ?? []), `#${index + 1}`])
  }
  const starts = [...wishes.keys()].map(index => `#${index + 1}`)
  const state = new Map<string, 'open' | 'done'>()
  for (const start of starts) {
    // By hand instead of by recursion: a chain may be ten thousand long.
    const path: { readonly id: string; readonly next: string[] }[] = []
    const enter = async (id: string) => {
      state.set(id, 'open')
      path.push({ id, next: [...new Set([...(edges.get(id) ?? []), ...(await storedEdges(caller, id))])] })
    }
    if (!state.has(start)) await enter(start)
    while (path.length > 0) {
      const id = path.at(-1)!.next.pop()
      if (id === undefined) state.set(path.pop()!.id, 'done')
      else if (state.get(id) === 'open') throw circle([...path.map(step => step.id), id], id)
      else if (!state.has(id)) await enter(id)
    }
  }
}

async function storedEdges(caller: Caller, id: string): Promise<string[]> {
  if (id.startsWith('#')) return []
  const [item] = await caller.store.find(task, { where: { id }, limit: 1 })
  if (!item || item.blockers === 0) return []
  return (await waitsFor(caller, item)).map(one => one.id)
}

function circle(path: readonly string[], from: string): Problem {
  const cycle = path.slice(path.indexOf(from))
  return new Problem(
    'move_refused',
    `They would wait for each other: ${cycle.join(' -> ')}`,
    'Leave out one of these dependencies; #1 is the first task of this call.',
    { cycle },
  )
}
