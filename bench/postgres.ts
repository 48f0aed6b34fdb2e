import { Pool } from 'pg'
import { openPostgresStore } from '../src/engines/postgres/store.ts'
import { planItem } from '../src/plans/record.ts'
import { freshSchema, startPostgres } from '../test/support/postgres.ts'
import { perSecond, type Row, rates } from './measure.ts'

const WORKERS = 4

/** Claims by four workers: through the port, with lease, token and event; and by the bare statement, on the same server. */
export async function postgres(): Promise<Row[]> {
  const server = await startPostgres()
  try {
    const url = freshSchema(server.url)
    const schema = new URL(url).searchParams.get('schema')!
    const store = await openPostgresStore(url, { poolSize: WORKERS })
    const plain = new URL(url)
    plain.searchParams.delete('schema')
    const pool = new Pool({ connectionString: plain.href, max: WORKERS })
    const fill = async (turnId: string, count: number) =>
      await pool.query(`INSERT INTO "${schema}".turn_todos (id, "conversationId", "turnId", title, priority, "createdAt")
        SELECT gen_random_uuid(), 'c', '${turnId}', 'item ' || i, i, '2026-01-01T00:00:00.000Z' FROM generate_series(1, ${count}) i`)
    const sql = `UPDATE "${schema}".turn_todos SET status = 'in_progress' WHERE id = (SELECT id FROM "${schema}".turn_todos
      WHERE "conversationId" = $1 AND "turnId" = $2 AND status = 'pending' ORDER BY priority, n LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *`
    const [turns, times] = [6, 1500]
    for (const turnId of ['ours', 'bare']) await fill(turnId, turns * times)
    await pool.query(`VACUUM ANALYZE "${schema}".turn_todos`)
    const note = { by: 'bench', at: new Date().toISOString() }
    const query = { where: { conversationId: 'c', turnId: 'ours' }, status: ['pending'] }
    const claim = { owner: 'w', leaseMs: 60_000, fields: { status: 'in_progress', startedAt: note.at } }
    const shared = async (count: number, one: () => Promise<unknown>) => {
      let left = count
      await Promise.all(
        Array.from({ length: WORKERS }, async () => {
          while (left-- > 0) if (!(await one())) throw new Error('there was nothing to claim')
        }),
      )
    }
    const [ours, bare] = await rates(
      [
        async count => await shared(count, async () => await store.take(planItem, query, claim, note)),
        async count =>
          await shared(
            count,
            async () => (await pool.query({ name: 'bare', text: sql, values: ['c', 'bare'] })).rows.length > 0,
          ),
      ],
      times,
      turns,
    )
    await pool.end()
    await store.close()
    return [
      {
        what: 'PostgreSQL: claims with lease, token and event, 4 workers',
        ours: perSecond(ours!),
        against: `bare SKIP LOCKED: ${perSecond(bare!)}`,
        ratio: ours! / bare!,
        bar: 0.7,
        must: 'at least',
      },
    ]
  } finally {
    await server.stop()
  }
}
