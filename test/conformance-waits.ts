import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { move, moveAll } from '../src/core/move.ts'
import type { Problem } from '../src/core/problem.ts'
import { task as kind } from '../src/queue/kind.ts'
import type { Task } from '../src/queue/record.ts'
import { at, CLAIMED, note, type Opening, queueHere, refusal } from './support/queue-here.ts'
import { keptTask, taskDraft } from './support/tasks.ts'

/** What every engine owes to kinds whose items wait for one another. `rounds`: how often rivals meet. */
export function waitsConformance(name: string, open: Opening, rounds = 20): void {
  describe(`tasks that wait, in the ${name} engine`, () => {
    const here = queueHere(open)
    const { add, waiting, under, get, ids, next, some, complete, claimed, finish, waive, counts, more } = here

    describe('waiting for one another', () => {
      test('what is open or not there yet counts, what is completed does not', async () => {
        await here.store.insert(kind, [taskDraft('a'), taskDraft('b')], note)
        await finish('req_0001')
        const item = await add('c', waiting('req_0001', 'req_0002', 'req_0002', 'req_0004'))
        expect(item).toMatchObject({
          id: 'req_0003',
          blockers: 2,
          dependsOn: ['req_0001', 'req_0002', 'req_0002', 'req_0004'],
        })
        expect(await get('req_0003')).toEqual(item)
        expect(await here.store.events({ of: { kind, id: 'req_0003' } })).toMatchObject([{ revision: item.revision }])
        await finish('req_0002')
        expect((await get('req_0003')).blockers).toBe(1)
        await add('d')
        expect((await get('req_0003')).blockers).toBe(1)
        await finish('req_0004')
        expect(await get('req_0003')).toMatchObject({ blockers: 0 })
      })

      test('tasks of one batch name each other by their places, backwards and forwards', async () => {
        const drafts = [
          taskDraft('a', waiting('#2', '#3')),
          taskDraft('b'),
          taskDraft('c', waiting('#2')),
          taskDraft('d', waiting('#1')),
        ]
        const added = (await here.store.insert(kind, drafts, note)).map(({ item }) => item)
        expect(added.map(({ dependsOn, blockers }) => [dependsOn, blockers])).toEqual([
          [['req_0002', 'req_0003'], 2],
          [[], 0],
          [['req_0002'], 1],
          [['req_0001'], 1],
        ])
        expect((await here.store.find(kind, {})).toSorted(byId)).toEqual(added)
        const taken: string[] = []
        for (let item = await next('w'); item; item = await next('w')) {
          taken.push(item.title)
          await complete(item)
        }
        expect(taken).toEqual(['b', 'c', 'a', 'd'])
      })

      test('completing frees, with an event that says why, and a new revision', async () => {
        await here.store.insert(
          kind,
          [taskDraft('a'), taskDraft('b'), taskDraft('c', waiting('#1', '#2')), taskDraft('d', waiting('#1'))],
          note,
        )
        await finish('req_0001')
        const before = await get('req_0003')
        const [freed] = await here.store.events({ of: { kind, id: 'req_0004' }, last: 1 })
        expect(freed).toMatchObject({ from: 'to_execute', to: 'to_execute', why: 'req_0001 is completed', by: 'w', at })
        expect(freed!.revision).toBe((await get('req_0004')).revision)
        expect(await here.store.events({ of: { kind, id: 'req_0003' } })).toHaveLength(1)
        await finish('req_0002')
        const after = await get('req_0003')
        expect(after).toEqual({ ...before, blockers: 0, revision: before.revision + 1 })
        expect(await here.store.events({ of: { kind, id: 'req_0003' } })).toMatchObject([
          { to: 'to_execute', from: null },
          { why: 'req_0002 is completed', revision: after.revision },
        ])
      })

      test('many completed in one go free what waited for several of them', async () => {
        await here.store.insert(
          kind,
          [taskDraft('a'), taskDraft('b'), taskDraft('c', waiting('#1', '#2')), taskDraft('d', waiting('#3'))],
          note,
        )
        const items = await some('w', 5)
        const moves = items.map(({ id, token }) => ({ id, token, to: 'completed', supposing: CLAIMED, by: 'w', at }))
        expect((await moveAll(here.store, kind, moves)).map(item => item?.id)).toEqual(['req_0001', 'req_0002'])
        expect(await get('req_0003')).toMatchObject({ blockers: 0 })
        expect(await get('req_0004')).toMatchObject({ blockers: 1 })
        expect(await here.store.events({ of: { kind, id: 'req_0003' } })).toHaveLength(2)
        expect((await next('w'))?.title).toBe('c')
      })

      test('what fails or is cancelled frees nothing', async () => {
        await here.store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1'))], note)
        const item = await claimed('req_0001')
        await move(here.store, kind, { id: item.id, to: 'error', token: item.token, by: 'w', at })
        expect((await get('req_0002')).blockers).toBe(1)
        await move(here.store, kind, { id: item.id, to: 'cancelled', by: 'w', at })
        expect((await get('req_0002')).blockers).toBe(1)
        expect(await next('w')).toBeUndefined()
      })

      test('what is completed stays completed, and what it freed stays free', async () => {
        await here.store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1'))], note)
        await finish('req_0001')
        for (const to of ['to_execute', 'in_progress', 'error', 'cancelled']) {
          expect(await refusal(move(here.store, kind, { id: 'req_0001', to, by: 'w', at }))).toMatchObject({
            code: 'move_refused',
          })
        }
        expect((await get('req_0002')).blockers).toBe(0)
      })

      test('parts keep their task from being begun and from being completed', async () => {
        await add('whole')
        const whole = (await next('w'))!
        const [one, two] = (
          await here.store.insert(
            kind,
            [taskDraft('one', under('req_0001')), taskDraft('two', under('req_0001'))],
            note,
          )
        ).map(({ item }) => item)
        expect(await counts('req_0001')).toEqual({ blockers: 2, children: 2 })
        expect(await refusal(complete(whole))).toMatchObject({ code: 'move_refused' })
        await finish(one!.id)
        await finish(two!.id)
        expect(await counts('req_0001')).toEqual({ blockers: 0, children: 2 })
        expect((await here.store.events({ of: { kind, id: 'req_0001' }, last: 1 }))[0]).toMatchObject({
          from: 'in_progress',
          to: 'in_progress',
          why: 'req_0001_02 is completed',
        })
        expect(await complete(whole)).toMatchObject({ status: 'completed', children: 2 })
        expect(await refusal(here.store.insert(kind, [taskDraft('three', under('req_0001'))], note))).toMatchObject({
          code: 'move_refused',
        })
        expect(await ids()).toHaveLength(3)
      })

      test('a task goes on without what is waived, be it a dependency or a part', async () => {
        await here.store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1', 'req_0077'))], note)
        await add('part', under('req_0002'))
        expect(await counts('req_0002')).toEqual({ blockers: 3, children: 1 })
        expect(await waive('req_0002', 'req_0077')).toMatchObject({ blockers: 2, waived: { req_0077: 'not needed' } })
        expect(await waive('req_0002', 'req_0002_01')).toMatchObject({ blockers: 1, children: 1 })
        await finish('req_0002_01')
        expect((await get('req_0002')).blockers).toBe(1)
        const saved = await waive('req_0002', 'req_0001')
        expect(saved).toMatchObject({ blockers: 0 })
        expect((await here.store.events({ of: { kind, id: 'req_0002' }, last: 1 }))[0]!.revision).toBe(saved.revision)
        expect((await next('w'))?.title).toBe('a')
        expect((await next('w'))?.title).toBe('b')
        await complete(await get('req_0001'))
        expect((await get('req_0002')).blockers).toBe(0)
      })

      test('items come from another here.store in any order, and everything is counted anew', async () => {
        await here.store.insert(kind, [taskDraft('here', waiting('req_0007', 'req_0008'))], note)
        await here.store.load(kind, [
          keptTask('req_0005_01', { fields: { dependsOn: ['req_0009'], blockers: 7 } }),
          keptTask('req_0005_02', { status: 'completed' }),
          keptTask('req_0007', { status: 'completed' }),
          keptTask('req_0005', {
            fields: { dependsOn: ['req_0007', 'req_0008'], waived: { req_0008: 'x' }, children: 9 },
          }),
          keptTask('req_0008', { fields: { dependsOn: ['req_0005'] } }),
          keptTask('req_0001_01'),
        ])
        const all = await here.store.find(kind, {})
        expect(Object.fromEntries(all.map(({ id, blockers, children }) => [id, [blockers, children]]))).toEqual({
          req_0001: [2, 1],
          req_0001_01: [0, 0],
          req_0005: [1, 2],
          req_0005_01: [1, 0],
          req_0005_02: [0, 0],
          req_0007: [0, 0],
          req_0008: [1, 0],
        })
        expect((await add('next')).id).toBe('req_0009')
        expect((await add('next', under('req_0005'))).id).toBe('req_0005_03')
        await finish('req_0009')
        expect((await get('req_0005_01')).blockers).toBe(0)
      })
    })

    describe('rivals', () => {
      test('the last needs of a task completed at the same moment leave it free', async () => {
        const stores = await more(3)
        for (let round = 0; round < rounds; round++) {
          const drafts = [
            taskDraft('a'),
            taskDraft('b'),
            taskDraft('c'),
            taskDraft('d', waiting('#1', '#2', '#3')),
            taskDraft('e', waiting('#3', '#1')),
          ]
          const added = (await here.store.insert(kind, drafts, note)).map(({ item }) => item)
          const items = await Promise.all(added.slice(0, 3).map(({ id }, n) => claimed(id, 'w', stores[n])))
          await Promise.all(items.map((item, n) => complete(item, stores[n])))
          for (const { id } of added.slice(3)) {
            expect(await get(id)).toMatchObject({ blockers: 0 })
            expect(await here.store.events({ of: { kind, id } })).toHaveLength(2)
          }
        }
      })

      test('what is added at the moment its dependency is completed is never stuck', async () => {
        const [one, two, three] = await more(3)
        for (let round = 0; round < rounds; round++) {
          const { id } = await add('a')
          const item = await claimed(id)
          const [, dependants, late] = await Promise.all([
            complete(item, one),
            two!.insert(kind, [taskDraft('b', waiting(id)), taskDraft('c', waiting('#1', id))], note),
            three!.insert(kind, [taskDraft('d', waiting(id))], note),
          ])
          const all = await Promise.all([...dependants, ...late].map(({ item: { id: own } }) => get(own)))
          expect(all.map(({ title, blockers }) => [title, blockers])).toEqual([
            ['b', 0],
            ['c', 1],
            ['d', 0],
          ])
        }
      })

      test('what is added while its dependency is added and completed elsewhere is never stuck', async () => {
        const [one, two] = await more(2)
        for (let round = 0; round < rounds; round++) {
          const whole = (await add('whole')).id
          const part = `${whole}_01`
          const early = async () => {
            const { item } = (await one!.insert(kind, [taskDraft('part', under(whole))], note))[0]!
            await complete(await claimed(item.id, 'w', one), one)
          }
          const [, [added]] = await Promise.all([early(), two!.insert(kind, [taskDraft('b', waiting(part))], note)])
          expect(await get(added!.item.id)).toMatchObject({ blockers: 0 })
        }
      })

      test('a part added at the moment its task is completed: one of the two is refused, never both', async () => {
        const [one, two] = await more(2)
        for (let round = 0; round < rounds; round++) {
          const { id } = await add('whole')
          const item = await claimed(id)
          const answers = await Promise.allSettled([
            complete(item, one),
            two!.insert(kind, [taskDraft('part', under(id))], note),
          ])
          const refused = answers.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
          expect(refused.map(({ reason }) => (reason as Problem).code)).toEqual(['move_refused'])
          const added = answers[1].status === 'fulfilled'
          expect(await get(id)).toMatchObject(
            added
              ? { status: 'in_progress', blockers: 1, children: 1 }
              : { status: 'completed', blockers: 0, children: 0 },
          )
        }
      })

      test('a dependency waived at the moment it is completed is counted once', async () => {
        const [one] = await more(1)
        for (let round = 0; round < rounds; round++) {
          const added = await here.store.insert(
            kind,
            [taskDraft('a'), taskDraft('b'), taskDraft('c', waiting('#1', '#2'))],
            note,
          )
          const [a, , c] = added.map(({ item }) => item)
          const item = await claimed(a!.id)
          await Promise.allSettled([complete(item, one), waive(c!.id, a!.id)])
          expect((await get(c!.id)).blockers).toBe(1)
        }
      })

      test('workers that claim and complete a tree of tasks together end it, each task once', async () => {
        const drafts = Array.from({ length: 30 }, (_, n) =>
          taskDraft(`t${n}`, n < 5 ? {} : waiting(`#${n - 4}`, `#${n - 3}`)),
        )
        await here.store.insert(kind, drafts, note)
        const stores = [here.store, ...(await more(3))]
        const done: string[] = []
        await Promise.all(
          stores.map(async (one, n) => {
            while (done.length < 30) {
              const items =
                n % 2 ? await some(`w${n}`, 3, one) : [await next(`w${n}`, one)].filter(item => item !== undefined)
              for (const item of items) done.push((await complete(item, one)).id)
              if (items.length === 0) await sleep(5)
            }
          }),
        )
        expect(done.toSorted()).toEqual((await ids()).toSorted())
        expect(
          (await here.store.find(kind, {})).every(({ status, blockers }) => status === 'completed' && blockers === 0),
        ).toBe(true)
      })
    })
  })
}

const byId = (one: Task, other: Task) => (one.id < other.id ? -1 : 1)
