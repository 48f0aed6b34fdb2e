import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import { todo } from '../../src/backlog/kind.ts'
import type { Store } from '../../src/core/store.ts'
import { Statements } from '../../src/engines/postgres/statements.ts'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { taking } from '../../src/engines/postgres/taking.ts'
import { planItem as kind } from '../../src/plans/record.ts'
import { draft, note } from '../support/drafts.ts'
import { freshSchema } from '../support/postgres.ts'
import { keptTodo, todoDraft } from '../support/todos.ts'

const run = promisify(execFile)
const mine = { where: { conversationId: 'c1', turnId: 't1' }, status: ['pending'] }
const claim = { owner: 'w1', leaseMs: 60_000, fields: { status: 'in_progress', startedAt: note.at } }

let url: string
let schema: string
/** A connection past the engine, as another program has it. */
let other: Client
const stores: Store[] = []
const open = async (address = url) => {
  const store = await openPostgresStore(address)
  stores.push(store)
  return store
}

beforeEach(async () => {
  url = freshSchema(inject('postgres'))
  schema = new URL(url).searchParams.get('schema')!
  other = new Client({ connectionString: inject('postgres') })
  await other.connect()
})
afterEach(async () => {
  await other.end()
  await Promise.all(stores.splice(0).map(store => store.close()))
})

const rival = (owner: string) =>
  run(process.execPath, [new URL('../support/postgres-rival.ts', import.meta.url).pathname, url, owner])

describe('several processes', () => {
  test('may open a new schema at the same moment', async () => {
    const fresh = freshSchema(inject('postgres'))
    await Promise.all(Array.from({ length: 8 }, () => open(fresh)))
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => rival(`w${n}`)))
    expect(answers.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 8 }, () => '[]'))
  })

  test('claim every item once', async () => {
    const store = await open()
    const titles = Array.from({ length: 200 }, (_, n) => `i${n}`)
    await store.insert(
      kind,
      titles.map(title => draft(title)),
      note,
    )
    const answers = await Promise.all(['w1', 'w2', 'w3', 'w4'].map(rival))
    const taken = answers.flatMap(({ stdout }) => JSON.parse(stdout) as string[])
    expect(taken.toSorted()).toEqual(titles.toSorted())
  })
})

describe('a schema', () => {
  test('of a newer version is refused before anything is written', async () => {
    const store = await open()
    await other.query(`INSERT INTO "${schema}".migrations (version, name) VALUES (99, 'from the future')`)
    await expect(open()).rejects.toMatchObject({ code: 'newer_schema', details: { version: 99 } })
    expect(await store.find(kind, {})).toEqual([])
    const { rows } = await other.query(`SELECT version FROM "${schema}".migrations ORDER BY version`)
    expect(rows).toEqual([
      { version: 1 },
      { version: 2 },
      { version: 3 },
      { version: 4 },
      { version: 5 },
      { version: 6 },
      { version: 7 },
      { version: 99 },
    ])
  })

  test('that is up to date is opened without writing, and a write that is not allowed is a problem', async () => {
    await open()
    const store = await open(`${url}&options=-c%20default_transaction_read_only%3Don`)
    expect(await store.find(kind, {})).toEqual([])
    await expect(store.insert(kind, [draft('a')], note)).rejects.toMatchObject({ code: 'store_read_only' })
    expect((await store.inspect()).filter(({ ok }) => !ok)).toMatchObject([{ check: 'writable' }])
  })

  test('with tables of another program is left alone', async () => {
    await other.query(`CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".turn_todos (id text)`)
    await expect(open()).rejects.toMatchObject({ code: 'unreadable_file' })
  })

  test('may be made by somebody else for a user who cannot make one', async () => {
    const user = `${schema}_user`
    await other.query(`CREATE ROLE "${user}" LOGIN PASSWORD 'small'`)
    const address = new URL(url)
    address.username = user
    address.password = 'small'
    await expect(open(address.href)).rejects.toMatchObject({ code: 'store_read_only' })
    await other.query(`CREATE SCHEMA "${schema}" AUTHORIZATION "${user}"`)
    const store = await open(address.href)
    expect(await store.insert(kind, [draft('a')], note)).toMatchObject([{ created: true }])
  })
})

test('without the driver, it is said how to get it', async () => {
  const missing = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (name === 'pg') throw Object.assign(new Error('none'), { code: 'ERR_MODULE_NOT_FOUND' })
      return next(name, context)
    } })`
  const program = `const { openPostgresStore } = await import('./src/engines/postgres/store.ts')
    await openPostgresStore('postgres://localhost/x').catch(problem => console.log(JSON.stringify(problem)))`
  const { stdout } = await run(process.execPath, [
    `--import=data:text/javascript,${encodeURIComponent(missing)}`,
    '--input-type=module',
    '--eval',
    program,
  ])
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'unsupported_runtime', hint: 'npm install pg' } })
})

describe('an item', () => {
  test('that another program added with the columns it knows is as good as ours', async () => {
    const store = await open()
    await other.query(
      `INSERT INTO "${schema}".turn_todos (id, "conversationId", "turnId", title, context, "completionCriteria",
        "agentType", status, priority, outcome, "createdAt", "startedAt", "completedAt")
        VALUES ('x', 'c1', 't1', 'theirs', '', '', NULL, 'pending', 0, NULL, '2026-01-01', NULL, NULL)`,
    )
    await store.insert(kind, [draft('ours')], note)
    expect((await store.find(kind, {})).map(({ title, priority }) => [title, priority])).toEqual([
      ['theirs', 0],
      ['ours', 1],
    ])
    const taken = await store.take(kind, mine, claim, note)
    expect(taken).toMatchObject({ id: 'x', token: 1, revision: 2, identity: null, evidence: null })
  })

  test('is found next without reading what is finished or sorting what waits', async () => {
    await open()
    await other.query(`ALTER TABLE "${schema}".turn_todos SET (autovacuum_enabled = off)`)
    const add = (from: number, to: number, status: string) =>
      other.query(
        `INSERT INTO "${schema}".turn_todos (id, "conversationId", "turnId", title, status, priority, "createdAt")
          SELECT 'i' || n, 'c1', 't1', 'x', '${status}', n, '' FROM generate_series(${from}, ${to}) n`,
      )
    const statements = new Statements(schema)
    const mark = '00000000-0000-7000-8000-000000000000'
    const { sql, values } = taking(statements, kind, mine, claim, { note, mark, wait: false })
    const plan = async () => {
      const { rows } = await other.query({ text: `EXPLAIN ${sql}`, values: [...values] })
      return rows.map(row => String(row['QUERY PLAN'])).join('\n')
    }
    // Also on an empty table: a connection keeps the plan it made there until the server has new figures.
    const plans = [await plan()]
    await add(1, 2_000, 'pending')
    plans.push(await plan())
    await add(-20_000, 0, 'completed')
    plans.push(await plan())
    await other.query(`ANALYZE "${schema}".turn_todos`)
    plans.push(await plan())
    for (const text of plans) {
      expect(text).toContain('Index Scan using turn_todos_next')
      expect(text).not.toMatch(/Sort|Seq Scan|Bitmap/)
    }
  })

  test('that somebody holds for a moment is waited for, when it is asked for by name or is the last', async () => {
    const store = await open()
    const [added] = await store.insert(kind, [draft('a')], note)
    for (const query of [{ where: { id: added!.item.id }, status: ['pending'] }, mine]) {
      await other.query('BEGIN')
      await other.query(`SELECT 1 FROM "${schema}".turn_todos FOR UPDATE`)
      const waiting = store.take(kind, query, claim, note)
      await sleep(50)
      await other.query('COMMIT')
      const taken = await waiting
      expect(taken).toMatchObject({ title: 'a' })
      const back = { status: 'pending', owner: null, leaseUntil: null }
      await store.save(kind, { id: taken!.id, revision: taken!.revision, from: 'in_progress', fields: back }, note)
    }
  })
})

test('a thousand drafts are added in few round trips', async () => {
  const store = await open()
  const drafts = Array.from({ length: 1_000 }, (_, n) =>
    draft(`i${n}`, { identity: `k${n}`, fields: { turnId: `t${n % 3}` } }),
  )
  const asked = vi.spyOn(Client.prototype, 'query')
  const added = await store.insert(kind, drafts, note)
  expect(asked.mock.calls.length).toBeLessThan(8)
  asked.mockRestore()
  expect(added.map(({ item }) => item.title)).toEqual(drafts.map(({ title }) => title))
  expect(await store.count(kind, { where: { turnId: 't0' } })).toEqual({ pending: 334 })
  expect((await store.events({})).map(({ title }) => title)).toEqual(drafts.map(({ title }) => title))
})

describe('a follower', () => {
  const begin = async () => {
    await other.query('BEGIN')
    await other.query(`SELECT ${new Statements(schema).sharingFeed}`)
    await other.query(
      `INSERT INTO "${schema}".events (at, kind, id, title, "to", by, revision, token)
        VALUES ('', 'plan_item', 'slow', 'slow', 'pending', 'other', 1, 0)`,
    )
  }
  const titles = async (store: Store, after: number) => (await store.events({ after })).map(({ title }) => title)

  test('does not go past a number that is still to come', async () => {
    const store = await open()
    await store.insert(kind, [draft('first')], note)
    await begin()
    await store.insert(kind, [draft('quick')], note)
    const following = titles(store, 0)
    const newest = store.events({ last: 2 })
    await sleep(200)
    await other.query('COMMIT')
    expect(await following).toEqual(['first', 'slow', 'quick'])
    expect((await newest).map(({ title }) => title)).toEqual(['slow', 'quick'])
  })

  test('can make sure that nobody has drawn a number, as every writer waits with drawing one', async () => {
    const store = await open()
    const [added] = await store.insert(kind, [draft('a'), draft('b')], note)
    const drawn = async () => (await other.query(`SELECT last_value FROM "${schema}".events_seq_seq`)).rows
    const where = { workflow: 'work', session: 's1' }
    const writes = [
      () => store.insert(kind, [draft('c')], note),
      () => store.insert(todo, [todoDraft('d')], note),
      () => store.load(todo, [keptTodo('e', 7)]),
      () => store.remove(todo, where, note),
      () => store.take(kind, mine, claim, note),
      () => store.save(kind, { id: added!.item.id, revision: 2, from: 'in_progress', fields: { context: 'x' } }, note),
    ]
    for (const write of writes) {
      const before = await drawn()
      await other.query('BEGIN')
      await other.query(`SELECT ${new Statements(schema).closingFeed}`)
      const writing = write()
      await sleep(100)
      expect(await drawn()).toEqual(before)
      await other.query('COMMIT')
      await writing
      expect(await drawn()).not.toEqual(before)
    }
  })

  test('goes past one that was rolled back', async () => {
    const store = await open()
    await begin()
    await store.insert(kind, [draft('quick')], note)
    const following = titles(store, 0)
    await sleep(50)
    await other.query('ROLLBACK')
    expect(await following).toEqual(['quick'])
    expect(await titles(store, 0)).toEqual(['quick'])
  })

  test('is given what is sure when a writer takes too long, and the rest afterwards', async () => {
    const store = await open()
    await store.insert(kind, [draft('first')], note)
    await begin()
    await store.insert(kind, [draft('quick')], note)
    expect(await titles(store, 0)).toEqual(['first'])
    await other.query('COMMIT')
    expect(await titles(store, 1)).toEqual(['slow', 'quick'])
  })
})
