import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { todo } from '../../src/backlog/kind.ts'
import { columnsOf } from '../../src/core/keeping.ts'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { planItem } from '../../src/plans/record.ts'
import { draft, note } from '../support/drafts.ts'
import { scratch } from '../support/scratch.ts'
import { keptTodo, todoDraft } from '../support/todos.ts'

const first = join(import.meta.dirname, '../../src/engines/sqlite/migrations/0001-plan.sql')

/** A file as the first version left it, with one plan item that is being worked on and its events. */
function ofVersion1(path: string): void {
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = WAL; BEGIN; ${readFileSync(first, 'utf8')};
    PRAGMA application_id = 0x506e6368; PRAGMA user_version = 1; COMMIT;
    INSERT INTO turn_todos (id, conversationId, turnId, title, status, createdAt, owner, token, revision)
      VALUES ('x', 'c1', 't1', 'old', 'in_progress', '2026-01-01T00:00:00.000Z', 'w1', 1, 2);
    INSERT INTO events (at, kind, id, title, "from", "to", by, revision, token)
      VALUES ('2026-01-01T00:00:00.000Z', 'plan_item', 'x', 'old', NULL, 'pending', 'w1', 1, 0),
        ('2026-01-01T00:00:01.000Z', 'plan_item', 'x', 'old', 'pending', 'in_progress', 'w1', 2, 1);`)
  db.close()
}

describe('a file of the first version', () => {
  test('is brought to the present one when it is opened, and keeps its items and events', async () => {
    const path = join(scratch(), 'list.db')
    ofVersion1(path)
    const store = openSqliteStore(path)
    const version = new DatabaseSync(path).prepare('PRAGMA user_version').all()
    expect(version).toEqual([{ user_version: 7 }])
    expect(await store.find(planItem, {})).toMatchObject([
      { id: 'x', title: 'old', owner: 'w1', token: 1, revision: 2 },
    ])
    expect((await store.events({ of: { kind: planItem, id: 'x' } })).map(({ to }) => to)).toEqual([
      'pending',
      'in_progress',
    ])
    expect((await store.renew(planItem, 'x', 1, 60_000)).leaseUntil).not.toBeNull()
    expect((await store.insert(todo, [todoDraft('new')], note))[0]!.item.id).toBe('work/s1/review/001')
    expect((await store.inspect()).every(({ ok }) => ok)).toBe(true)
    await store.close()
  })

  test('may be open in an older program meanwhile, which goes on with what it knows', async () => {
    const path = join(scratch(), 'list.db')
    ofVersion1(path)
    const older = new DatabaseSync(path)
    const complete = older.prepare(`UPDATE turn_todos SET status = 'completed' WHERE id = ?`)
    const store = openSqliteStore(path)
    complete.run('x')
    expect(await store.find(planItem, {})).toMatchObject([{ status: 'completed' }])
    older.close()
    await store.close()
  })
})

describe('the table of todos', () => {
  const db = () => {
    const path = join(scratch(), 'list.db')
    openSqliteStore(path)
    return new DatabaseSync(path)
  }

  test('has exactly the columns of the kind, and so has the one that follows the files', () => {
    const columns = (table: string) => db().prepare(`SELECT name FROM pragma_table_info('${table}')`).all()
    const names = columnsOf(todo).map(name => ({ name }))
    expect(columns('backlog_todos')).toEqual(names)
    expect(columns('files_backlog_todos')).toEqual(names)
  })

  test('holds statuses to their words, and one item to an identity; the one that follows the files does not', () => {
    const one = db()
    const add = (table: string, id: string, status = 'ready') =>
      one.exec(`INSERT INTO ${table} (id, title, status, token, revision, identity, workflow, session, source, file, issue_id)
        VALUES ('${id}', 't', '${status}', 0, 1, 'same', 'work', 's1', 'review', 'f', '001')`)
    for (const table of ['backlog_todos', 'files_backlog_todos']) {
      for (const status of Object.keys(todo.lifecycle.statuses)) {
        one.exec('BEGIN')
        add(table, 'x', status)
        one.exec('ROLLBACK')
      }
      expect(() => add(table, 'y', 'done')).toThrow('CHECK')
      add(table, 'a')
    }
    expect(() => add('backlog_todos', 'b')).toThrow('UNIQUE')
    add('files_backlog_todos', 'b')
  })

  test('answers what is open, which lists there are, and one item’s events from an index', () => {
    const one = db()
    const plan = (sql: string) => one.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    const s1 = `workflow = 'work' AND session = 's1'`
    expect(
      plan(`SELECT title FROM backlog_todos WHERE ${s1} AND status IN ('ready') ORDER BY rowid LIMIT 1`),
    ).toMatchObject([
      { detail: 'SEARCH backlog_todos USING INDEX backlog_todos_session (workflow=? AND session=? AND status=?)' },
    ])
    const names = plan(`SELECT session FROM backlog_todos WHERE workflow = 'work' GROUP BY session ORDER BY min(rowid)`)
    expect(names[0]).toMatchObject({
      detail: 'SEARCH backlog_todos USING COVERING INDEX backlog_todos_session (workflow=?)',
    })
    expect(plan(`SELECT * FROM events WHERE kind = 'todo' AND id = 'x' AND seq > 0 ORDER BY seq`)).toMatchObject([
      { detail: 'SEARCH events USING INDEX events_by_item (kind=? AND id=? AND seq>?)' },
    ])
    const texts = plan(`SELECT name FROM texts WHERE kind = 'todo' AND id IN (SELECT value FROM json_each('[]'))`)
    expect(texts[0]).toMatchObject({ detail: expect.stringContaining('(kind=? AND id=?)') })
  })
})

test('several processes that add to one list at once are never given the same number', async () => {
  const path = join(scratch(), 'list.db')
  await openSqliteStore(path).close()
  const worker = join(import.meta.dirname, '../support/numbering-worker.ts')
  const workers = Array.from({ length: 4 }, (_, n) => {
    const child = spawn(process.execPath, [worker, path, `w${n}`, '25'], { stdio: ['pipe', 'pipe', 'inherit'] })
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
  })
  await Promise.all(workers.map(({ lines }) => lines.next()))
  for (const { child } of workers) child.stdin.write('go\n')
  const given = await Promise.all(
    workers.map(async ({ lines }) => JSON.parse(String((await lines.next()).value)) as number[]),
  )
  expect(given.flat().toSorted((x, y) => x - y)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1))
})

test('what another store kept comes with the token of its last claim, and not twice by identity', async () => {
  const store = openSqliteStore(':memory:')
  const finding = { fields: { finding_id: 'F', source_ref: 'r' } }
  const history = ['pending', 'ready'].map(to => ({ at: note.at, from: null, to, by: 'w', why: null }))
  const kept = keptTodo('a', 1, { ...finding, token: 5, history })
  await store.load(todo, [kept])
  expect((await store.events({})).map(({ token }) => token)).toEqual([0, 5])
  const same = keptTodo('b', 2, finding)
  await expect(store.load(todo, [keptTodo('c', 3), same])).rejects.toMatchObject({
    code: 'move_refused',
    details: { ids: [same.id] },
  })
  expect(await store.find(todo, {})).toHaveLength(1)
  await store.close()
})

test('an item that comes with an id of its own takes its number', async () => {
  const store = openSqliteStore(':memory:')
  const { id, fields } = todo.numbers!.give(todoDraft('own'), 12)
  const own = todoDraft('own', { fields })
  expect((await store.insert(todo, [{ ...own, id }], note))[0]!.item).toMatchObject({ id, issue_id: '012' })
  expect((await store.insert(todo, [todoDraft('next')], note))[0]!.item.issue_id).toBe('013')
  await expect(store.insert(planItem, [{ ...draft('x'), id: undefined }], note)).rejects.toThrow('needs an id')
  await store.close()
})
