import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { againstBare, type Row, timed } from './measure.ts'

const PROGRAM = join(import.meta.dirname, '../bin/punchlist.js')
const FILES = 5000
const RUNS = 15

/** What a list of thousands of files costs, against a Node that does nothing. */
export function backlog(): Row[] {
  const cwd = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    const items = Array.from({ length: FILES }, (_, n) => ({
      title: `Finding ${n} in the reports`,
      source: 'review',
      priority: ['p1', 'p2', 'p3'][n % 3],
      findingId: `F-${n}`,
      sourceRef: 'tmp/reviews/7/TOME.md',
      files: [`src/part${n}.ts`],
      body: 'What is wrong, in a few lines of text.\n'.repeat(10),
    }))
    writeFileSync(join(cwd, 'items.json'), JSON.stringify({ items }))
    const run = (...args: readonly string[]) => timed([process.execPath, ...args], cwd)
    run(PROGRAM, 'backlog', 'add', '--items', 'items.json')
    const list = [PROGRAM, 'backlog', 'list', '--all']
    const bare: number[] = []
    const warm: number[] = []
    const json: number[] = []
    const cold: number[] = []
    const add: number[] = []
    run(...list)
    run(...list)
    for (let n = 0; n < RUNS; n++) {
      bare.push(run('-e', '0'))
      warm.push(run(...list))
      json.push(run(...list, '--json'))
      add.push(run(PROGRAM, 'backlog', 'add', `one more ${n}`, '--source', 'review', '--session', 'default'))
      if (n % 3 !== 0) continue
      rmSync(join(cwd, '.punchlist'), { recursive: true })
      cold.push(run(...list))
      run(...list)
    }
    const row = (what: string, times: readonly number[], bar: number) => againstBare(what, times, bare, bar)
    return [
      row(`backlog list --all, ${FILES} files, unchanged`, warm, 3.5),
      row(`backlog list --all --json, ${FILES} files, unchanged`, json, 8),
      row(`backlog list --all, ${FILES} files, never seen`, cold, 9),
      row(`backlog add to ${FILES} files`, add, 2.5),
    ]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
