import { type ChildProcess, spawn } from 'node:child_process'
import { commandEnvironment, toldWithheld } from './environment.ts'
import { redacted } from './text.ts'

/** What came of running a command that decides whether work counts as done. */
export interface Verification {
  readonly command: readonly string[]
  /** The exit status; null when it was killed or never started. */
  readonly exit: number | null
  readonly signal: string | null
  readonly durationMs: number
  /** The end of what it printed, both streams together, credentials taken out. */
  readonly output: string
  readonly at: string
  /** How often it has failed, where that is counted. */
  readonly failures?: number
}

export interface Checking {
  readonly cwd: string
  readonly now: () => Date
  readonly timeoutMs?: number
  /** How many characters of the output are kept. */
  readonly keep?: number
  /** What it finds in its environment besides ours. */
  readonly env?: Readonly<Record<string, string>>
  /** The variables of our environment that it gets besides those that every command gets. */
  readonly passes?: readonly string[]
  /** Whether its output ends with the variables that were withheld only where it mentions one; else whenever it fails. */
  readonly quiet?: boolean
  /** Ends it, with all that it started, when aborted; it then has failed. */
  readonly signal?: AbortSignal
  /** Told of its process group while that is there. */
  readonly onGroup?: (group: number, over: boolean) => void
}

const TAIL = 4096

/** The groups that are running. */
const running = new Set<number>()

/** Ends every command that is running, with all that it started; each then has failed. */
export function stopCommands(): void {
  for (const pid of running) killGroup(pid)
}

/**
 * Runs a check without a shell, in a process group of its own, so that nothing
 * it started outlives it. A command that cannot be started is a failed check.
 */
export async function runCheck(command: readonly string[], checking: Checking): Promise<Verification> {
  const { cwd, now, timeoutMs = 600_000, keep = TAIL, env = {}, passes = [], signal: stop, onGroup } = checking
  const { env: ours, withheld } = commandEnvironment(process.env, passes)
  const began = performance.now()
  const tail = new Tail(keep)
  const ended = await new Promise<Pick<Verification, 'exit' | 'signal'>>(done => {
    const child: ChildProcess = spawn(command[0]!, command.slice(1), {
      cwd,
      detached: true,
      shell: false,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...ours, ...env },
    })
    if (child.pid !== undefined) {
      running.add(child.pid)
      onGroup?.(child.pid, false)
    }
    const stopped = () => killGroup(child.pid)
    if (stop?.aborted) stopped()
    else stop?.addEventListener('abort', stopped, { once: true })
    const over = setTimeout(() => {
      tail.add(Buffer.from(`\n[stopped after ${timeoutMs} ms]\n`))
      killGroup(child.pid)
    }, timeoutMs)
    // Where no descriptors are left it has no pipes, and tells so in a moment.
    child.stdout?.on('data', chunk => tail.add(chunk))
    child.stderr?.on('data', chunk => tail.add(chunk))
    const end = (exit: number | null, signal: string | null) => {
      clearTimeout(over)
      stop?.removeEventListener('abort', stopped)
      child.stdout?.destroy()
      child.stderr?.destroy()
      done({ exit, signal })
    }
    child.on('error', error => {
      tail.add(Buffer.from(error.message))
      end(null, null)
    })
    child.on('exit', (exit, signal) => {
      killGroup(child.pid)
      running.delete(child.pid!)
      onGroup?.(child.pid!, true)
      // What is still in the pipes is read to its end, unless a grandchild that left the group keeps them open.
      const patience = setTimeout(() => end(exit, signal), stop?.aborted ? 0 : 1000)
      child.on('close', () => {
        clearTimeout(patience)
        end(exit, signal)
      })
    })
  })
  const durationMs = Math.round(performance.now() - began)
  // One that never started, or was killed, did not miss any.
  const missed = !ended.exit ? '' : toldWithheld(withheld, tail.text(), checking.quiet)
  // In the same output that people and agents are shown: what it complains of may be one of these.
  if (missed !== '') tail.add(Buffer.from(`${tail.text().endsWith('\n') ? '' : '\n'}[${missed}]\n`))
  return { command, ...ended, durationMs, output: tail.text(), at: now().toISOString() }
}

class Tail {
  private readonly keep: number
  private chunks: Buffer[] = []
  private size = 0

  constructor(keep: number) {
    this.keep = keep
  }

  add(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.size += chunk.length
    while (this.size - this.chunks[0]!.length > this.keep * 4) this.size -= this.chunks.shift()!.length
  }

  text(): string {
    const whole = Buffer.concat(this.chunks).toString('utf8').replaceAll('\0', '')
    // Credentials are taken out before cutting: half of one is still one.
    return redacted(whole).slice(-this.keep).toWellFormed()
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // ESRCH: the whole group has ended, which is what was wanted. EPERM: what is left of it is another user's, by sudo say.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
