import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from '../src/index.ts'
import { median, ms, type Row } from './measure.ts'

const PROGRAM = join(import.meta.dirname, '../bin/punchlist.js')

/** What `punchlist run` itself takes: between a claim and its agent, between the agent's end and the completion, and of the processor. */
export async function run(): Promise<Row[]> {
  return [
    await overhead('directories', 'files', 50),
    await overhead('SQLite', 'sqlite:bench.db', 20),
    await processor('sqlite:bench.db'),
  ]
}

async function overhead(engine: string, store: string, bar: number): Promise<Row> {
  const { entries } = await drained(store, 30, ['--workers', '1', '--', 'true'])
  const times = [...Map.groupBy(entries, ({ task }) => task)].flatMap(([task, told]) => {
    const at = (what: string) => Date.parse(told.find(entry => entry.what === what)?.at ?? '')
    return task === undefined ? [] : [at('agent_started') - at('claimed') + at('ended') - at('agent_ended')]
  })
  const ours = median(times)
  const what = `run on ${engine}: claim to agent, and agent's end to completed`
  return { what, ours: ms(ours), against: '1 ms', ratio: ours, bar, must: 'at most' }
}

/** 64 agents that do nothing for five seconds each, twice over. */
async function processor(store: string): Promise<Row> {
  const { cpuMs, tookMs } = await drained(store, 128, ['--workers', '64', '--', 'sleep', '5'])
  const what = '64 workers of a trivial command: processor time of the runner'
  return { what, ours: ms(cpuMs), against: `elapsed: ${ms(tookMs)}`, ratio: cpuMs / tookMs, bar: 0.2, must: 'at most' }
}

interface Entry {
  readonly what: string
  readonly at: string
  readonly task?: string
}

async function drained(store: string, tasks: number, args: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    writeFileSync(join(root, 'punchlist.json'), JSON.stringify({ store }))
    const list = await open({ root })
    const items = Array.from({ length: tasks }, (_, n) => ({ title: `task ${n}`, description: 'x', expect: 'y' }))
    await list.queue.add({ items })
    await list.close()
    const began = performance.now()
    const child = spawn(process.execPath, [PROGRAM, 'run', '--json', ...args], { cwd: root })
    let cpuMs = 0
    const looking = setInterval(() => (cpuMs = cpuOf(child.pid!) ?? cpuMs), 50)
    let out = ''
    child.stdout.setEncoding('utf8').on('data', text => (out += text))
    const status = await new Promise<number | null>(done => child.on('close', done))
    clearInterval(looking)
    if (status !== 0) throw new Error(`run ended with ${status}`)
    const entries = out.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line) as Entry] : []))
    return { entries, cpuMs, tookMs: performance.now() - began }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** What a process has used, its children aside; the system counts in hundredths of a second. */
function cpuOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number)
    return (user! + system!) * 10
  } catch {
    return undefined
  }
}
