import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { todo } from '../../src/backlog/kind.ts'
import type { Problem } from '../../src/core/problem.ts'
import type { Store } from '../../src/core/store.ts'
import { problemFor, Unconnected } from '../../src/engines/postgres/problems.ts'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { planItem as kind } from '../../src/plans/record.ts'
import { draft, note } from '../support/drafts.ts'
import { freshSchema, PASSWORD, startPostgres } from '../support/postgres.ts'
import { type Wire, wireTo } from '../support/postgres-wire.ts'
import { keptTodo, todoDraft } from '../support/todos.ts'

const stores: Store[] = []
const open = async (...given: Parameters<typeof openPostgresStore>) => {
  const store = await openPostgresStore(...given)
  stores.push(store)
  return store
}
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.close()))
})

const mine = { where: { conversationId: 'c1', turnId: 't1' }, status: ['pending'] }
const claim = (owner: string) => ({ owner, leaseMs: 60_000, fields: { status: 'in_progress', startedAt: note.at } })

/** Adds, claims and completes until told to stop; `done` gets the ids whose completion was answered. */
async function work(store: Store, name: string, going: () => boolean, done: string[]): Promise<void> {
  for (let n = 0; going(); n++) {
    await store.insert(kind, [draft(`${name}-${n}`)], note)
    const item = await store.take(kind, mine, claim(name), note)
    if (!item) continue
    expect(item).toMatchObject({ owner: name, token: 1, status: 'in_progress' })
    const fields = { status: 'completed', outcome: name, leaseUntil: null }
    const saved = await store.save(
      kind,
      { id: item.id, revision: item.revision, from: 'in_progress', token: 1, fields },
      note,
    )
    expect(saved).toMatchObject({ outcome: name, revision: 3 })
    done.push(item.id)
  }
}

/** Lets four workers go on while `disturb` does its worst: then everything must have happened once. */
async function nothingLostOrTwice(url: string, disturb: () => Promise<void>): Promise<void> {
  const two = [await open(url), await open(url)]
  const done: string[] = []
  let going = true
  const workers = Promise.all(['w1', 'w2', 'w3', 'w4'].map((name, n) => work(two[n % 2]!, name, () => going, done)))
  await Promise.race([workers, disturb()])
  for (const before = done.length; done.length < before + 8; ) await Promise.race([workers, sleep(10)])
  going = false
  await workers
  const items = await two[0]!.find(kind, {})
  expect(
    items
      .filter(({ status }) => status === 'completed')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(done.toSorted())
  expect(items.filter(({ status }) => status === 'in_progress')).toEqual([])
  expect(items.map(({ priority }) => priority)).toEqual(items.map((_, place) => place))
  const steps = new Map<string, string[]>()
  for (const { id, to } of await two[0]!.events({})) steps.set(id, [...(steps.get(id) ?? []), to])
  for (const { id, status } of items) {
    expect(steps.get(id)).toEqual(status === 'pending' ? ['pending'] : ['pending', 'in_progress', 'completed'])
  }
  expect(steps.size).toBe(items.length)
}

describe('a server that fails', () => {
  test('killed and started again in the middle of work, it loses nothing, does nothing twice, and work goes on', async () => {
    const server = await startPostgres()
    try {
      await nothingLostOrTwice(freshSchema(server.url), async () => {
        for (let n = 0; n < 2; n++) {
          await sleep(400)
          await server.kill()
          await server.restart()
        }
        await sleep(400)
      })
      await Promise.all(stores.splice(0).map(store => store.close()))
    } finally {
      await server.stop()
    }
  })

  test('connections ended by the server in the middle of work are made anew', async () => {
    const url = freshSchema(inject('postgres'))
    const name = new URL(url).searchParams.get('schema')
    await nothingLostOrTwice(`${url}&application_name=${name}`, () =>
      asking(async ask => {
        let ended = 0
        for (let n = 0; n < 30; n++) {
          await sleep(30)
          ended += (
            await ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`)
          ).length
        }
        expect(ended).toBeGreaterThan(10)
      }),
    )
  })

  test('when it cannot be reached, that is said within seconds, with what to do, and without the password', async () => {
    const began = performance.now()
    const problem = await refusal(openPostgresStore(`postgres://someone:${PASSWORD}@127.0.0.1:1/there`))
    expect(problem).toMatchObject({ code: 'store_unreachable', hint: expect.stringContaining('server runs') })
    expect(performance.now() - began).toBeLessThan(8_000)
    expect(performance.now() - began).toBeGreaterThan(4_000)
  })

  test('an address that cannot be right is refused at once, and without the password', async () => {
    const server = new URL(inject('postgres'))
    const wrong = (change: (url: URL) => void) => {
      const url = new URL(server)
      change(url)
      return refusal(openPostgresStore(url.href))
    }
    expect(await wrong(url => (url.password = `${PASSWORD}-not`))).toMatchObject({
      code: 'store_unreachable',
      hint: expect.stringContaining('password'),
    })
    expect(await wrong(url => (url.pathname = '/nowhere'))).toMatchObject({
      code: 'store_unreachable',
      hint: expect.stringContaining('database'),
    })
    expect(await wrong(url => (url.search = '?schema=Not-a-name'))).toMatchObject({ code: 'bad_input' })
    expect(await wrong(url => (url.search = '?sslmode=verify-full'))).toMatchObject({ code: 'store_unreachable' })
    const nonsense = await refusal(openPostgresStore(`postgres://x:${PASSWORD}@a b:c/d`))
    expect(nonsense).toMatchObject({ code: 'store_unreachable' })
    expect(await refusal(openPostgresStore(`http://x:${PASSWORD}@localhost/d`))).toMatchObject({
      code: 'store_unreachable',
    })
  })

  test('what it reports becomes a problem to act on', () => {
    const reported = (code: string) => problemFor(Object.assign(new Error('as reported'), { code }), 'here')
    const codes = {
      '53100': 'store_full',
      '25006': 'store_read_only',
      '42501': 'store_read_only',
      '57014': 'store_busy',
    }
    for (const [code, expected] of Object.entries(codes)) expect(reported(code)).toMatchObject({ code: expected })
    for (const code of ['57P01', '57P03', '53300', '08006']) {
      expect(problemFor(new Unconnected(reported(code)), 'here')).toMatchObject({ code: 'store_unreachable' })
    }
    expect(reported('42601')).not.toHaveProperty('hint')
  })

  test('a wait outlives it, and still ends in time', async () => {
    const wire = await wireTo(Number(new URL(inject('postgres')).port))
    const store = await open(over(wire, freshSchema(inject('postgres'))))
    wire.freeze()
    const began = performance.now()
    await store.changed(0, 700)
    expect(performance.now() - began).toBeLessThan(1_500)
    wire.close()
  })
})

describe('a connection that breaks', () => {
  const wires: Wire[] = []
  const wired = async (options = {}) => {
    const url = freshSchema(inject('postgres'))
    const wire = await wireTo(Number(new URL(url).port))
    wires.push(wire)
    const direct = await open(url)
    return { wire, url, direct, store: await open(over(wire, url), options) }
  }
  afterEach(() => {
    for (const wire of wires.splice(0)) wire.close()
  })
  const cut = { ...note, by: 'cut-here' }

  for (const lose of ['request', 'answer'] as const) {
    test(`with the ${lose} of a claim: the item is claimed once, and by the one who asked`, async () => {
      const { wire, store, direct } = await wired()
      await store.insert(kind, [draft('a'), draft('b')], note)
      const cutting = wire.cut('cut-here', lose)
      const taken = await store.take(kind, mine, claim('w1'), cut)
      await cutting
      expect(taken).toMatchObject({ title: 'a', owner: 'w1', token: 1, revision: 2 })
      expect(await direct.find(kind, { where: { id: taken!.id } })).toEqual([taken])
      expect(await direct.events({})).toHaveLength(3)
      expect(await store.take(kind, mine, claim('w2'), note)).toMatchObject({ title: 'b' })
    })

    test(`with the ${lose} of a change: it is made once`, async () => {
      const { wire, store, direct } = await wired()
      const [added] = await store.insert(kind, [draft('a')], note)
      const cutting = wire.cut('cut-here', lose)
      const change = { id: added!.item.id, revision: 1, from: 'pending', fields: { context: 'new' } }
      const saved = await store.save(kind, change, cut)
      await cutting
      expect(saved).toMatchObject({ context: 'new', revision: 2 })
      expect(await direct.find(kind, {})).toEqual([saved])
      expect(await direct.events({})).toHaveLength(2)
    })

    for (const moment of ['cut-here', 'COMMIT']) {
      test(`with the ${lose} of a ${moment === 'COMMIT' ? 'commit' : 'statement'} amid several moves: all are made, once`, async () => {
        const { wire, store, direct } = await wired()
        const [added] = await store.insert(todo, [todoDraft('a', { status: 'ready' })], note)
        const { id } = added!.item
        const fields = { status: 'in_progress', assigned_to: 'ann', claimed_at: note.at }
        await store.take(todo, { where: { id } }, { owner: 'ann', fields }, note)
        const cutting = wire.cut(moment, lose)
        const steps = [
          { from: 'in_progress', fields: { status: 'interrupted', resolution_reason: 'x', token: 2 } },
          { from: 'interrupted', fields: { status: 'ready', resolution_reason: null, owner: null, token: 3 } },
        ].map((change, index) => ({ change: { id, revision: 2 + index, ...change }, note: cut }))
        const last = { claim: { owner: 'bob', fields: { ...fields, assigned_to: 'bob' } }, note: cut }
        const saved = await store.saveSteps(todo, [steps[0]!, ...steps.slice(1)], last)
        await cutting
        expect(saved).toMatchObject({ owner: 'bob', token: 4, revision: 5 })
        expect(await direct.find(todo, {})).toEqual([saved])
        const told = (await direct.events({})).map(({ to }) => to)
        expect(told).toEqual(['ready', 'in_progress', 'interrupted', 'ready', 'in_progress'])
      })
    }

    test(`with the ${lose} of an addition: it is made once`, async () => {
      const { wire, store, direct } = await wired()
      const cutting = wire.cut('cut-here', lose)
      const added = await store.insert(kind, [draft('a'), draft('b')], cut)
      await cutting
      expect(added.map(({ created, item }) => [created, item.title, item.priority])).toEqual([
        [true, 'a', 0],
        [true, 'b', 1],
      ])
      expect(await direct.events({})).toHaveLength(2)
    })

    test(`with the ${lose} of a commit: a batch is added once`, async () => {
      const { wire, store, direct } = await wired()
      const [held] = await store.insert(kind, [draft('held', { identity: 'k' })], note)
      const cutting = wire.cut('COMMIT', lose)
      const added = await store.insert(
        kind,
        [draft('a'), draft('k again', { identity: 'k' }), draft('b', { at: 0 })],
        note,
      )
      await cutting
      expect(added.map(({ created, item }) => [created, item.title, item.priority])).toEqual([
        [true, 'a', 2],
        [false, 'held', 1],
        [true, 'b', 0],
      ])
      expect(added[1]!.item.id).toBe(held!.item.id)
      expect(await direct.events({})).toHaveLength(3)
    })

    for (const moment of ['cut-here', 'COMMIT']) {
      const when = moment === 'COMMIT' ? 'commit' : 'statement'

      test(`with the ${lose} of a ${when} that adds what is numbered: each gets one number, and none is lost`, async () => {
        const { wire, store, direct } = await wired()
        const finding = { fields: { finding_id: 'F', source_ref: 'r' } }
        await store.insert(todo, [todoDraft('held', finding)], note)
        const cutting = wire.cut(moment, lose)
        const drafts = [todoDraft('a'), todoDraft('again', finding), todoDraft('b', { body: 'text of b' })]
        const added = await store.insert(todo, drafts, cut)
        await cutting
        expect(added.map(({ created, item }) => [created, item.title, item.issue_id])).toEqual([
          [true, 'a', '002'],
          [false, 'held', '001'],
          [true, 'b', '003'],
        ])
        expect((await direct.find(todo, {})).map(({ title }) => title)).toEqual(['held', 'a', 'b'])
        const { id } = added[2]!.item
        expect((await direct.texts(todo, [id])).get(id)).toEqual({ body: 'text of b' })
        expect(await direct.events({})).toHaveLength(3)
        expect((await direct.insert(todo, [todoDraft('c')], note))[0]!.item.issue_id).toBe('004')
      })
    }

    test(`with the ${lose} of a commit, while a rival takes the next number: nobody is given the other's item`, async () => {
      const { wire, store, direct } = await wired()
      const cutting = wire.cut('COMMIT', lose)
      const adding = store.insert(todo, [todoDraft('mine')], note)
      await cutting
      const [rival] = await direct.insert(todo, [todoDraft('rival')], note)
      const [own] = await adding
      expect([own!.item.title, rival!.item.title]).toEqual(['mine', 'rival'])
      expect([own!.item.issue_id, rival!.item.issue_id].toSorted()).toEqual(['001', '002'])
    })

    test(`with the ${lose} of a commit: what is loaded is loaded once`, async () => {
      const { wire, store, direct } = await wired()
      const cutting = wire.cut('COMMIT', lose)
      await store.load(todo, [keptTodo('a', 1), keptTodo('b', 2)])
      await cutting
      expect((await direct.find(todo, {})).map(({ title }) => title)).toEqual(['a', 'b'])
      expect(await direct.events({})).toHaveLength(2)
    })

    test(`with the ${lose} of a removal: it is made once, and its count is right`, async () => {
      const { wire, store, direct } = await wired()
      await store.insert(todo, [todoDraft('a'), todoDraft('b'), todoDraft('c')], note)
      const cutting = wire.cut('cut-here', lose)
      expect(await store.remove(todo, { workflow: 'work', session: 's1' }, cut)).toEqual({ count: 3, to: null })
      await cutting
      expect(await direct.find(todo, {})).toEqual([])
      expect(await direct.events({})).toHaveLength(6)
    })
  }

  test('while the server is still at it: what was given up can no longer happen', async () => {
    const { wire, store, direct, url } = await wired()
    const [added] = await store.insert(kind, [draft('a')], note)
    const { id } = added!.item
    const schema = new URL(url).searchParams.get('schema')
    await asking(async ask => {
      await ask('BEGIN')
      await ask(`SELECT 1 FROM "${schema}".turn_todos WHERE id = '${id}' FOR UPDATE`)
      const cutting = wire.cut('cut-here', 'client')
      const taking = store.take(kind, { where: { id }, status: ['pending'] }, claim('w1'), cut)
      await cutting
      // Both the claim that was cut off and the one sent instead are waiting for the row by now.
      for (let waiting = 0; waiting < 2; await sleep(10)) {
        const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%'`
        // Asked from outside: a transaction sees one and the same picture of it throughout.
        waiting = (await asking(outside => outside(sql))).length
      }
      await ask('COMMIT')
      expect(await taking).toMatchObject({ owner: 'w1', token: 1, revision: 2 })
      await sleep(100)
      expect(await direct.find(kind, {})).toMatchObject([{ token: 1, revision: 2 }])
      expect(await direct.events({})).toHaveLength(2)
    })
  })

  test('without a word: the call notices within seconds and goes on by itself', async () => {
    const { wire, store, direct } = await wired({ statementTimeoutMs: 1_000, connectTimeoutMs: 1_000 })
    await store.insert(kind, [draft('a')], note)
    wire.freeze()
    const taking = store.take(kind, mine, claim('w1'), note)
    setTimeout(() => wire.thaw(), 2_500)
    expect(await taking).toMatchObject({ title: 'a', token: 1 })
    expect(await direct.events({})).toHaveLength(2)
  })

  test('for good: the call fails with a problem instead of hanging', async () => {
    const { wire, store } = await wired({ statementTimeoutMs: 500, connectTimeoutMs: 300, patienceMs: 300 })
    wire.freeze()
    expect(await refusal(store.insert(kind, [draft('a')], note))).toMatchObject({ code: 'store_unreachable' })
  })
})

/** One connection of our own, past the engine. */
async function asking<T>(errand: (ask: (sql: string) => Promise<unknown[]>) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: inject('postgres') })
  await client.connect()
  try {
    return await errand(async sql => (await client.query(sql)).rows)
  } finally {
    await client.end()
  }
}

function over(wire: Wire, url: string): string {
  const changed = new URL(url)
  changed.port = `${wire.port}`
  return changed.href
}

async function refusal(answer: Promise<unknown>): Promise<Problem> {
  const problem = await answer.then(
    () => expect.fail('was not refused'),
    (error: Problem) => error,
  )
  expect(problem.code).toBeDefined()
  expect(`${problem.message} ${problem.hint} ${JSON.stringify(problem)}`).not.toContain(PASSWORD)
  return problem
}
