import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { perSecond, type Row } from './measure.ts'

const CLAIMER = join(import.meta.dirname, 'directories-claimer.ts')
const PROCESSES = 8
const TASKS = 10_000
const FINISHED = 20_000
/** So many each process claims from a queue of its own before: workers run for hours, and it is not their start that is measured. */
const PRACTICE = 300

/** Claims of tasks that are directories, against listing the folder for each claim; and with many finished ones beside. */
export async function directories(): Promise<Row[]> {
  // Cleared away at the end: for minutes after thousands of files were deleted, ext4 takes 20 times as long to make one.
  const made: string[] = []
  const make = (tasks: number, finished: number) => {
    const root = queue(tasks, finished)
    made.push(root)
    return root
  }
  const turns = ['ours', 'ours', 'ours', 'naive'].map((how, n) => ({
    how,
    root: make(TASKS, n === 1 ? FINISHED : 0),
    practice: Array.from({ length: PROCESSES }, () => make(PRACTICE, 0)),
  }))
  const rates: number[] = []
  for (const { how, root, practice } of turns) rates.push(await claims(how, root, practice))
  for (const root of made) rmSync(root, { recursive: true, force: true })
  // Before and after: the disk becomes slower while it is measured.
  const [ours, finished, naive] = [(rates[0]! + rates[2]!) / 2, rates[1]!, rates[3]!]
  return [
    {
      what: `${PROCESSES} processes claim from ${TASKS} directories`,
      ours: perSecond(ours),
      against: `listing for each: ${perSecond(naive)}`,
      ratio: ours / naive,
      bar: 100,
      must: 'at least',
    },
    {
      what: `the same beside ${FINISHED} completed ones`,
      ours: perSecond(finished),
      against: `without them: ${perSecond(ours)}`,
      ratio: ours / finished,
      bar: 1.2,
      must: 'at most',
    },
  ]
}

/** A queue of tasks that were added: the ids are taken. */
function queue(tasks: number, finished: number): string {
  const root = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  const top = join(root, 'coordination')
  for (const state of ['staged', 'to_execute', 'in_progress', 'completed', 'error'])
    mkdirSync(join(top, state), { recursive: true })
  for (let n = 1; n <= tasks + finished; n++) {
    const id = `req_${String(n).padStart(4, '0')}`
    const directory = join(top, n <= tasks ? 'to_execute' : 'completed', `${id}_task`)
    mkdirSync(directory)
    mkdirSync(join(top, '.punchlist/tasks', id), { recursive: true })
    writeFileSync(join(directory, `${id}_task.md`), definition(n))
  }
  return root
}

function definition(n: number): string {
  const posted = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString()
  const head = `# Request #${String(n).padStart(4, '0')}: Task ${n}\n\n**Type:** Standard\n**Priority:** NORMAL\n**Posted:** ${posted}\n`
  return `${head}\n## Task Description\n\nDo it.\n\n## Expected Response\n\nDone.\n`
}

/** How many claims a second several processes make together: they begin at the same time, once everything was looked at. */
async function claims(how: string, root: string, practice: readonly string[]): Promise<number> {
  const processes = Array.from({ length: PROCESSES }, (_, n) => {
    const child = spawn(process.execPath, [CLAIMER, how, root, `w${n}`, practice[n]!], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
  })
  await Promise.all(processes.map(({ lines }) => lines.next()))
  const began = performance.now()
  for (const { child } of processes) child.stdin.write('go\n')
  const counts = await Promise.all(processes.map(async ({ lines }) => Number((await lines.next()).value)))
  const seconds = (performance.now() - began) / 1000
  return counts.reduce((sum, count) => sum + count, 0) / seconds
}
