import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ms, processorTime, type Row } from './measure.ts'

const PROGRAM = join(import.meta.dirname, '../bin/punchlist.js')

/** What a start costs, against a Node that does nothing. */
export function startup(): Row[] {
  const cwd = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    const items = Array.from({ length: 1000 }, (_, n) => ({ title: `item ${n}`, context: `what to know of item ${n}` }))
    writeFileSync(join(cwd, 'items.json'), JSON.stringify({ items }))
    const { status } = spawnSync(process.execPath, [PROGRAM, 'plan', 'add', '--items', 'items.json'], { cwd })
    if (status !== 0) throw new Error('the plan could not be made')
    const list = [process.execPath, PROGRAM, 'plan', 'list']
    const [bare, text, json] = processorTime([[process.execPath, '-e', '0'], list, [...list, '--json']], 25, cwd)
    return [
      {
        what: 'plan list, 1,000 items',
        ours: ms(text!),
        against: `node -e 0: ${ms(bare!)}`,
        ratio: text! / bare!,
        bar: 1.5,
        must: 'at most',
      },
      {
        what: 'plan list --json, 1,000 items',
        ours: ms(json!),
        against: `node -e 0: ${ms(bare!)}`,
        ratio: json! / bare!,
        bar: 1.5,
        must: 'at most',
      },
    ]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
