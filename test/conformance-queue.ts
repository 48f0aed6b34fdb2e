import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { move, moveAll } from '../src/core/move.ts'
import { DEFINITION } from '../src/queue/format.ts'
import { task as kind } from '../src/queue/kind.ts'
import { at, CLAIMED, note, type Opening, queueHere, refusal } from './support/queue-here.ts'
import { keptTask, taskDraft } from './support/tasks.ts'

/** What every engine owes to kinds whose items are claimed by order. `open` as for `conformance`. */
export function queueConformance(name: string, open: Opening): void {
  describe(`tasks in the ${name} engine`, () => {
    const here = queueHere(open)
    const { add, waiting, under, get, ids, next, some, complete, finish, counts, more } = here

    describe('adding', () => {
      test('numbers tasks one after the other, and the parts of each task for themselves', async () => {
        expect(
          (await here.store.insert(kind, [taskDraft('a'), taskDraft('b')], note)).map(({ item }) => item),
        ).toMatchObject([
          { id: 'req_0001', family: 1, number: 1, parent: '', revision: 1, token: 0, status: 'to_execute' },
          { id: 'req_0002', family: 2, number: 2 },
        ])
        const parts = await here.store.insert(
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
        await here.store.insert(
          kind,
          Array.from({ length: 98 }, () => taskDraft('part', under('req_0001'))),
          note,
        )
        const events = await here.store.events({})
        const two = [taskDraft('99th', under('req_0001')), taskDraft('100th', under('req_0001'))]
        expect(await refusal(here.store.insert(kind, two, note))).toMatchObject({ code: 'move_refused' })
        expect(await counts('req_0001')).toEqual({ blockers: 98, children: 98 })
        expect(await here.store.events({})).toEqual(events)
        expect((await add('99th', under('req_0001'))).id).toBe('req_0001_99')
      })

      test('the same identity is the same task, whoever adds it and whenever', async () => {
        const stores = await more(4)
        const same = () => taskDraft('once', { identity: 'k' })
        const answers = await Promise.all(stores.map(one => one.insert(kind, [same()], note)))
        expect(answers.filter(([answer]) => answer!.created)).toHaveLength(1)
        expect(new Set(answers.map(([answer]) => answer!.item.id)).size).toBe(1)
        const [first, dependant] = await here.store.insert(kind, [same(), taskDraft('then', waiting('#1'))], note)
        expect(first).toMatchObject({ created: false, item: { title: 'once' } })
        expect(dependant!.item).toMatchObject({ dependsOn: [first!.item.id], blockers: 1 })
        await finish(first!.item.id)
        expect((await here.store.insert(kind, [same()], note))[0]).toMatchObject({
          created: false,
          item: { status: 'completed' },
        })
      })

      test('the definition of a task tells its id and those of its batch that it waits for', async () => {
        const drafts = [taskDraft('last', waiting('#2', '#3')), taskDraft('first'), taskDraft('second')]
        const [last] = await here.store.insert(kind, drafts, note)
        const text = (await here.store.texts(kind, [last!.item.id])).get('req_0001')?.[DEFINITION]
        expect(text).toContain('# Request #0001: last')
        expect(text).toContain('req_0002, req_0003')
      })
    })

    describe('the order', () => {
      test('is by priority, then by time, then by number, however long a number is', async () => {
        await here.store.load(kind, [
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
        expect(await here.store.count(kind, { where: { targetWorker: ['w1', 'w2'] } })).toEqual({ to_execute: 2 })
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
        await here.store.insert(kind, drafts, note)
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
        await here.store.insert(kind, [...theirs, taskDraft('mine', { fields: { targetWorker: 'w' } })], note)
        expect((await next('w'))?.title).toBe('mine')
      })

      test('many at once: each task is given once, in order', async () => {
        await here.store.insert(
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
        const told = (await here.store.events({})).filter(({ to }) => to === 'in_progress')
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
        await here.store.insert(kind, [...drafts, taskDraft('mine', { fields: { targetWorker: 'w' } })], note)
        const taken = (await some('w', 10)).map(({ title }) => title)
        expect(taken).toEqual(['CRITICAL', 'NORMAL', 'mine', 'LOW'])
        expect((await here.store.events({ last: 4 })).map(({ title }) => title)).toEqual(taken)
      })

      test('what becomes more urgent is claimed next, whoever added it', async () => {
        await here.store.insert(kind, [taskDraft('a'), taskDraft('b'), taskDraft('c')], note)
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
        await here.store.insert(kind, [taskDraft('a'), taskDraft('b'), taskDraft('c')], note)
        const first = (await next('w'))!
        await next('w')
        await move(here.store, kind, { id: first.id, to: 'to_execute', token: first.token, by: 'w', at })
        expect(await next('w')).toMatchObject({ title: 'a', token: 3 })
      })

      test('a token that is not the current one is refused', async () => {
        await add('a')
        const late = (await next('late', here.store, 1))!
        await sleep(30)
        expect((await here.store.lapsed(kind, 10)).map(({ id }) => id)).toEqual([late.id])
        expect(await here.store.renew(kind, late.id, late.token, 60_000)).toMatchObject({ token: 1 })
        expect(await here.store.lapsed(kind, 10)).toEqual([])
        const lapsedChange = {
          id: late.id,
          from: 'in_progress',
          token: 1,
          lapsed: true,
          fields: { status: 'to_execute', token: 2 },
        }
        expect(await here.store.saveAll(kind, [lapsedChange], note)).toEqual([undefined])
        await here.store.renew(kind, late.id, late.token, 1)
        await sleep(30)
        expect(await here.store.saveAll(kind, [lapsedChange], note)).toMatchObject([{ status: 'to_execute', token: 2 }])
        const successor = (await next('w'))!
        expect(successor.token).toBe(3)
        expect(await refusal(here.store.renew(kind, late.id, late.token, 1000))).toMatchObject({ code: 'lease_lost' })
        expect(await refusal(complete(late))).toMatchObject({ code: 'lease_lost' })
        expect(await complete(successor)).toMatchObject({ status: 'completed', leaseUntil: null, finishedAt: at })
      })
    })

    describe('changing many', () => {
      test('makes what can be made, in one go, and leaves no trace of the rest', async () => {
        await here.store.insert(
          kind,
          Array.from({ length: 6 }, () => taskDraft('x')),
          note,
        )
        const items = await some('w', 5)
        await complete(items[0]!)
        await add('part', under(items[1]!.id))
        const before = await here.store.events({})
        const asked = [...items.slice(0, 3), { ...items[3]!, token: 7 }, items[4]!, { ...items[4]!, id: 'req_0099' }]
        const moves = asked.map(({ id, token }) => ({ id, token, to: 'completed', supposing: CLAIMED, by: 'w', at }))
        const made = await moveAll(here.store, kind, moves)
        expect(made.map(item => item?.id)).toEqual([undefined, undefined, 'req_0003', undefined, 'req_0005', undefined])
        expect(made[2]).toEqual(await get('req_0003'))
        const told = (await here.store.events({ after: before.at(-1)!.seq })).map(({ id, from, to, revision }) => [
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
        await here.store.insert(kind, [taskDraft('a'), taskDraft('b')], note)
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
        const made = await here.store.saveAll(
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
        expect(await here.store.saveAll(kind, [], note)).toEqual([])
      })

      test('a change is made only where everything it supposes is so', async () => {
        await here.store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1'))], note)
        const save = (given: Readonly<Record<string, string | number | readonly string[]>>) =>
          here.store.saveAll(kind, [{ id: 'req_0002', from: 'to_execute', given, fields: { checkpoints: 5 } }], note)
        expect(await save({ blockers: 0 })).toEqual([undefined])
        expect(await save({ status: ['staged', 'error'] })).toEqual([undefined])
        expect(await save({ blockers: 1, status: ['staged', 'to_execute'] })).toMatchObject([{ checkpoints: 5 }])
        const { revision } = await get('req_0002')
        const stale = { id: 'req_0002', revision: revision - 1, from: 'to_execute', fields: { checkpoints: 6 } }
        expect(await refusal(here.store.save(kind, stale, note))).toMatchObject({ code: 'changed_meanwhile' })
        const unlike = { id: 'req_0002', given: { blockers: 0 }, from: 'to_execute', fields: { checkpoints: 6 } }
        expect(await refusal(here.store.save(kind, unlike, note))).toMatchObject({ code: 'changed_meanwhile' })
        expect((await get('req_0002')).checkpoints).toBe(5)
      })

      test('of one task by many at once: one is made', async () => {
        await add('a')
        const item = (await next('w'))!
        const stores = await more(4)
        const moves = [{ id: item.id, token: item.token, to: 'completed', supposing: CLAIMED, by: 'w', at }]
        const answers = await Promise.all(stores.map(one => moveAll(one, kind, moves)))
        expect(answers.flat().filter(Boolean)).toHaveLength(1)
        expect(await here.store.events({ of: { kind, id: item.id } })).toHaveLength(3)
      })
    })

    test('whoever waits is woken by what was added, and by what was freed', async () => {
      const [other] = await more(1)
      await here.store.insert(kind, [taskDraft('a'), taskDraft('b', waiting('#1'))], note)
      const item = (await next('w'))!
      const seen = async () => (await here.store.events({ last: 1 }))[0]!.seq
      for (const happen of [() => complete(item, other), () => other!.insert(kind, [taskDraft('c')], note)]) {
        const wait = here.store.changed(await seen(), 30_000)
        await happen()
        await wait
        expect(await next('w')).toBeDefined()
      }
    })

    test('texts are kept with a task, and new ones replace those of the same name', async () => {
      const { id, revision } = await add('a')
      await here.store.save(kind, { id, revision, from: 'to_execute', fields: {}, texts: { 'notes.md': 'one' } }, note)
      await here.store.saveAll(
        kind,
        [{ id, from: 'to_execute', fields: { checkpoints: 1 }, texts: { 'notes.md': 'two', 'more.md': 'x' } }],
        note,
      )
      const texts = (await here.store.texts(kind, [id], true)).get(id)
      expect(texts).toMatchObject({ 'notes.md': 'two', 'more.md': 'x' })
      expect(texts?.[DEFINITION]).toContain('What to do about a.')
      expect((await here.store.texts(kind, ['req_0099'])).size).toBe(0)
    })

    test('there is nothing to put right', async () => {
      await add('a')
      expect(await here.store.recover(kind, note)).toEqual([])
      expect(await here.store.recover(kind, note, { id: 'req_0001' })).toEqual([])
    })
  })
}
