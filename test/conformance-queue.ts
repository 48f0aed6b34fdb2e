import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Note } from '../src/core/event.ts'
import { claim, claimAll, move, moveAll } from '../src/core/move.ts'
import { Problem, type ProblemCode } from '../src/core/problem.ts'
import type { Query, Store } from '../src/core/store.ts'
import { DEFINITION } from '../src/queue/format.ts'
import { task as kind } from '../src/queue/kind.ts'
import type { Task } from '../src/queue/record.ts'
import { renderWaivers, WAIVERS } from '../src/queue/waivers.ts'
import { keptTask, type TaskDraft, taskDraft } from './support/tasks.ts'

const at = '2026-01-02T03:04:05.000Z'
const note: Note = { by: 'tester', at }
const CLAIMED = { status: 'in_progress', blockers: 0 } as const

/** What every engine owes to kinds whose items wait for one another and are claimed by order. `open` as for `conformance`. */
export function queueConformance(
  name: string,
  open: () => Promise<{ store: Store; again: () => Promise<Store> }>,
  rounds = 20,
): void {
  describe(`tasks in the ${name} engine`, () => {
    let store: Store
    let again: () => Promise<Store>
    const others: Store[] = []

    beforeEach(async () => {
      ;({ store, again } = await open())
    })
    afterEach(async () => {
      await Promise.all([store, ...others.splice(0)].map(one => one.close()))
    })

    const more = async (count: number) => {
      for (let n = 0; n < count; n++) others.push(await again())
      return others.slice(-count)
    }
    const add = async (title: string, draft: TaskDraft = {}) =>
      (await store.insert(kind, [taskDraft(title, draft)], note))[0]!.item
    const waiting = (...dependsOn: string[]) => ({ fields: { dependsOn } })
    const under = (parent: string) => ({ fields: { parent } })
    const get = async (id: string) => (await store.find(kind, { where: { id } }))[0]!
    const ids = async (query: Query = {}) => (await store.find(kind, query)).map(({ id }) => id)
    const next = (by: string, on = store, leaseMs = 60_000) =>
      claim(on, kind, { where: { blockers: 0, targetWorker: ['', by] }, to: 'in_progress', by, at, leaseMs })
    const some = (by: string, limit: number, on = store) =>
      claimAll(on, kind, {
        where: { blockers: 0, targetWorker: ['', by] },
        to: 'in_progress',
        by,
        at,
        leaseMs: 60_000,
        limit,
      })
    const complete = ({ id, token }: Task, on = store) =>
      move(on, kind, { id, to: 'completed', token, supposing: CLAIMED, by: 'w', at })
    const claimed = async (id: string, by = 'w', on = store) =>
      (await claim(on, kind, { id, to: 'in_progress', by, at, leaseMs: 60_000 }))!
    const finish = async (id: string) => await complete(await claimed(id))
    const waive = async (id: string, without: string) => {
      const { revision, status, waived } = await get(id)
      const all = { ...waived, [without]: 'not needed' }
      const change = { id, revision, from: status, fields: { waived: all }, texts: { [WAIVERS]: renderWaivers(all) } }
      return await store.save(kind, change, note)
    }
    const counts = async (id: string) => {
      const { blockers, children } = await get(id)
      return { blockers, children }
    }

    describe('adding', () => {
      test('numbers tasks one after the other, and the parts of each task for themselves', async () => {
        expect(
          (await store.insert(kind, [taskDraft('a'), taskDraft('b')], note)).map(({ item }) => item),
        ).toMatchObject([
          { id: 'req_0001', family: 1, number: 1, parent: '', revision: 1, token: 0, status: 'to_execute' },
          { id: 'req_0002', family: 2, number: 2 },
        ])
        const parts = await store.insert(
          kind,
          ['req_0001', 'req_0002', 'req_0001'].map(parent => taskDraft('p', under(parent))),
          note,
        )
        expect(parts.map(({ item }) => item.id)).toEqual(['req_0001_01', 'req_0002_01', 'req_0001_02'])
        expect(await add('p', under('req_0001_01'))).toMatchObject({
          id: 'req_0001_01_01',
          family: 1,
          number: 1,
          parent: 'req_0001_01',
        })
        expect((await add('c')).id).toBe('req_0003')
      })

      test('many stores that add at once never give a number twice', async () => {
        await add('whole')
        const stores = await more(4)
        const added = await Promise.all(
          stores.flatMap(one =>
            Array.from({ length: 6 }, (_, n) =>
              one.insert(kind, [taskDraft('x', n % 2 ? under('req_0001') : {})], note),
            ),
          ),
        )
        const given = added.map(([answer]) => answer!.item.id)
        expect(new Set(given).size).toBe(24)
        expect(
          given
            .filter(id => id.startsWith('req_0001_'))
            .toSorted()
            .at(-1),
        ).toBe('req_0001_12')
        expect(given.toSorted().at(-1)).toBe('req_0013')
        expect(await counts('req_0001')).toEqual({ blockers: 12, children: 12 })
      })

      test('a hundredth part is refused, and nothing of its batch is written', async () => {
        await add('whole')
        await store.insert(
          kind,
          Array.from({ length: 98 }, () => taskDraft('part', under('req_0001'))),
          note,
        )
        const events = await store.events({})
        const two = [taskDraft('99th', under('req_0001')), taskDraft('100th', under('req_0001'))]
        expect(await refusal(store.insert(kind, two, note))).toMatchObject({ code: 'move_refused' })
        expect(await counts('req_0001')).toEqual({ blockers: 98, children: 98 })
        expect(await store.events({})).toEqual(events)
        expect((await add('99th', under('req_0001'))).id).toBe('req_0001_99')
      })

      test('the same identity is the same task, whoever adds it and whenever', async () => {
        const stores = await more(4)
        const same = () => taskDraft('once', { identity: 'k' })
        const answers = await Promise.all(stores.map(one => one.insert(kind, [same()], note)))
        expect(answers.filter(([answer]) => answer!.created)).toHaveLength(1)
        expect(new Set(answers.map(([answer]) => answer!.item.id)).size).toBe(1)
        const [first, dependant] = await store.insert(kind, [same(), taskDraft('then', waiting('#1'))], note)
        expect(first).toMatchObject({ created: false, item: { title: 'once' } })
        expect(dependant!.item).toMatchObject({ dependsOn: [first!.item.id], blockers: 1 })
        await finish(first!.item.id)
        expect((await store.insert(kind, [same()], note))[0]).toMatchObject({
          created: false,
          item: { status: 'completed' },
        })
      })

      test('the definition of a task tells its id and those of its batch that it waits for', async () => {
        const drafts = [taskDraft('last', waiting('#2', '#3')), taskDraft('first'), taskDraft('second')]
        const [last] = await store.insert(kind, drafts, note)
        const text = (await store.texts(kind, [last!.item.id])).get('req_0001')?.[DEFINITION]
        expect(text).toContain('# Request #0001: last')
        expect(text).toContain('req_0002, req_0003')
      })
    })

    describe('the order', () => {
      test('is by priority, then by time, then by number, however long a number is', async () => {
        await store.load(kind, [
          keptTask('req_10000'),
          keptTask('req_9999_02'),
          keptTask('req_9999'),
          keptTask('req_9999_01'),
          keptTask('req_10001', { fields: { priority: 'CRITICAL', rank: 0 } }),
          keptTask('req_10002', { fields: { posted: '2026-01-01T00:00:00.000Z' } }),
          keptTask('req_0001', { fields: { priority: 'LOW', rank: 4 } }),
        ])
        const order = ['req_10001', 'req_10002', 'req_9999', 'req_9999_01', 'req_9999_02', 'req_10000', 'req_0001']
        expect(await ids()).toEqual(order)
        expect(await ids({ newest: true, limit: 2 })).toEqual(['req_0001', 'req_10000'])
        expect(await ids({ after: 'req_9999', limit: 2 })).toEqual(['req_9999_01', 'req_9999_02'])
        expect(await ids({ after: 'req_9999', newest: true })).toEqual(['req_10002', 'req_10001'])
        const taken: string[] = []
        for (let item = await next('w'); item; item = await next('w')) {
          taken.push(item.id)
          await complete(item)
        }
        // What has parts comes when they are done.
        expect(taken).toEqual([
          'req_10001',
          'req_10002',
          'req_9999_01',
          'req_9999_02',
          'req_9999',
          'req_10000',
          'req_0001',
        ])
      })

      test('a condition may name several values', async () => {
        for (const targetWorker of ['', 'w1', 'w2']) await add('x', { fields: { targetWorker } })
        expect(await ids({ where: { targetWorker: ['w2', ''] } })).toEqual(['req_0001', 'req_0003'])
        expect(await ids({ where: { id: ['req_0003', 'req_0002', 'req_0009'] } })).toEqual(['req_0002', 'req_0003'])
        expect(await store.count(kind, { where: { targetWorker: ['w1', 'w2'] } })).toEqual({ to_execute: 2 })
      })
    })

    describe('claiming', () => {
      test('gives what is meant for anyone or for the claimant, and nothing that waits', async () => {
        const drafts = [
          taskDraft('theirs', { fields: { targetWorker: 'w2', priority: 'CRITICAL', rank: 0 } }),
          taskDraft('blocked', { fields: { dependsOn: ['#3'], priority: 'CRITICAL', rank: 0 } }),
          taskDraft('anyone'),
          taskDraft('mine', { fields: { targetWorker: 'w1', priority: 'HIGH', rank: 2 } }),
          taskDraft('staged', { status: 'staged' }),
        ]
        await store.insert(kind, drafts, note)
        expect([await next('w1'), await next('w1'), await next('w1')].map(item => item?.title)).toEqual([
          'mine',
          'anyone',
          undefined,
        ])
        expect((await next('w2'))?.title).toBe('theirs')
        expect(await get('req_0003')).toMatchObject({
          owner: 'w1',
          token: 1,
          revision: 2,
          status: 'in_progress',
          startedAt: at,
        })
      })

      test('a task is found behind thousands that are meant for others', async () => {
        const theirs = Array.from({ length: 300 }, () => taskDraft('x', { fields: { targetWorker: 'other' } }))
        await store.insert(kind, [...theirs, taskDraft('mine', { fields: { targetWorker: 'w' } })], note)
        expect((await next('w'))?.title).toBe('mine')
      })

      test('many at once: each task is given once, in order', async () => {
        await store.insert(
          kind,
          Array.from({ length: 40 }, () => taskDraft('x')),
          note,
        )
        expect((await some('w', 3)).map(({ id, token, owner }) => [id, token, owner])).toEqual(
          ['req_0001', 'req_0002', 'req_0003'].map(id => [id, 1, 'w']),
        )
        const stores = await more(4)
        const taken = (
          await Promise.all(stores.flatMap((one, n) => [some(`w${n}`, 5, one), some(`v${n}`, 6, one)]))
        ).flat()
        for (let rest = await some('w', 5); rest.length > 0; rest = await some('w', 5)) taken.push(...rest)
        expect(new Set(taken.map(({ id }) => id)).size).toBe(37)
        expect(taken).toHaveLength(37)
        expect(await some('w', 5)).toEqual([])
        const told = (await store.events({})).filter(({ to }) => to === 'in_progress')
        expect(told.map(({ id }) => id).toSorted()).toEqual((await ids()).toSorted())
        expect(told.every(({ from, revision, token }) => from === 'to_execute' && revision === 2 && token === 1)).toBe(
          true,
        )
      })

      test('a batch comes in order, with one event each in the same order', async () => {
        const priorities = ['LOW', 'CRITICAL', 'NORMAL'] as const
        const drafts = priorities.map((priority, n) =>
          taskDraft(priority, { fields: { priority, rank: [4, 0, 3][n]! } }),
        )
        await store.insert(kind, [...drafts, taskDraft('mine', { fields: { targetWorker: 'w' } })], note)
        const taken = (await some('w', 10)).map(({ title }) => title)
        expect(taken).toEqual(['CRITICAL', 'NORMAL', 'mine', 'LOW'])
        expect((await store.events({ last: 4 })).map(({ title }) => title)).toEqual(taken)
      })

      test('what becomes more urgent is claimed next, whoever added it', async () => {
        await store.insert(kind, [taskDraft('a'), taskDraft('b'), taskDraft('c')], note)
        expect((await next('w'))?.title).toBe('a')
        await add('urgent', { fields: { priority: 'URGENT', rank: 1 } })
        expect((await next('w'))?.title).toBe('urgent')
        expect((await next('w'))?.title).toBe('b')
        const [other] = await more(1)
        await other!.insert(kind, [taskDraft('more urgent', { fields: { priority: 'CRITICAL', rank: 0 } })], note)
        // Within half a second where it comes from elsewhere.
        await sleep(600)
        expect((await next('w'))?.title).toBe('more urgent')
        expect([await next('w'), await next('w')].map(item => item?.title)).toEqual(['c', undefined])
      })

      test('what was given back is there again at once, with its place', async () => {
        await store.insert(kind, [taskDraft('a'), taskDraft('b'), taskDraft('c')], note)
        const first = (await next('w'))!
        await next('w')
        await move(store, kind, { id: first.id, to: 'to_execute', token: first.token, by: 'w', at })
        expect(await next('w')).toMatchObject({ title: 'a', token: 3 })
      })

      test('a token that is not the current one is refused', async () => {
        await add('a')
        const late = (await next('late', store, 1))!
        await sleep(30)
        expect((await store.lapsed(kind, 10)).map(({ id }) => id)).toEqual([late.id])
        expect(await store.renew(kind, late.id, late.token, 60_000)).toMatchObject({ token: 1 })
        expect(await store.lapsed(kind, 10)).toEqual([])
        const lapsedChange = {
          id: late.id,
          from: 'in_progress',
          token: 1,
          lapsed: true,
          fields: { status: 'to_execute', token: 2 },
        }
        expect(await store.saveAll(kind, [lapsedChange], note)).toEqual([undefined])
        await store.renew(kind, late.id, late.token, 1)
        await sleep(30)
        expect(await store.saveAll(kind, [lapsedChange], note)).toMatchObject([{ status: 'to_execute', token: 2 }])
        const successor = (await next('w'))!
        expect(successor.token).toBe(3)
        expect(await refusal(store.renew(kind, late.id, late.token, 1000))).toMatchObject({ code: 'lease_lost' })
        expect(await refusal(complete(late))).toMatchObject({ code: 'lease_lost' })
        expect(await complete(successor)).toMatchObject({ status: 'completed', leaseUntil: null, finishedAt: at })
      })
    })

    describe('changing many', () => {
      test('makes what can be made, in one go, and leaves no trace of the rest', async () => {
        await store.insert(
          kind,
          Array.from({ length: 6 }, () => taskDraft('x')),
          note,
        )
        const items = await some('w', 5)
        await complete(items[0]!)
        await add('part', under(items[1]!.id))
        const before = await store.events({})
        const asked = [...items.slice(0, 3), { ...items[3]!, token: 7 }, items[4]!, { ...items[4]!, id: 'req_0099' }]
        const moves = asked.map(({ id, token }) => ({ id, token, to: 'completed', supposing: CLAIMED, by: 'w', at }))
        const made = await moveAll(store, kind, moves)
        expect(made.map(item => item?.id)).toEqual([undefined, undefined, 'req_0003', undefined, 'req_0005', undefined])
        expect(made[2]).toEqual(await get('req_0003'))
        const told = (await store.events({ after: before.at(-1)!.seq })).map(({ id, from, to, revision }) => [
          id,
          from,
          to,
          revision,
        ])
        expect(told).toEqual(['req_0003', 'req_0005'].map(id => [id, 'in_progress', 'completed', 3]))
        expect((await get('req_0002')).status).toBe('in_progress')
        expect((await get('req_0004')).status).toBe('in_progress')
      })

      test('of different kinds, and of one item twice, each on what the others left', async () => {
        await store.insert(kind, [taskDraft('a'), taskDraft('b')], note)
        const change = (
          id: string,
          fields: Readonly<Record<string, unknown>>,
          given?: Readonly<Record<string, string>>,
        ) => ({
          id,
          from: 'to_execute',
          fields,
          given,
        })
        const made = await store.saveAll(
          kind,
          [
            change('req_0001', { checkpoints: 1 }),
            change('req_0002', { status: 'cancelled', finishedAt: at }, { status: 'to_execute' }),
            change('req_0001', { checkpoints: 2 }),
            change('req_0002', { checkpoints: 9 }, { status: 'to_execute' }),
          ],
          note,
        )
        expect(made[3]).toBeUndefined()
        expect(await get('req_0001')).toMatchObject({ checkpoints: 2, revision: 3 })
        expect(await get('req_0002')).toMatchObject({ checkpoints: 0, status: 'cancelled', revision: 2 })
        expect(await store.saveAll(kind, [], note)).toEqual([])
      })

      test('a change is made only where everything it supposes is so', async () => {
        await store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1'))], note)
        const save = (given: Readonly<Record<string, string | number | readonly string[]>>) =>
          store.saveAll(kind, [{ id: 'req_0002', from: 'to_execute', given, fields: { checkpoints: 5 } }], note)
        expect(await save({ blockers: 0 })).toEqual([undefined])
        expect(await save({ status: ['staged', 'error'] })).toEqual([undefined])
        expect(await save({ blockers: 1, status: ['staged', 'to_execute'] })).toMatchObject([{ checkpoints: 5 }])
        const { revision } = await get('req_0002')
        const stale = { id: 'req_0002', revision: revision - 1, from: 'to_execute', fields: { checkpoints: 6 } }
        expect(await refusal(store.save(kind, stale, note))).toMatchObject({ code: 'changed_meanwhile' })
        const unlike = { id: 'req_0002', given: { blockers: 0 }, from: 'to_execute', fields: { checkpoints: 6 } }
        expect(await refusal(store.save(kind, unlike, note))).toMatchObject({ code: 'changed_meanwhile' })
        expect((await get('req_0002')).checkpoints).toBe(5)
      })

      test('of one task by many at once: one is made', async () => {
        await add('a')
        const item = (await next('w'))!
        const stores = await more(4)
        const moves = [{ id: item.id, token: item.token, to: 'completed', supposing: CLAIMED, by: 'w', at }]
        const answers = await Promise.all(stores.map(one => moveAll(one, kind, moves)))
        expect(answers.flat().filter(Boolean)).toHaveLength(1)
        expect(await store.events({ of: { kind, id: item.id } })).toHaveLength(3)
      })
    })

    describe('waiting for one another', () => {
      test('what is open or not there yet counts, what is completed does not', async () => {
        await store.insert(kind, [taskDraft('a'), taskDraft('b')], note)
        await finish('req_0001')
        const item = await add('c', waiting('req_0001', 'req_0002', 'req_0002', 'req_0004'))
        expect(item).toMatchObject({
          id: 'req_0003',
          blockers: 2,
          dependsOn: ['req_0001', 'req_0002', 'req_0002', 'req_0004'],
        })
        expect(await get('req_0003')).toEqual(item)
        expect(await store.events({ of: { kind, id: 'req_0003' } })).toMatchObject([{ revision: item.revision }])
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
        const added = (await store.insert(kind, drafts, note)).map(({ item }) => item)
        expect(added.map(({ dependsOn, blockers }) => [dependsOn, blockers])).toEqual([
          [['req_0002', 'req_0003'], 2],
          [[], 0],
          [['req_0002'], 1],
          [['req_0001'], 1],
        ])
        expect((await store.find(kind, {})).toSorted(byId)).toEqual(added)
        const taken: string[] = []
        for (let item = await next('w'); item; item = await next('w')) {
          taken.push(item.title)
          await complete(item)
        }
        expect(taken).toEqual(['b', 'c', 'a', 'd'])
      })

      test('completing frees, with an event that says why, and a new revision', async () => {
        await store.insert(
          kind,
          [taskDraft('a'), taskDraft('b'), taskDraft('c', waiting('#1', '#2')), taskDraft('d', waiting('#1'))],
          note,
        )
        await finish('req_0001')
        const before = await get('req_0003')
        const [freed] = await store.events({ of: { kind, id: 'req_0004' }, last: 1 })
        expect(freed).toMatchObject({ from: 'to_execute', to: 'to_execute', why: 'req_0001 is completed', by: 'w', at })
        expect(freed!.revision).toBe((await get('req_0004')).revision)
        expect(await store.events({ of: { kind, id: 'req_0003' } })).toHaveLength(1)
        await finish('req_0002')
        const after = await get('req_0003')
        expect(after).toEqual({ ...before, blockers: 0, revision: before.revision + 1 })
        expect(await store.events({ of: { kind, id: 'req_0003' } })).toMatchObject([
          { to: 'to_execute', from: null },
          { why: 'req_0002 is completed', revision: after.revision },
        ])
      })

      test('many completed in one go free what waited for several of them', async () => {
        await store.insert(
          kind,
          [taskDraft('a'), taskDraft('b'), taskDraft('c', waiting('#1', '#2')), taskDraft('d', waiting('#3'))],
          note,
        )
        const items = await some('w', 5)
        const moves = items.map(({ id, token }) => ({ id, token, to: 'completed', supposing: CLAIMED, by: 'w', at }))
        expect((await moveAll(store, kind, moves)).map(item => item?.id)).toEqual(['req_0001', 'req_0002'])
        expect(await get('req_0003')).toMatchObject({ blockers: 0 })
        expect(await get('req_0004')).toMatchObject({ blockers: 1 })
        expect(await store.events({ of: { kind, id: 'req_0003' } })).toHaveLength(2)
        expect((await next('w'))?.title).toBe('c')
      })

      test('what fails or is cancelled frees nothing', async () => {
        await store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1'))], note)
        const item = await claimed('req_0001')
        await move(store, kind, { id: item.id, to: 'error', token: item.token, by: 'w', at })
        expect((await get('req_0002')).blockers).toBe(1)
        await move(store, kind, { id: item.id, to: 'cancelled', by: 'w', at })
        expect((await get('req_0002')).blockers).toBe(1)
        expect(await next('w')).toBeUndefined()
      })

      test('what is completed stays completed, and what it freed stays free', async () => {
        await store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1'))], note)
        await finish('req_0001')
        for (const to of ['to_execute', 'in_progress', 'error', 'cancelled']) {
          expect(await refusal(move(store, kind, { id: 'req_0001', to, by: 'w', at }))).toMatchObject({
            code: 'move_refused',
          })
        }
        expect((await get('req_0002')).blockers).toBe(0)
      })

      test('parts keep their task from being begun and from being completed', async () => {
        await add('whole')
        const whole = (await next('w'))!
        const [one, two] = (
          await store.insert(kind, [taskDraft('one', under('req_0001')), taskDraft('two', under('req_0001'))], note)
        ).map(({ item }) => item)
        expect(await counts('req_0001')).toEqual({ blockers: 2, children: 2 })
        expect(await refusal(complete(whole))).toMatchObject({ code: 'move_refused' })
        await finish(one!.id)
        await finish(two!.id)
        expect(await counts('req_0001')).toEqual({ blockers: 0, children: 2 })
        expect((await store.events({ of: { kind, id: 'req_0001' }, last: 1 }))[0]).toMatchObject({
          from: 'in_progress',
          to: 'in_progress',
          why: 'req_0001_02 is completed',
        })
        expect(await complete(whole)).toMatchObject({ status: 'completed', children: 2 })
        expect(await refusal(store.insert(kind, [taskDraft('three', under('req_0001'))], note))).toMatchObject({
          code: 'move_refused',
        })
        expect(await ids()).toHaveLength(3)
      })

      test('a task goes on without what is waived, be it a dependency or a part', async () => {
        await store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1', 'req_0077'))], note)
        await add('part', under('req_0002'))
        expect(await counts('req_0002')).toEqual({ blockers: 3, children: 1 })
        expect(await waive('req_0002', 'req_0077')).toMatchObject({ blockers: 2, waived: { req_0077: 'not needed' } })
        expect(await waive('req_0002', 'req_0002_01')).toMatchObject({ blockers: 1, children: 1 })
        await finish('req_0002_01')
        expect((await get('req_0002')).blockers).toBe(1)
        const saved = await waive('req_0002', 'req_0001')
        expect(saved).toMatchObject({ blockers: 0 })
        expect((await store.events({ of: { kind, id: 'req_0002' }, last: 1 }))[0]!.revision).toBe(saved.revision)
        expect((await next('w'))?.title).toBe('a')
        expect((await next('w'))?.title).toBe('b')
        await complete(await get('req_0001'))
        expect((await get('req_0002')).blockers).toBe(0)
      })

      test('items come from another store in any order, and everything is counted anew', async () => {
        await store.insert(kind, [taskDraft('here', waiting('req_0007', 'req_0008'))], note)
        await store.load(kind, [
          keptTask('req_0005_01', { fields: { dependsOn: ['req_0009'], blockers: 7 } }),
          keptTask('req_0005_02', { status: 'completed' }),
          keptTask('req_0007', { status: 'completed' }),
          keptTask('req_0005', {
            fields: { dependsOn: ['req_0007', 'req_0008'], waived: { req_0008: 'x' }, children: 9 },
          }),
          keptTask('req_0008', { fields: { dependsOn: ['req_0005'] } }),
          keptTask('req_0001_01'),
        ])
        const all = await store.find(kind, {})
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
          const added = (await store.insert(kind, drafts, note)).map(({ item }) => item)
          const items = await Promise.all(added.slice(0, 3).map(({ id }, n) => claimed(id, 'w', stores[n])))
          await Promise.all(items.map((item, n) => complete(item, stores[n])))
          for (const { id } of added.slice(3)) {
            expect(await get(id)).toMatchObject({ blockers: 0 })
            expect(await store.events({ of: { kind, id } })).toHaveLength(2)
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
          const added = answers[1]!.status === 'fulfilled'
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
          const added = await store.insert(
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
        await store.insert(kind, drafts, note)
        const stores = [store, ...(await more(3))]
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
          (await store.find(kind, {})).every(({ status, blockers }) => status === 'completed' && blockers === 0),
        ).toBe(true)
      })
    })

    test('whoever waits is woken by what was added, and by what was freed', async () => {
      const [other] = await more(1)
      await store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1'))], note)
      const item = (await next('w'))!
      const seen = async () => (await store.events({ last: 1 }))[0]!.seq
      for (const happen of [() => complete(item, other), () => other!.insert(kind, [taskDraft('c')], note)]) {
        const wait = store.changed(await seen(), 30_000)
        await happen()
        await wait
        expect(await next('w')).toBeDefined()
      }
    })

    test('texts are kept with a task, and new ones replace those of the same name', async () => {
      const { id, revision } = await add('a')
      await store.save(kind, { id, revision, from: 'to_execute', fields: {}, texts: { 'notes.md': 'one' } }, note)
      await store.saveAll(
        kind,
        [{ id, from: 'to_execute', fields: { checkpoints: 1 }, texts: { 'notes.md': 'two', 'more.md': 'x' } }],
        note,
      )
      const texts = (await store.texts(kind, [id], true)).get(id)
      expect(texts).toMatchObject({ 'notes.md': 'two', 'more.md': 'x' })
      expect(texts?.[DEFINITION]).toContain('What to do about a.')
      expect((await store.texts(kind, ['req_0099'])).size).toBe(0)
    })

    test('there is nothing to put right', async () => {
      await add('a')
      expect(await store.recover(kind, note)).toEqual([])
      expect(await store.recover(kind, note, 'req_0001')).toEqual([])
    })
  })
}

const byId = (one: Task, other: Task) => (one.id < other.id ? -1 : 1)

async function refusal(answer: Promise<unknown>): Promise<{ code: ProblemCode }> {
  const error = await answer.then(
    () => expect.fail('was not refused'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof Problem)) throw error
  return error
}
