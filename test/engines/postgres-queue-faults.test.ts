import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { claim, claimAll, move, moveAll } from '../../src/core/move.ts'
import { Problem } from '../../src/core/problem.ts'
import type { Store } from '../../src/core/store.ts'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { task as kind } from '../../src/queue/kind.ts'
import type { Task } from '../../src/queue/record.ts'
import { note } from '../support/drafts.ts'
import { freshSchema, startPostgres } from '../support/postgres.ts'
import { type Wire, wireTo } from '../support/postgres-wire.ts'
import { taskDraft } from '../support/tasks.ts'

const stores: Store[] = []
const open = async (...given: Parameters<typeof openPostgresStore>) => {
  const store = await openPostgresStore(...given)
  stores.push(store)
  return store
}
const closed = async () => {
  await Promise.all(stores.splice(0).map(store => store.close()))
}
afterEach(closed)

const { at } = note
const CLAIMED = { status: 'in_progress', blockers: 0 } as const
const wanted = (by: string) => ({
  where: { blockers: 0, targetWorker: ['', by] },
  to: 'in_progress',
  by,
  at,
  leaseMs: 60_000,
})
const completion = ({ id, token }: Task, by = 'w') => ({ id, token, to: 'completed', supposing: CLAIMED, by, at })

describe('a server that is killed and started again', () => {
  test('in the middle of claims and completions by several workers: nothing is lost, nothing happens twice, and what was waited for is free', async () => {
    const server = await startPostgres()
    try {
      const url = freshSchema(server.url)
      const two = [await open(url), await open(url)]
      const chains = 12
      const done: string[] = []
      let [going, killed] = [true, 0]
      const adding = (async () => {
        for (let n = 0; going; n++) {
          // Each of a chain waits for the one before.
          const drafts = Array.from({ length: chains }, (_, step) =>
            taskDraft(`task ${n} ${step}`, step === 0 ? {} : { fields: { dependsOn: [`#${step}`] } }),
          )
          await two[n % 2]!.insert(kind, drafts, note)
          await sleep(20)
        }
      })()
      const work = async (by: string, store: Store, batch: number) => {
        for (let idle = 0; going || idle < 3; ) {
          const items =
            batch > 1
              ? await claimAll(store, kind, { ...wanted(by), limit: batch })
              : [await claim(store, kind, wanted(by))].filter(item => item !== undefined)
          idle = items.length === 0 ? idle + 1 : 0
          if (items.length === 0) await sleep(20)
          for (const item of items)
            expect(item).toMatchObject({ owner: by, token: 1, status: 'in_progress', revision: expect.any(Number) })
          const ended =
            batch > 1
              ? await moveAll(
                  store,
                  kind,
                  items.map(item => completion(item, by)),
                )
              : await Promise.all(items.map(item => move(store, kind, completion(item, by))))
          for (const item of ended) done.push(item!.id)
        }
      }
      const workers = Promise.all(['w1', 'w2', 'w3', 'w4'].map((by, n) => work(by, two[n % 2]!, n < 2 ? 1 : 5)))
      const disturbed = (async () => {
        for (; killed < 2; killed++) {
          await sleep(500)
          await server.kill()
          await server.restart()
        }
        for (const before = done.length; done.length < before + 40; ) await sleep(10)
        going = false
      })()
      await Promise.race([Promise.all([workers, adding]), disturbed])
      await Promise.all([workers, adding, disturbed])
      const items = await two[0]!.find(kind, {})
      expect(new Set(done).size).toBe(done.length)
      expect(
        items
          .filter(({ status }) => status === 'completed')
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(done.toSorted())
      expect(items.filter(({ status, blockers }) => status !== 'completed' || blockers !== 0)).toEqual([])
      const steps = new Map<string, string[]>()
      for (const { id, to, why } of await two[0]!.events({}))
        steps.set(id, [...(steps.get(id) ?? []), why === null ? to : 'freed'])
      for (const { id, dependsOn } of items) {
        const freed = dependsOn.length > 0 ? ['freed'] : []
        expect(steps.get(id)).toEqual(['to_execute', ...freed, 'in_progress', 'completed'])
      }
      expect(steps.size).toBe(items.length)
      await closed()
    } finally {
      await server.stop()
    }
  })
})

describe('a connection that breaks', () => {
  const wires: Wire[] = []
  const wired = async () => {
    const url = freshSchema(inject('postgres'))
    const wire = await wireTo(Number(new URL(url).port))
    wires.push(wire)
    const through = new URL(url)
    through.port = `${wire.port}`
    return { wire, direct: await open(url), store: await open(through.href) }
  }
  afterEach(() => {
    for (const wire of wires.splice(0)) wire.close()
  })
  const cut = { by: 'cut-here', at }

  for (const lose of ['request', 'answer'] as const) {
    test(`with the ${lose} of a claim of many: each is claimed once, and by the one who asked`, async () => {
      const { wire, store, direct } = await wired()
      await store.insert(
        kind,
        Array.from({ length: 5 }, () => taskDraft('x')),
        note,
      )
      const cutting = wire.cut('cut-here', lose)
      const taken = await claimAll(store, kind, { ...wanted('cut-here'), limit: 3 })
      await cutting
      expect(taken.map(({ id, owner, token, revision }) => [id, owner, token, revision])).toEqual(
        ['req_0001', 'req_0002', 'req_0003'].map(id => [id, 'cut-here', 1, 2]),
      )
      expect((await direct.find(kind, { status: ['in_progress'] })).map(({ id }) => id)).toEqual(
        taken.map(({ id }) => id),
      )
      expect(await direct.events({})).toHaveLength(8)
      expect((await claimAll(store, kind, { ...wanted('w'), limit: 3 })).map(({ id }) => id)).toEqual([
        'req_0004',
        'req_0005',
      ])
    })

    test(`with the ${lose} of many changes: each is made once, and it is known which were`, async () => {
      const { wire, store, direct } = await wired()
      const drafts = [
        taskDraft('a'),
        taskDraft('b'),
        taskDraft('c'),
        taskDraft('d', { fields: { dependsOn: ['#1', '#3'] } }),
      ]
      await store.insert(kind, drafts, note)
      const items = await claimAll(store, kind, { ...wanted('w'), limit: 3 })
      const stale = { ...items[1]!, token: 9 }
      const cutting = wire.cut('cut-here', lose)
      const moves = [items[0]!, stale, items[2]!].map(item => completion(item, 'cut-here'))
      const made = await moveAll(store, kind, moves)
      await cutting
      expect(made.map(item => item && [item.id, item.status, item.revision])).toEqual([
        ['req_0001', 'completed', 3],
        undefined,
        ['req_0003', 'completed', 3],
      ])
      expect(await direct.find(kind, { where: { id: 'req_0004' } })).toMatchObject([{ blockers: 0, revision: 2 }])
      expect(await direct.events({})).toHaveLength(10)
    })

    test(`with the ${lose} of a task that is added: it is added once, with the next number`, async () => {
      const { wire, store, direct } = await wired()
      await store.insert(kind, [taskDraft('a')], note)
      const cutting = wire.cut('cut-here', lose)
      const [added] = await store.insert(kind, [taskDraft('b')], cut)
      await cutting
      expect(added).toMatchObject({ created: true, item: { id: 'req_0002', title: 'b' } })
      expect(await direct.find(kind, {})).toHaveLength(2)
      expect(await direct.events({})).toHaveLength(2)
      expect((await direct.insert(kind, [taskDraft('c')], note))[0]!.item.id).toBe('req_0003')
      expect((await store.insert(kind, [taskDraft('d')], note))[0]!.item.id).toBe('req_0004')
    })

    test(`with the ${lose} of a commit that changes what a task waits for: it is counted once`, async () => {
      const { wire, store, direct } = await wired()
      await store.insert(kind, [taskDraft('a'), taskDraft('b', { fields: { dependsOn: ['#1'] } })], note)
      const cutting = wire.cut('COMMIT', lose)
      const change = { id: 'req_0002', revision: 1, from: 'to_execute', fields: { waived: { req_0001: 'x' } } }
      expect(await store.save(kind, change, note)).toMatchObject({ blockers: 0, revision: 2 })
      await cutting
      expect(await direct.find(kind, { where: { id: 'req_0002' } })).toMatchObject([{ blockers: 0, revision: 2 }])
      expect(await direct.events({})).toHaveLength(3)
    })
  }

  test('for good in the middle of changes: nothing is half made', async () => {
    const { wire, store, direct } = await wired()
    await store.insert(kind, [taskDraft('a'), taskDraft('b', { fields: { dependsOn: ['#1'] } })], note)
    const item = (await claim(store, kind, wanted('w')))!
    wire.close()
    const problem = await move(store, kind, completion(item)).catch((error: unknown) => error)
    expect(problem).toBeInstanceOf(Problem)
    expect(problem).toMatchObject({ code: 'store_unreachable' })
    expect(await direct.find(kind, {})).toMatchObject([{ status: 'in_progress' }, { blockers: 1 }])
  })
})
