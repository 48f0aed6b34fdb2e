import type { Finding } from '../../core/store.ts'
import type { Connection } from './connection.ts'
import type { Statements } from './statements.ts'

/** How the server and our schema on it are. */
export async function findings(connection: Connection, statements: Statements): Promise<Finding[]> {
  const { schema, server } = connection
  const [row] = await connection.all(
    `SELECT current_setting('server_version') AS server, current_setting('synchronous_commit') AS sync,
      current_setting('fsync') AS fsync, (SELECT max(version) FROM "${schema}".migrations) AS version,
      NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'
        AND has_table_privilege('${statements.events}', 'INSERT') AS writable`,
  )
  const { server: version, sync, fsync, version: schemaVersion, writable } = row as Record<string, string>
  const durable = sync !== 'off' && fsync === 'on'
  return [
    { check: 'database', ok: true, detail: `PostgreSQL ${version}, ${server}` },
    { check: 'schema', ok: true, detail: `${schema}, version ${schemaVersion}` },
    {
      check: 'durability',
      ok: durable,
      detail: durable
        ? 'an answered write survives a crash of the server'
        : `the last answered writes may be lost in a crash: synchronous_commit is ${sync}, fsync is ${fsync}`,
    },
    {
      check: 'writable',
      ok: Boolean(writable),
      detail: writable ? 'takes writes' : 'does not take writes from this user',
    },
  ]
}
