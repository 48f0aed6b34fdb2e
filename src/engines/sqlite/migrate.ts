import { readFileSync } from 'node:fs'
import { Problem } from '../../core/problem.ts'
import { Connection } from './connection.ts'

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

/** "Pnch": marks a file as ours, so that another program's database is never migrated by mistake. */
const APPLICATION_ID = 0x506e6368

/** Brings the file to the schema this program knows, all of it in one transaction, or refuses. */
export function migrate(connection: Connection): void {
  if (isCurrent(connection)) return
  connection.useWriteAheadLog()
  connection.together(() => {
    // Read again under the write lock: another process may have been first.
    const version = versionOf(connection)
    for (const name of MIGRATIONS.slice(version)) {
      connection.exec(readFileSync(new URL(`./migrations/${name}`, import.meta.url), 'utf8'))
    }
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`)
  })
}

/** Whether nothing is to be done; refuses a file that is newer, or not ours. */
export function isCurrent(connection: Connection): boolean {
  return versionOf(connection) === MIGRATIONS.length
}

/** Whether a file has exactly the tables and indexes that our migrations make, and nothing else. */
export function hasOurSchema(connection: Connection): boolean {
  const fresh = new Connection(':memory:')
  try {
    migrate(fresh)
    return schemaOf(connection) === schemaOf(fresh)
  } finally {
    fresh.close()
  }
}

function schemaOf(connection: Connection): string {
  // What ANALYZE makes holds numbers alone.
  const sql =
    "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat_' ORDER BY type, name"
  return JSON.stringify(connection.lists(sql))
}

function versionOf(connection: Connection): number {
  // In one statement, and so at one moment: another process may be making the file right now.
  const [row] = connection.all(`SELECT (SELECT user_version FROM pragma_user_version) AS version,
    (SELECT application_id FROM pragma_application_id) AS application, (SELECT count(*) FROM sqlite_schema) AS used`)
  const version = Number(row?.['version'])
  if (row?.['application'] !== APPLICATION_ID && (version !== 0 || row?.['used'] !== 0)) {
    throw new Problem(
      'unreadable_file',
      `${connection.path} is a database of another program`,
      'Name another file in "store" (punchlist.json or PUNCHLIST_STORE); this one was left untouched.',
      { file: connection.path },
    )
  }
  if (version > MIGRATIONS.length) {
    throw new Problem(
      'newer_schema',
      `${connection.path} has schema ${version}, this punchlist knows ${MIGRATIONS.length}`,
      'Update punchlist; nothing was written.',
      { file: connection.path, schema: version, known: MIGRATIONS.length },
    )
  }
  return version
}
