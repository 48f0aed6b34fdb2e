import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { columnsOf } from '../../src/core/keeping.ts'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { worklog as kind } from '../../src/worklogs/kind.ts'
import { worklogConformance } from '../conformance-worklog.ts'
import { scratch } from '../support/scratch.ts'

worklogConformance('sqlite', async () => {
  const path = join(scratch(), 'list.db')
  const again = async () => openSqliteStore(path)
  return { store: await again(), again }
})

describe('the table of worklogs', () => {
  const db = () => {
    const path = join(scratch(), 'list.db')
    openSqliteStore(path)
    return new DatabaseSync(path)
  }
  const tables = ['worklogs', 'files_worklogs']

  test('has exactly the columns of the kind, and so has the one that follows the files', () => {
    const one = db()
    for (const table of tables) {
      const columns = one.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()
      expect(columns).toEqual(columnsOf(kind).map(name => ({ name })))
    }
  })

  test('holds statuses to their words', () => {
    const one = db()
    const add = (table: string, status: string) =>
      one.exec(`INSERT INTO ${table} (id, title, status, token, revision, workflow, session, worker, file)
        VALUES ('${status}', 't', '${status}', 0, 1, 'work', 's1', 'ann', 'ann.md')`)
    for (const table of tables) {
      for (const status of Object.keys(kind.lifecycle.statuses)) add(table, status)
      expect(() => add(table, 'done')).toThrow('CHECK')
    }
  })

  test('answers who is in a session, which sessions there are, and who has an identity, from an index', () => {
    const one = db()
    const plan = (sql: string) => one.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()[0]
    for (const table of tables) {
      const s1 = `workflow = 'work' AND session = 's1'`
      expect(plan(`SELECT * FROM ${table} WHERE ${s1} ORDER BY rowid`)).toMatchObject({
        detail: `SEARCH ${table} USING INDEX ${table}_session (workflow=? AND session=?)`,
      })
      expect(plan(`SELECT session FROM ${table} WHERE workflow = 'work' GROUP BY session`)).toMatchObject({
        detail: `SEARCH ${table} USING COVERING INDEX ${table}_session (workflow=?)`,
      })
      expect(plan(`SELECT * FROM ${table} WHERE identity = 'x'`)).toMatchObject({
        detail: `SEARCH ${table} USING INDEX ${table}_identity (identity=?)`,
      })
    }
  })
})
