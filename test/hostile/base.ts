import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

/** What an attacker takes from a workspace of their own: work to hand over, a database, and a log of changes to it. */
export interface Base {
  /** A folder with `coordination` and `tmp` as any project may have them. */
  readonly work: string
  /** A database whose plan has a check. */
  readonly database: string
  /** The same with triggers and a view in the place of a table. */
  readonly schema: string
  /** A write-ahead log that fits any database of ours. */
  readonly wal: Uint8Array
}

export function prepareBase(top: string): Base {
  const [root, home, work] = ['attacker', 'attackers-home', 'work'].map(name => join(top, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [root, home, work]) mkdirSync(folder)
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, USER: 'mallory' }
  for (const args of DONE) execFileSync(process.execPath, [PROGRAM, ...args], { cwd: root, env, stdio: 'pipe' })
  for (const name of ['coordination', 'tmp']) cpSync(join(root, name), join(work, name), { recursive: true })
  const database = join(root, '.punchlist/punchlist.db')
  const schema = join(top, 'schema.db')
  const logged = join(top, 'logged.db')
  for (const copy of [schema, logged]) cpSync(database, copy)
  chmodSync(database, 0o644)
  twist(schema)
  return { work, database, schema, wal: walOf(logged) }
}

const TASK = ['--description', 'All of them', '--expect', 'one PR']

/** So that every command of the examples finds what it is about. */
const DONE: readonly (readonly string[])[] = [
  ['plan', 'turn', 'one', '--completion', 'verified', '--check', './evil.sh'],
  ['plan', 'add', 'One', 'Two', 'Three'],
  ['plan', 'start'],
  ['backlog', 'add', 'Escape user input', '--source', 'review', '--priority', 'p1', '--session', 'monday'],
  ['backlog', 'add', 'The same line', '--source', 'review', '--session', 'monday'],
  ['queue', 'add', 'Convert the configs', ...TASK],
  ['queue', 'claim', '--worker', 'mallory'],
  ['queue', 'checkpoint', 'req_0001', '--summary', 'half', '--needs', 'which indentation?'],
  ['queue', 'reply', 'req_0001', 'two spaces'],
  // So that it is the next to be claimed, and by an agent that has a session to go on with.
  ['queue', 'return', 'req_0001', '--reason', 'the day ends'],
  ['queue', 'add', 'Convert the others', ...TASK],
  ['worklog', 'open', 'alice', '--role', 'implementation', '--plan', 'plan.md', '--session', 'monday'],
  ['worklog', 'task', 'alice', '1', 'Escape the report', '--subtask', 'find the place', '--session', 'monday'],
]

function twist(file: string): void {
  const database = new DatabaseSync(file)
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all()
  for (const { name } of tables) {
    const quoted = `"${String(name)}"`
    try {
      database.exec(
        `CREATE TRIGGER "planted on ${String(name)}" AFTER INSERT ON ${quoted} BEGIN DELETE FROM ${quoted}; END`,
      )
    } catch {
      // A table that takes no triggers.
    }
  }
  database.exec('CREATE VIEW planted AS SELECT randomblob(1000000000)')
  database.close()
}

function walOf(file: string): Uint8Array {
  const database = new DatabaseSync(file)
  database.exec(
    'PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE planted (x); INSERT INTO planted VALUES (1)',
  )
  const wal = readFileSync(`${file}-wal`)
  database.close()
  return wal
}
