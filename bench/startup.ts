import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ms, processorTime, type Row } from './measure.ts'

const PROGRAM = join(import.meta.dirname, '../bin/punchlist.js')

/** What a start costs, against a Node that does nothing. */
export function startup(): Row[] {
  const top = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    const [cwd, set, small] = ['plain', 'set', 'small'].map(name => join(top, name)) as [string, string, string]
    for (const folder of [cwd, set, small]) mkdirSync(folder)
    const items = Array.from({ length: 1000 }, (_, n) => ({ title: `item ${n}`, context: `what to know of item ${n}` }))
    writeFileSync(join(top, 'items.json'), JSON.stringify({ items }))
    writeFileSync(join(set, 'punchlist.json'), JSON.stringify({ wards: ['npm test'] }))
    prepared(set, 'trust', '--yes')
    for (const folder of [cwd, set]) prepared(folder, 'plan', 'add', '--items', join(top, 'items.json'))
    const list = [process.execPath, PROGRAM, 'plan', 'list']
    const [bare, text, json, add, withSettings] = processorTime(
      [
        [process.execPath, '-e', '0'],
        list,
        [...list, '--json'],
        [process.execPath, PROGRAM, 'plan', 'add', 'one more', '--root', small],
        [...list, '--root', set],
      ],
      25,
      cwd,
    ) as [number, number, number, number, number]
    const row = (what: string, ours: number, bar: number): Row => ({
      what,
      ours: ms(ours),
      against: `node -e 0: ${ms(bare)}`,
      ratio: ours / bare,
      bar,
      must: 'at most',
    })
    return [
      row('plan list, 1,000 items', text, 1.5),
      row('plan list --json, 1,000 items', json, 1.5),
      row('plan list, 1,000 items, accepted wards', withSettings, 1.6),
      row('plan add, one item', add, 1.9),
    ]
  } finally {
    rmSync(top, { recursive: true, force: true })
  }
}

function prepared(cwd: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`punchlist ${args.join(' ')}: exit ${status}\n${stderr}`)
}
