import { join } from 'node:path'
import { expect, test } from 'vitest'
import { open, type Problem, perform, planItem, type Store } from '../../src/index.ts'
import { createTodo } from '../../src/plans/operations.ts'
import { callerOf } from '../support/caller.ts'
import { scratch } from '../support/scratch.ts'

test('many who add and finish at once, without naming a turn, lose nothing and hide nothing', async () => {
  const root = scratch()
  const store = `sqlite:${join(root, 'list.db')}`
  const workers = await Promise.all(Array.from({ length: 5 }, (_, n) => open({ root, store, actor: `w${n}` })))
  const added: string[] = []
  await Promise.all(
    workers.map(async (worker, n) => {
      for (let i = 0; i < 25; i++) {
        const title = `${n}-${i}`
        await worker.plan.create({ items: [{ title }] })
        added.push(title)
        // Whatever is there is finished, by whoever comes: so turns are drained, and begin anew, all the time.
        for (const { id } of (await worker.plan.list()).items) {
          await worker.plan.complete({ todoId: id, outcome: 'x' }).catch((error: Problem) => {
            expect(error.code).toBe('not_found')
          })
        }
      }
    }),
  )
  const [worker] = workers
  for (const { id } of (await worker!.plan.list({ all: true })).items)
    await worker!.plan.complete({ todoId: id, outcome: 'x' })
  const items = await worker!.store.find(planItem, {})
  const finished = new Set(items.filter(({ status }) => status === 'completed').map(({ title }) => title))
  expect(added.filter(title => !finished.has(title))).toEqual([])
  // What is left open in a turn that has ended is what was carried on: it has a copy, and the copy is finished.
  const left = items.filter(({ status }) => status !== 'completed')
  for (const { id } of left) expect(items.some(({ carriedFrom }) => carriedFrom === id)).toBe(true)
  await Promise.all(workers.map(one => one.close()))
})

test('what is added to a turn that ends in the same moment is in the next one', async () => {
  const root = scratch()
  const punchlist = await open({ root, store: 'sqlite::memory:' })
  await punchlist.plan.create({ items: [{ title: 'last' }] })
  const between = async () => {
    await punchlist.plan.complete({ todoId: '1', outcome: 'x' })
    await punchlist.plan.create({ items: [{ title: 'rival' }] })
  }
  const caller = callerOf(interrupted(punchlist.store, between), { by: 'slow', scope: { conversationId: 'default' } })
  const { created, remaining } = await perform(createTodo, caller, { items: [{ title: 'late' }] })
  const { items } = await punchlist.plan.list()
  expect(items.map(({ title }) => title)).toEqual(['rival', 'late'])
  expect(created.map(({ id }) => id)).toEqual([items[1]!.id])
  expect(remaining).toBe(2)
  await punchlist.close()
})

/** The same store, but once something happens between the decision to add items and their being added. */
function interrupted(store: Store, between: () => Promise<void>): Store {
  let done = false
  const insert: Store['insert'] = async (kind, drafts, note) => {
    if (!done && kind.name === planItem.name) {
      done = true
      await between()
    }
    return await store.insert(kind, drafts, note)
  }
  return new Proxy(store, {
    get: (target, name) => (name === 'insert' ? insert : (Reflect.get(target, name) as () => unknown).bind(target)),
  })
}
