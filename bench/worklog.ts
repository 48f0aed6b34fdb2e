import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { againstBare, type Row, timed } from './measure.ts'

const PROGRAM = join(import.meta.dirname, '../bin/punchlist.js')
const WORKERS = 200
const TASKS = 50
const RUNS = 15

/** What a session of many workers costs, against a Node that does nothing. */
export function worklog(): Row[] {
  const cwd = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    const folder = join(cwd, 'tmp/work/s1/todos')
    mkdirSync(folder, { recursive: true })
    for (let n = 0; n < WORKERS; n++) writeFileSync(join(folder, `worker-${n}.md`), logOf(n))
    const run = (...args: readonly string[]) => timed([process.execPath, ...args], cwd)
    const worklogs = (...args: readonly string[]) => run(PROGRAM, 'worklog', ...args, '--session', 's1')
    const bare: number[] = []
    const warm: number[] = []
    const cold: number[] = []
    const check: number[] = []
    worklogs('summary')
    worklogs('summary')
    for (let n = 0; n < RUNS; n++) {
      bare.push(run('-e', '0'))
      warm.push(worklogs('summary'))
      // One is open yet: every one of these changes a file.
      check.push(worklogs('check', `worker-${n * 13}`, '25', '5'))
      worklogs('summary')
      if (n % 3 !== 0) continue
      rmSync(join(cwd, '.punchlist'), { recursive: true })
      cold.push(worklogs('summary'))
      worklogs('summary')
    }
    const row = (what: string, times: readonly number[], bar: number) => againstBare(what, times, bare, bar)
    const session = `${WORKERS} workers with ${TASKS} tasks each`
    return [
      row(`worklog summary, ${session}, unchanged`, warm, 6),
      row(`worklog summary, ${session}, never seen`, cold, 6),
      row(`worklog check among ${session}`, check, 3),
    ]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** The log of one worker, some 20 KB of it. */
function logOf(worker: number): string {
  const tasks = Array.from(
    { length: TASKS },
    (_, n) => `
## Task #${n + 1}: Part ${n + 1} of what worker ${worker} does

**Status**: completed
**Claimed**: 2026-11-16T09:30:00.000Z
**Completed**: 2026-11-16T09:52:00.000Z
**Files touched**: \`src/part${n}.ts\`, \`src/whole${n}.ts\`, \`test/part${n}.test.ts\`
**Ward Result**: passed: npm test

- [x] find the place
- [x] write the test
- [x] make it pass
- [x] look at it again
- [${n === 24 ? ' ' : 'x'}] tell of it

### Decisions

- Part ${n + 1} is done where it was, because moving it would move the others
`,
  )
  return `---
worker: worker-${worker}
role: implementation
status: completed
plan_path: plans/report.md
---
${tasks.join('')}`
}
