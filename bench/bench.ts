import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlog } from './backlog.ts'
import { directories } from './directories.ts'
import { hook } from './hook.ts'
import { mcp } from './mcp.ts'
import type { Row } from './measure.ts'
import { postgres } from './postgres.ts'
import { queuePostgres } from './queue-postgres.ts'
import { queueSqlite } from './queue-sqlite.ts'
import { run } from './run.ts'
import { sqlite } from './sqlite.ts'
import { startup } from './startup.ts'
import { supervisor } from './supervisor.ts'
import { worklog } from './worklog.ts'

/** Everything we hold ourselves to, side by side with the bare operation, as ratios. Names choose some: `npm run bench -- sqlite`. */
const PARTS: Readonly<Record<string, () => Row[] | Promise<Row[]>>> = {
  startup,
  hook,
  backlog,
  mcp,
  sqlite,
  postgres,
  'queue-sqlite': queueSqlite,
  'queue-postgres': queuePostgres,
  directories,
  worklog,
  run,
  supervisor,
}

// What the user's own state directory says of stores and accepted settings is none of a benchmark's.
const state = mkdtempSync(join(tmpdir(), 'punchlist-bench-state-'))
process.env['XDG_STATE_HOME'] = state
process.on('exit', () => rmSync(state, { recursive: true, force: true }))

const wanted = process.argv.slice(2)
const rows: Row[] = []
for (const [name, part] of Object.entries(PARTS)) {
  if (wanted.length === 0 || wanted.includes(name)) rows.push(...(await part()))
}
const cells = rows.map(({ what, ours, against, ratio, bar, must }) => {
  const met = must === 'at most' ? ratio <= bar : ratio >= bar
  return [what, ours, against, ratio.toFixed(2), `${must} ${bar}`, met ? 'met' : 'MISSED']
})
const table = [['what', 'ours', 'against', 'ratio', 'bar', ''], ...cells]
const widths = table[0]!.map((_, column) => Math.max(...table.map(row => row[column]!.length)))
for (const row of table) {
  process.stdout.write(
    `${row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd()}\n`,
  )
}
