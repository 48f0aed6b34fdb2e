import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { open, type Punchlist } from '../src/index.ts'
import { raceOnFile } from '../test/support/race.ts'
import { median, ms, perSecond, type Row, rates } from './measure.ts'

export async function sqlite(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    return [await throughLibrary(folder), await growth(folder), await fairness(folder)]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One item made, started and completed: through the library, and by the bare statements, a transaction each, in the same file. */
async function throughLibrary(folder: string): Promise<Row> {
  const path = join(folder, 'library.db')
  const punchlist = await open({ root: folder, store: `sqlite:${path}`, turn: 'bench' })
  const db = new DatabaseSync(path)
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -32768',
  )
  const insert = db.prepare(
    `INSERT INTO turn_todos (id, conversationId, turnId, title, createdAt) VALUES (?, 'bare', ?, ?, ?)`,
  )
  const begin = db.prepare(`UPDATE turn_todos SET status = 'in_progress', startedAt = ? WHERE id = ?`)
  const finish = db.prepare(`UPDATE turn_todos SET status = 'completed', completedAt = ?, outcome = ? WHERE id = ?`)
  const together = (statement: () => void) => {
    db.exec('BEGIN IMMEDIATE')
    statement()
    db.exec('COMMIT')
  }
  let turn = 0
  const [ours, bare] = await rates(
    [
      async times => {
        const plan = punchlist.as({ turnId: `t${turn++}` }).plan
        for (let n = 0; n < times; n++) {
          const { created } = await plan.create({ items: [{ title: `item ${n}` }] })
          await plan.start({ todoId: created[0]!.id })
          await plan.complete({ todoId: created[0]!.id, outcome: 'done' })
        }
      },
      async times => {
        const name = `t${turn++}`
        for (let n = 0; n < times; n++) {
          const id = randomUUID()
          const at = new Date().toISOString()
          together(() => insert.run(id, name, `item ${n}`, at))
          together(() => begin.run(at, id))
          together(() => finish.run(at, 'done', id))
        }
      },
    ],
    200,
    8,
  )
  db.close()
  await punchlist.close()
  return {
    what: 'SQLite: create + start + complete of one item, through the library',
    ours: perSecond(ours!),
    against: `bare statements: ${perSecond(bare!)}`,
    ratio: ours! / bare!,
    bar: 0.5,
    must: 'at least',
  }
}

/** The list of one turn of 20 items, in a store of a thousand items and in one of a million. */
async function growth(folder: string): Promise<Row> {
  const stores = [1000, 1_000_000].map(async size => {
    const path = join(folder, `growth-${size}.db`)
    const punchlist = await open({ root: folder, store: `sqlite:${path}`, turn: 'mine' })
    await punchlist.plan.create({ items: Array.from({ length: 20 }, (_, n) => ({ title: `item ${n}` })) })
    const db = new DatabaseSync(path)
    db.exec(`WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < ${size})
      INSERT INTO turn_todos (id, conversationId, turnId, title, status, outcome, priority, createdAt)
      SELECT 'x' || i, 'default', 't' || (i / 20), 'item ' || i, iif(i % 4, 'completed', 'pending'), 'done', i % 20,
        '2026-01-01T00:00:00.000Z' FROM n`)
    db.close()
    return { punchlist, times: [] as number[] }
  })
  const [few, many] = (await Promise.all(stores)) as [Grown, Grown]
  for (let n = 0; n < 2000; n++) {
    for (const { punchlist, times } of [few, many]) {
      const began = performance.now()
      await punchlist.plan.list()
      times.push(performance.now() - began)
    }
  }
  await Promise.all([few, many].map(({ punchlist }) => punchlist.close()))
  const [ours, against] = [median(many.times), median(few.times)]
  return {
    what: 'SQLite: list of a turn, 1 million stored items',
    ours: ms(ours),
    against: `1 thousand: ${ms(against)}`,
    ratio: ours / against,
    bar: 1.5,
    must: 'at most',
  }
}

interface Grown {
  readonly punchlist: Punchlist
  readonly times: number[]
}

/** Eight processes on one file: what the slowest gets done, against the fastest. */
async function fairness(folder: string): Promise<Row> {
  const path = join(folder, 'fair.db')
  await (await open({ root: folder, store: `sqlite:${path}` })).close()
  const counts = await raceOnFile(path, 8, 10_000)
  const [slowest, fastest] = [Math.min(...counts), Math.max(...counts)]
  return {
    what: 'SQLite: 8 processes on one file, the slowest',
    ours: `${slowest} in 10 s`,
    against: `the fastest: ${fastest}`,
    ratio: slowest / fastest,
    bar: 0.3,
    must: 'at least',
  }
}
