import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const VERB = join(import.meta.dirname, 'directories-verb.ts')
/** Every call that changes something a later command can see. */
const CALLS = ['mkdir', 'rename', 'link', 'symlink', 'unlink', 'rmdir', 'openat', 'write', 'pwrite64', 'ftruncate']

export interface Point {
  readonly call: string
  /** Which of these calls of the process it is, counted from 1. */
  readonly n: number
}

export interface Struck {
  readonly status: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** Every call of a verb that changes something, in order. Of several writes to the database in a row, the first and the last. */
export async function pointsOf(args: readonly string[], trace: string): Promise<Point[]> {
  const ran = await traced(args, ['-o', trace, '-e', `trace=${CALLS.join()},statx`])
  if (ran.status !== 0) throw new Error(`strace is needed for this: ${ran.stderr}`)
  const lines = readFileSync(trace, 'utf8').split('\n')
  const counts = new Map<string, number>()
  const points: (Point & { line: string })[] = []
  let markers = 0
  for (const line of lines) {
    if (line.includes('punchlist-marker')) markers++
    const call = /^(\w+)\(/.exec(line)?.[1]
    if (call === undefined || call === 'statx') continue
    const n = (counts.get(call) ?? 0) + 1
    counts.set(call, n)
    if (markers === 1 && (call !== 'openat' || line.includes('O_CREAT'))) points.push({ call, n, line })
  }
  const inARow = (index: number) =>
    [index - 1, index, index + 1].every(at => points[at]?.call === 'pwrite64') && points[index]!.n % 8 !== 0
  return points.filter((_, index) => !inARow(index)).map(({ call, n }) => ({ call, n }))
}

/** Does a verb, and lets its process be killed (`signal=KILL`), fail (`error=EIO`) or wait at a call. */
export async function struck(
  args: readonly string[],
  { call, n }: Point,
  fault: string,
  onReady?: () => void,
): Promise<Struck> {
  return await traced(
    args,
    ['-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:${fault}:when=${n}`],
    onReady,
  )
}

async function traced(args: readonly string[], options: readonly string[], onReady?: () => void): Promise<Struck> {
  // Only the thread that does it all: the others are the runtime's.
  const command = ['-qq', ...options, process.execPath, VERB, ...args]
  const child = spawn('strace', command, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (stdout === '') onReady?.()
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status, signal) => resolve({ status, signal, stdout, stderr }))
  })
}
