import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { todo } from '../../src/backlog/kind.ts'
import { columnsOf } from '../../src/core/keeping.ts'
import type { Store } from '../../src/core/store.ts'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { planItem } from '../../src/plans/record.ts'
import { note } from '../support/drafts.ts'
import { freshSchema } from '../support/postgres.ts'
import { keptTodo, todoDraft } from '../support/todos.ts'

let url: string
let schema: string
/** A connection past the engine. */
let other: Client
const stores: Store[] = []
const open = async () => {
  const store = await openPostgresStore(url)
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

test('a schema of the first version is brought to the newest when it is opened, and keeps its items and events', async () => {
  const first = new URL('../../src/engines/postgres/migrations/0001-plan.sql', import.meta.url)
  await other.query(`BEGIN; CREATE SCHEMA "${schema}"; SET LOCAL search_path = "${schema}";
    CREATE TABLE migrations (version integer PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now());
    ${readFileSync(first, 'utf8')};
    INSERT INTO migrations (version, name) VALUES (1, '0001-plan.sql');
    INSERT INTO turn_todos (id, "conversationId", "turnId", title, status, "createdAt", owner, token, revision)
      VALUES ('x', 'c1', 't1', 'old', 'in_progress', '2026-01-01T00:00:00.000Z', 'w1', 1, 2);
    INSERT INTO events (at, kind, id, title, "from", "to", by, revision, token)
      VALUES ('2026-01-01T00:00:00.000Z', 'plan_item', 'x', 'old', NULL, 'pending', 'w1', 1, 0),
        ('2026-01-01T00:00:01.000Z', 'plan_item', 'x', 'old', 'pending', 'in_progress', 'w1', 2, 1);
    COMMIT`)
  const [store] = await Promise.all([open(), open(), open()])
  const { rows } = await other.query(`SELECT version FROM "${schema}".migrations ORDER BY version`)
  expect(rows).toEqual([1, 2, 3, 4, 5, 6, 7].map(version => ({ version })))
  expect(await store.find(planItem, {})).toMatchObject([{ id: 'x', title: 'old', owner: 'w1', token: 1, revision: 2 }])
  expect((await store.events({ of: { kind: planItem, id: 'x' } })).map(({ to }) => to)).toEqual([
    'pending',
    'in_progress',
  ])
  expect((await store.renew(planItem, 'x', 1, 60_000)).leaseUntil).not.toBeNull()
  expect((await store.insert(todo, [todoDraft('new')], note))[0]!.item.id).toBe('work/s1/review/001')
})

test('the table of todos has exactly the columns of the kind, and the order of arrival', async () => {
  await open()
  const { rows } = await other.query(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2
      ORDER BY ordinal_position`,
    [schema, todo.table],
  )
  expect(rows.map(({ name }) => name)).toEqual([...columnsOf(todo), 'n'])
})

test('what another store kept comes with the token of its last claim, and not twice by identity', async () => {
  const store = await open()
  const finding = { fields: { finding_id: 'F', source_ref: 'r' } }
  const history = ['pending', 'ready'].map(to => ({ at: note.at, from: null, to, by: 'w', why: null }))
  await store.load(todo, [keptTodo('a', 1, { ...finding, token: 5, history })])
  expect((await store.events({})).map(({ token }) => token)).toEqual([0, 5])
  const same = keptTodo('b', 2, finding)
  await expect(store.load(todo, [keptTodo('c', 3), same])).rejects.toMatchObject({
    code: 'move_refused',
    details: { ids: [same.id] },
  })
  expect(await store.find(todo, {})).toHaveLength(1)
})

test('thousands are loaded in few round trips, with every text and every event', async () => {
  const store = await open()
  const items = Array.from({ length: 1_700 }, (_, n) => keptTodo(`i${n}`, n + 1, { body: `text ${n}` }))
  const asked = vi.spyOn(Client.prototype, 'query')
  await store.load(todo, items)
  expect(asked.mock.calls.length).toBeLessThan(16)
  asked.mockRestore()
  expect((await store.find(todo, {})).map(({ id }) => id)).toEqual(items.map(({ id }) => id))
  const texts = await store.texts(
    todo,
    items.map(({ id }) => id),
  )
  expect(items.map(({ id }) => texts.get(id))).toEqual(items.map(item => item.texts))
  expect((await store.events({})).map(({ title }) => title)).toEqual(items.map((_, n) => `i${n}`))
})

test('an item that comes with an id of its own takes its number', async () => {
  const store = await open()
  const { id, fields } = todo.numbers!.give(todoDraft('own'), 12)
  const own = { ...todoDraft('own', { fields }), id }
  const added = await store.insert(todo, [todoDraft('before'), own, todoDraft('next')], note)
  expect(added.map(({ item }) => item.issue_id)).toEqual(['013', '012', '014'])
})

test('a list is added to while another one is, and only within a list one waits for the other', async () => {
  const store = await open()
  await store.insert(todo, [todoDraft('a'), todoDraft('b', { fields: { source: 'audit' } })], note)
  await other.query(`BEGIN; SELECT 1 FROM "${schema}".numbers WHERE list LIKE '%review%' FOR UPDATE`)
  let waiting = true
  const held = store.insert(todo, [todoDraft('c')], note).finally(() => {
    waiting = false
  })
  expect((await store.insert(todo, [todoDraft('d', { fields: { source: 'audit' } })], note))[0]!.item.issue_id).toBe(
    '002',
  )
  expect(waiting).toBe(true)
  await other.query('COMMIT')
  expect((await held)[0]!.item.issue_id).toBe('002')
})
