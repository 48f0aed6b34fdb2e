import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

/** The tester's home for one test file: what the program remembers of its user goes there. */
export const HOME = () => process.env['HOME']!

/** What every call sees besides its own: a store for all of them, for example. */
export const everywhere: { env: Record<string, string> } = { env: {} }

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Surrounded {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** What starts the program: `['node']` unless told. */
  readonly through?: readonly string[]
}

/** Runs the real program, as a person or a script would, with no trace of the tester's own environment. */
export async function punchlist(args: readonly string[], around: Surrounded): Promise<Ran> {
  const child = start(args, around)
  child.stdin!.end(around.input ?? '')
  return await ended(child)
}

export function start(
  args: readonly string[],
  { cwd, env = {}, through = [process.execPath] }: Surrounded,
): ChildProcess {
  const { PATH = '' } = process.env
  const [command, ...before] = through
  return spawn(command!, [...before, PROGRAM, ...args], {
    cwd,
    // Compiled code is none of what a test looks for in a home of its own.
    env: { PATH, HOME: HOME(), XDG_CACHE_HOME: join(HOME(), '.cache'), USER: 'tester', ...everywhere.env, ...env },
  })
}

export async function ended(child: ChildProcess): Promise<Ran> {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', text => (stdout += text))
  child.stderr!.setEncoding('utf8').on('data', text => (stderr += text))
  child.stdin?.on('error', () => {})
  return await new Promise(done => child.on('close', status => done({ status, stdout, stderr })))
}

/** Runs it with --json and gives back what it answered; anything but success fails the test. */
export async function answer<T = Record<string, never>>(args: readonly string[], around: Surrounded): Promise<T> {
  const { status, stdout, stderr } = await punchlist(['--json', ...args], around)
  if (status !== 0) throw new Error(`punchlist ${args.join(' ')}: exit ${status}\n${stderr}`)
  return JSON.parse(stdout) as T
}

/** Runs it with --json and gives back the refusal with its exit status. */
export async function refusal(args: readonly string[], around: Surrounded) {
  const { status, stdout, stderr } = await punchlist(['--json', ...args], around)
  if (stdout !== '') throw new Error(`punchlist ${args.join(' ')} answered: ${stdout}`)
  const { error } = JSON.parse(stderr) as {
    error: { code: string; message: string; hint: string; details: Record<string, unknown> }
  }
  return { status, ...error }
}

/** What a person does once about the commands and settings of a folder. */
export async function acceptAll(here: Surrounded): Promise<void> {
  const { status, stderr } = await punchlist(['trust', '--yes'], here)
  if (status !== 0) throw new Error(stderr)
}
