import { readFileSync } from 'node:fs'
import type { Client } from 'pg'
import { Problem } from '../../core/problem.ts'
import type { Connection } from './connection.ts'
import { lockFor } from './lock.ts'
import { codeOf } from './problems.ts'

/** In order, forward only; a migration that has been released is never edited. */
const MIGRATIONS = [
  '0001-plan.sql',
  '0002-backlog.sql',
  '0003-queue.sql',
  '0004-worklog.sql',
  '0005-continuation.sql',
  '0006-run.sql',
  '0007-user-spoke.sql',
]

/** Waiting for another program's migration, and large tables, take longer than any other statement may. */
const LONG_MS = 600_000

/** Brings the schema to what this program knows, all of it in one transaction, or refuses. */
export async function migrate(connection: Connection): Promise<void> {
  if ((await versionOf(connection, sql => connection.all(sql))) === MIGRATIONS.length) return
  await connection.patiently(async () => {
    const client = await connection.apart({ statement_timeout: LONG_MS, query_timeout: LONG_MS })
    try {
      await client.query('BEGIN')
      await client.query(`SELECT pg_advisory_xact_lock(${lockFor('migrate', connection.schema)})`)
      await run(connection, client)
      await client.query('COMMIT')
    } finally {
      // Whatever was not committed goes with the connection.
      await client.end()
    }
  })
}

async function run(connection: Connection, client: Client): Promise<void> {
  const { schema } = connection
  const { rows } = await client.query(
    `SELECT to_regclass('"${schema}".migrations') IS NOT NULL AS ours, count(*)::int AS tables
      FROM pg_class WHERE relnamespace = to_regnamespace('"${schema}"') AND relkind IN ('r', 'p', 'v', 'm', 'f')`,
  )
  const { ours, tables } = rows[0] as { ours: boolean; tables: number }
  if (!ours && tables > 0) throw foreign(connection)
  if (!ours) {
    // Even IF NOT EXISTS asks for the right to create schemas in the database, so it is looked for first.
    const { rowCount } = await client.query(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`)
    if (rowCount === 0) await client.query(`CREATE SCHEMA "${schema}"`)
    await client.query(
      `CREATE TABLE "${schema}".migrations (version integer PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now())`,
    )
  }
  // Read again under the lock: another process may have been first.
  const version = await versionOf(connection, async sql => (await client.query(sql)).rows)
  await client.query(`SET LOCAL search_path = "${schema}"`)
  for (const [index, name] of MIGRATIONS.entries()) {
    if (index < version) continue
    await client.query(readFileSync(new URL(`./migrations/${name}`, import.meta.url), 'utf8'))
    await client.query('INSERT INTO migrations (version, name) VALUES ($1, $2)', [index + 1, name])
  }
}

async function versionOf(
  { schema, server }: Connection,
  ask: (sql: string) => Promise<Record<string, unknown>[]>,
): Promise<number> {
  let version = 0
  try {
    const [row] = await ask(`SELECT max(version) AS version FROM "${schema}".migrations`)
    version = Number(row?.['version'] ?? 0)
  } catch (error) {
    if (!NOT_THERE.has(codeOf(error) ?? '')) throw error
  }
  if (version > MIGRATIONS.length) {
    throw new Problem(
      'newer_schema',
      `${server}, schema ${schema}, has version ${version}, this punchlist knows ${MIGRATIONS.length}`,
      'Update punchlist; nothing was written.',
      { server, schema, version, known: MIGRATIONS.length },
    )
  }
  return version
}

/** No such table, no such schema. */
const NOT_THERE = new Set(['42P01', '3F000'])

function foreign({ server, schema }: Connection): Problem {
  return new Problem(
    'unreadable_file',
    `The schema ${schema} on ${server} holds tables of another program`,
    'Name another schema in the URL (?schema=NAME); this one was left untouched.',
    { server, schema },
  )
}
