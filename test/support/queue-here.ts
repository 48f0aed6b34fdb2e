import { afterEach, beforeEach, expect } from 'vitest'
import type { Note } from '../../src/core/event.ts'
import { claim, claimAll, move } from '../../src/core/move.ts'
import { Problem, type ProblemCode } from '../../src/core/problem.ts'
import type { Query, Store } from '../../src/core/store.ts'
import { task as kind } from '../../src/queue/kind.ts'
import type { Task } from '../../src/queue/record.ts'
import { renderWaivers, WAIVERS } from '../../src/queue/waivers.ts'
import { type TaskDraft, taskDraft } from './tasks.ts'

export type Opening = () => Promise<{ store: Store; again: () => Promise<Store> }>

export const at = '2026-01-02T03:04:05.000Z'
export const note: Note = { by: 'tester', at }
export const CLAIMED = { status: 'in_progress', blockers: 0 } as const

/** A fresh store for each test, and what is done with it all the time. */
export function queueHere(open: Opening) {
  let store: Store
  let again: () => Promise<Store>
  const others: Store[] = []

  beforeEach(async () => {
    ;({ store, again } = await open())
  })
  afterEach(async () => {
    await Promise.all([store, ...others.splice(0)].map(one => one.close()))
  })

  const wanted = (by: string) => ({ where: { blockers: 0, targetWorker: ['', by] }, to: 'in_progress', by, at })
  const here = {
    get store() {
      return store
    },
    /** More stores on the same items. */
    more: async (count: number) => {
      for (let n = 0; n < count; n++) others.push(await again())
      return others.slice(-count)
    },
    add: async (title: string, draft: TaskDraft = {}) =>
      (await store.insert(kind, [taskDraft(title, draft)], note))[0]!.item,
    waiting: (...dependsOn: string[]) => ({ fields: { dependsOn } }),
    under: (parent: string) => ({ fields: { parent } }),
    get: async (id: string) => (await store.find(kind, { where: { id } }))[0]!,
    ids: async (query: Query = {}) => (await store.find(kind, query)).map(({ id }) => id),
    next: (by: string, on = store, leaseMs = 60_000) => claim(on, kind, { ...wanted(by), leaseMs }),
    some: (by: string, limit: number, on = store) => claimAll(on, kind, { ...wanted(by), leaseMs: 60_000, limit }),
    complete: ({ id, token }: Task, on = store) =>
      move(on, kind, { id, to: 'completed', token, supposing: CLAIMED, by: 'w', at }),
    claimed: async (id: string, by = 'w', on = store) =>
      (await claim(on, kind, { id, to: 'in_progress', by, at, leaseMs: 60_000 }))!,
    finish: async (id: string) => await here.complete(await here.claimed(id)),
    waive: async (id: string, without: string) => {
      const { revision, status, waived } = await here.get(id)
      const all = { ...waived, [without]: 'not needed' }
      const change = { id, revision, from: status, fields: { waived: all }, texts: { [WAIVERS]: renderWaivers(all) } }
      return await store.save(kind, change, note)
    },
    counts: async (id: string) => {
      const { blockers, children } = await here.get(id)
      return { blockers, children }
    },
  }
  return here
}

export async function refusal(answer: Promise<unknown>): Promise<{ code: ProblemCode }> {
  const error = await answer.then(
    () => expect.fail('was not refused'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof Problem)) throw error
  return error
}
