import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { PROBLEMS } from '../../src/core/problem.ts'
import { type ChatServer, chatServer } from '../agent/chat-server.ts'
import { type Base, PROGRAM } from './base.ts'
import type { Typed } from './commands.ts'
import { KINDS, type Kind } from './kinds.ts'
import { differences, SECRET, Stage, snapshot, USER } from './stage.ts'
import { PLANTED_OPTION, PLANTED_WORDS, TRAPS, type Trap } from './traps.ts'

const IS_ROOT = process.getuid?.() === 0
const HANG_MS = Number(process.env['HOSTILE_HANG_MS'] ?? 30_000)
const MOST_HANGS = 2
/** 1 is what Node leaves with when a program crashes. */
const DOCUMENTED = new Set<number>([0, 12, ...Object.values(PROBLEMS).map(({ exit }) => exit)])

/** Why a trap cannot lie in a folder of some kind, or not be made here; undefined where it can. */
export function hindrance(kind: Kind, trap: Trap): string | undefined {
  if (!IS_ROOT && (kind.needsRoot || trap.needsRoot)) return 'only root can prepare it'
  if (kind.byGit && trap.beyondGit) return 'git keeps neither FIFOs nor devices'
  return undefined
}

/** The commands for one kind of folder and one trap: all of them, or a share such that every pair of the three is met. */
export function commandsFor(kind: Kind, trap: Trap, commands: readonly Typed[], whole: boolean): readonly Typed[] {
  if (whole) return commands
  const kinds = KINDS.filter(one => !hindrance(one, trap))
  const turn = TRAPS.indexOf(trap)
  // With every trap the commands move on by one kind.
  return commands.filter(
    ({ thorough }, index) => (thorough && trap.thorough) || kinds[(index + turn) % kinds.length] === kind,
  )
}

export interface Surroundings {
  readonly base: Base
  /** A new empty folder. */
  readonly scratch: () => string
}

export interface Tally {
  cases: number
  readonly failures: string[]
}

/** Every given command in a folder of each kind with one trap; what went wrong is collected, with its names. */
export async function spring(
  trap: Trap,
  commands: readonly Typed[],
  around: Surroundings,
  whole: boolean,
): Promise<Tally> {
  const tally: Tally = { cases: 0, failures: [] }
  const waiting = KINDS.filter(kind => !hindrance(kind, trap)).map(kind => ({
    kind,
    typed: commandsFor(kind, trap, commands, whole),
  }))
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      await inFolder(next.kind, trap, next.typed, around, tally)
  }
  await Promise.all(Array.from({ length: 2 * Math.min(4, availableParallelism()) }, lane))
  return tally
}

async function inFolder(
  kind: Kind,
  trap: Trap,
  commands: readonly Typed[],
  around: Surroundings,
  tally: Tally,
): Promise<void> {
  const top = around.scratch()
  // Another user must be able to get there.
  chmodSync(top, 0o755)
  // One for each folder: what it is asked comes from there.
  const model = await chatServer({ say: 'done' })
  let stage: Stage | undefined
  let hangs = 0
  try {
    for (const typed of commands) {
      // Half a minute each: a few tell as much as all.
      if (hangs === MOST_HANGS)
        return void tally.failures.push(`${kind.name} | ${trap.name} | the rest | hang: not tried`)
      stage ??= await prepared(join(top, 'stage'), kind, trap, around.base)
      stage.restore()
      tally.cases++
      for (const wrong of await put(stage, trap, typed, model)) {
        tally.failures.push(`${kind.name} | ${trap.name} | ${typed.name} | ${wrong}`)
        if (wrong.startsWith('hang')) hangs++
      }
    }
  } finally {
    await Promise.all([stage?.strike(), model.close()])
  }
}

async function prepared(top: string, kind: Kind, trap: Trap, base: Base): Promise<Stage> {
  const stage = await Stage.set(top)
  kind.arrive(stage, base, trap)
  stage.handOver()
  stage.keep()
  return stage
}

/** Runs one command there, and says by which oracles it has done harm. */
async function put(stage: Stage, trap: Trap, typed: Typed, model: ChatServer): Promise<string[]> {
  const { top, root, home, listener } = stage
  const aside = [
    root,
    join(top, '.git'),
    stage.log,
    join(home, '.local/state'),
    join(home, '.local'),
    join(home, '.cache'),
    stage.marker,
  ]
  const outside = snapshot(top, aside)
  const kept = () => new Map((trap.kept ?? []).map(path => [path, textOf(join(root, path))]))
  const planted = kept()
  const asked = model.asked.length
  truncateSync(stage.log)
  listener.reset()
  const { status, signal, stderr, hung } = await ran(stage, typed, model.env)
  const wrong: string[] = []
  if (hung) wrong.push(`hang: did not end within ${HANG_MS / 1000} s`)
  else if (status === null) wrong.push(`exit: ended by ${signal}`)
  else if (!DOCUMENTED.has(status)) wrong.push(`exit: ${status}, ${stderr.slice(0, 300)}`)
  if (/^ {4}at /m.test(stderr))
    wrong.push(`stack: ${stderr.match(/^\w*(?:Error|Problem).*$/m)?.[0] ?? stderr.slice(0, 200)}`)
  const changed = differences(outside, snapshot(top, aside))
  if (changed.length > 0) wrong.push(`outside: ${changed.join(', ')}`)
  const left = differences(planted, kept())
  if (left.length > 0) wrong.push(`planted: ${left.join(', ')}`)
  if (existsSync(stage.marker)) wrong.push('marker: a planted program was started')
  const started = readFileSync(stage.log, 'utf8').split('\x1e').filter(Boolean)
  const untyped = started.filter(line => !['git', ...(typed.starts ?? [])].includes(line.split(' ')[0]!))
  if (untyped.length > 0) wrong.push(`started: ${untyped.join('; ').slice(0, 200)}`)
  if (started.some(line => line.includes(PLANTED_OPTION) || line.includes(PLANTED_WORDS)))
    wrong.push('started: with planted words')
  if (listener.connections > 0)
    wrong.push(`listener: ${listener.connections} connections, ${listener.received.length} bytes`)
  if (listener.received.includes(SECRET)) wrong.push('secret: the password was sent')
  if (JSON.stringify(model.asked.slice(asked).map(({ messages }) => messages)).includes(PLANTED_WORDS))
    wrong.push('model: a planted conversation was continued')
  return wrong
}

interface Ran {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
  readonly hung: boolean
}

async function ran(stage: Stage, { argv, input = '' }: Typed, env: Readonly<Record<string, string>>): Promise<Ran> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, ...argv], {
    cwd: stage.cwd,
    env: { ...stage.env(), ...env },
    detached: true,
    ...(stage.apart ? { uid: USER, gid: USER } : {}),
  })
  let stderr = ''
  let hung = false
  child.stdout!.resume()
  child.stderr!.setEncoding('utf8').on('data', text => (stderr += text))
  child.stdin!.on('error', () => {})
  child.stdin!.end(input.replaceAll('FOLDER', stage.cwd))
  const timer = setTimeout(() => {
    hung = true
    process.kill(-child.pid!, 'SIGKILL')
  }, HANG_MS)
  return await new Promise(done => {
    child.on('exit', (status, signal) => {
      clearTimeout(timer)
      // What was written last is still on its way; a guard that outlives its run keeps the pipe open.
      setImmediate(() => done({ status, signal, stderr, hung }))
    })
  })
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable'
  }
}
