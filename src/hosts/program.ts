import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from './reading.ts'

/** What came of one run of our own program. */
export interface Ran {
  /** Null where it was ended from outside. */
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly cwd: string
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Whether it may take as long as it wants; it is ended after a while otherwise. */
  readonly patient?: boolean
}

const LIMIT_MS = 15_000
const LARGEST = 4 * 1024 * 1024

/** Runs our own program from inside a host, without a shell. Rejects where it cannot be started. */
export async function runProgram(command: readonly string[], args: readonly string[], around: Running): Promise<Ran> {
  const [file, ...first] = command
  const { cwd, input = '', env = {}, signal, patient = false } = around
  return await new Promise((done, failed) => {
    const child = spawn(file!, [...first, ...args], { cwd, env: { ...process.env, ...env }, windowsHide: true })
    const stop = () => child.kill('SIGKILL')
    const timer = patient ? undefined : setTimeout(stop, LIMIT_MS)
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      stdout += part
      if (stdout.length > LARGEST) stop()
    })
    child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr = `${stderr}${part}`.slice(0, 10_000)))
    // One that has ended already need not read what it is told.
    child.stdin.on('error', () => {}).end(input)
    const over = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    child.on('error', error => {
      over()
      failed(error)
    })
    child.on('close', exit => {
      over()
      done({ exit, stdout, stderr })
    })
  })
}

/**
 * How our own program is started: as the host's configuration says, as the
 * environment says, the one of the package that the calling module (its URL)
 * was loaded from, or whatever is called `punchlist`.
 */
export function ownCommand(configured: unknown, module: string): readonly string[] {
  return commandFrom(configured) ?? commandFrom(parsed(process.env['PUNCHLIST_COMMAND'])) ?? beside(module)
}

function commandFrom(value: unknown): readonly string[] | undefined {
  if (text(value) !== undefined) return [value as string]
  return Array.isArray(value) && value.length > 0 && value.every(word => text(word) !== undefined) ? value : undefined
}

function parsed(value: string | undefined): unknown {
  if (!value?.startsWith('[')) return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

/** From the package's root: where the built file lies, and where its source does. */
const PLACES = ['..', '../../..']

function beside(module: string): readonly string[] {
  const folder = dirname(fileURLToPath(module))
  const launcher = PLACES.map(place => join(folder, place, 'bin/punchlist.js')).find(file => existsSync(file))
  // The host itself need not be Node: OpenCode is Bun.
  return launcher === undefined ? ['punchlist'] : [process.versions['bun'] ? 'node' : process.execPath, launcher]
}
