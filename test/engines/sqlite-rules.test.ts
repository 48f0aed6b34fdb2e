import { readdirSync, readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { Connection } from '../../src/engines/sqlite/connection.ts'
import { networkFileSystem, refuseNetwork } from '../../src/engines/sqlite/network.ts'
import { lastPlace } from '../../src/engines/sqlite/statements.ts'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { planItem } from '../../src/plans/record.ts'
import { draft, note } from '../support/drafts.ts'
import { raceOnFile } from '../support/race.ts'
import { scratch } from '../support/scratch.ts'
import { onSmallDisk } from '../support/small-disk.ts'

const folder = join(import.meta.dirname, '../../src/engines/sqlite')
const sources = readdirSync(folder)
  .filter(name => name.endsWith('.ts'))
  .map(name => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

/** Four ways in which a first version loses data or time. Each is a rule of the house. */
describe('the traps of SQLite', () => {
  describe('1: a write is never read back with get or an iterator, which hide a commit that failed', () => {
    test('no source does', () => {
      // Statements are made and run in one file alone; everywhere else a `get` is that of a map.
      const makers = sources.filter(({ text }) => /node:sqlite|\.prepare\(|StatementSync/.test(text))
      expect(makers.map(({ name }) => name)).toEqual(['connection.ts'])
      const lines = makers[0]!.text.split('\n').filter(line => /\.(?:get|iterate)\(/.test(line))
      expect(lines.map(line => line.trim())).toEqual(['let statement = this.statements.get(sql)'])
    })

    test('a disk that is full at the commit is an error, and nothing is stored', async () => {
      const result = await onSmallDisk(1024, join(import.meta.dirname, '../support/fill-disk.ts'))
      expect(result.refusals).toEqual(['store_full'])
      expect(result.stored).toBe(result.answered)
      expect(result.answered).toBeGreaterThan(0)
      expect(result.afterwards).toBe('went on')
    })
  })

  test('2: limits and statuses are literals, so that a statement is prepared once', () => {
    const text = sources.map(source => source.text).join('\n')
    expect(text).not.toMatch(/LIMIT (?:\?|:|\$(?!\{))/)
    expect(text).not.toMatch(/status (?:=|IN \() ?\?/)
  })

  test('3: waiting for the lock is our own, and fair: of eight processes none is left behind', async () => {
    const path = join(scratch(), 'list.db')
    openSqliteStore(path)
    const counts = await raceOnFile(path, 8, 2000)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(Math.min(...counts)).toBeGreaterThan(Math.max(...counts) / 10)
    const db = new DatabaseSync(path)
    expect(db.prepare('PRAGMA busy_timeout').get()).toBeDefined()
    expect(sources.some(({ text }) => /timeout: [1-9]|busy_timeout *=/.test(text))).toBe(false)
  })

  describe('4: a transaction takes the write lock when it begins', () => {
    test('so one that reads first and then writes waits for its rival instead of failing', () => {
      const path = join(scratch(), 'x.db')
      const [first, second] = [new Connection(path), new Connection(path, { busyMs: 50 })]
      first.exec('CREATE TABLE t (n INTEGER)')
      first.together(() => {
        first.all('SELECT * FROM t')
        expect(() => second.together(() => second.run('INSERT INTO t VALUES (1)'))).toThrow('locked')
        first.run('INSERT INTO t VALUES (2)')
      })
      second.together(() => {
        second.all('SELECT * FROM t')
        second.run('INSERT INTO t VALUES (3)')
      })
      expect(first.all('SELECT n FROM t').map(({ n }) => n)).toEqual([2, 3])
    })

    test('no source begins any other way', () => {
      const begins = sources.flatMap(({ text }) => text.match(/'BEGIN[^']*'/g) ?? [])
      expect(new Set(begins)).toEqual(new Set(["'BEGIN IMMEDIATE'"]))
    })
  })
})

describe('the file', () => {
  test('is kept to the last answered write: WAL, and a sync at every commit', () => {
    const path = join(scratch(), 'x.db')
    openSqliteStore(path)
    const connection = new Connection(path)
    // By the time anything is written.
    connection.together(() => {
      expect(connection.all('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
      expect(setting(connection, 'synchronous')).toBe(2)
      expect(setting(connection, 'foreign_keys')).toBe(1)
      expect(setting(connection, 'trusted_schema')).toBe(0)
    })
    const quick = new Connection(path, { durability: 'normal' })
    quick.together(() => expect(setting(quick, 'synchronous')).toBe(1))
  })

  test('has the table other programs know: their columns, their CHECK, their rows', async () => {
    const path = join(scratch(), 'list.db')
    const store = openSqliteStore(path)
    const db = new DatabaseSync(path)
    db.exec(
      `INSERT INTO turn_todos (id, conversationId, turnId, title, createdAt) VALUES ('x', 'c1', 't1', 'theirs', '2026-01-01T00:00:00.000Z')`,
    )
    expect(() => db.exec(`UPDATE turn_todos SET status = 'done'`)).toThrow('CHECK')
    const [theirs] = await store.find(planItem, { where: { conversationId: 'c1', turnId: 't1' } })
    expect(theirs).toMatchObject({
      id: 'x',
      status: 'pending',
      context: '',
      completionCriteria: '',
      priority: 0,
      revision: 1,
      token: 0,
    })
    const columns = db
      .prepare(`SELECT name, type, "notnull" AS required, dflt_value AS otherwise FROM pragma_table_info('turn_todos')`)
      .all()
    expect(
      columns.slice(0, 13).map(({ name, type, required, otherwise }) => [name, type, required, otherwise]),
    ).toEqual([
      ['id', 'TEXT', 1, null],
      ['conversationId', 'TEXT', 1, null],
      ['turnId', 'TEXT', 1, null],
      ['title', 'TEXT', 1, null],
      ['context', 'TEXT', 1, "''"],
      ['completionCriteria', 'TEXT', 1, "''"],
      ['agentType', 'TEXT', 0, null],
      ['status', 'TEXT', 1, "'pending'"],
      ['priority', 'INTEGER', 1, '0'],
      ['outcome', 'TEXT', 0, null],
      ['createdAt', 'TEXT', 1, null],
      ['startedAt', 'TEXT', 0, null],
      ['completedAt', 'TEXT', 0, null],
    ])
    await store.close()
  })

  test('answers the next claim, the list and the counts of a turn from an index, however much is finished', async () => {
    const path = join(scratch(), 'list.db')
    await openSqliteStore(path).close()
    const db = new DatabaseSync(path)
    const plan = (sql: string) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail)
    const list = `conversationId = 'c' AND turnId = 't'`
    const next = plan(
      `SELECT rowid FROM turn_todos WHERE ${list} AND status IN ('pending') ORDER BY priority, rowid LIMIT 1`,
    )
    expect(next).toEqual([
      'SEARCH turn_todos USING COVERING INDEX turn_todos_open (conversationId=? AND turnId=? AND status=?)',
    ])
    const counts = plan(`SELECT status, count(*) FROM turn_todos WHERE ${list} GROUP BY status`)
    expect(counts).toEqual(['SEARCH turn_todos USING COVERING INDEX turn_todos_open (conversationId=? AND turnId=?)'])
    const left = plan(
      `SELECT title FROM turn_todos WHERE ${list} AND status IN ('pending', 'in_progress') ORDER BY priority, rowid LIMIT 51`,
    )
    expect(left[0]).toBe('SEARCH turn_todos USING INDEX turn_todos_open (conversationId=? AND turnId=? AND status=?)')
    const end = plan(lastPlace(planItem, 'priority').replace(/\?\d/g, "'x'"))
    expect(end.filter(step => String(step).startsWith('SEARCH turn_todos'))).toEqual(
      Array.from(
        { length: 4 },
        () => 'SEARCH turn_todos USING COVERING INDEX turn_todos_open (conversationId=? AND turnId=? AND status=?)',
      ),
    )
    const turns = plan(
      `SELECT * FROM turns WHERE conversationId = 'c' AND status IN ('open') ORDER BY rowid DESC LIMIT 1`,
    )
    expect(turns).toEqual(['SEARCH turns USING INDEX turns_open (conversationId=? AND status=?)'])
  })

  test('is not made on a network file system', () => {
    const names = [0x6969, 0xff534d42, 0xff534d42 | 0, 0xfe534d42].map(networkFileSystem)
    expect(names).toEqual(['NFS', 'CIFS', 'CIFS', 'SMB2'])
    // Where this runs is a local disk, or one in memory.
    expect(networkFileSystem(statfsSync(scratch()).type)).toBeUndefined()
    expect(() => refuseNetwork(scratch())).not.toThrow()
  })

  test('a lease is not moved by the wall clock, and none outlives the machine’s run', async () => {
    const path = join(scratch(), 'list.db')
    const store = openSqliteStore(path)
    await store.insert(planItem, [draft('a')], note)
    await store.take(
      planItem,
      { status: ['pending'] },
      { owner: 'w', leaseMs: 60_000, fields: { status: 'in_progress' } },
      note,
    )
    const ahead = Date.now
    try {
      Date.now = () => ahead() + 3_600_000
      expect(await store.lapsed(planItem, 1)).toEqual([])
    } finally {
      Date.now = ahead
    }
    await store.close()
    // As if the machine had been started anew: its run has another name.
    const db = new DatabaseSync(path)
    db.exec(`UPDATE boots SET boot = 'an earlier run'`)
    db.close()
    const later = openSqliteStore(path)
    expect(await later.lapsed(planItem, 1)).toHaveLength(1)
    await later.close()
  })
})

function setting(connection: Connection, name: string): unknown {
  return connection.all(`PRAGMA ${name}`)[0]?.[name]
}
