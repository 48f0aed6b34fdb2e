import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { openRegular } from '../core/files.ts'
import { redactingLines } from '../core/text.ts'
import type { Invocation } from './agents/agent.ts'

export interface Ended {
  /** The exit status; null when it was killed or never started. */
  readonly exit: number | null
  readonly signal: string | null
  /** Why it could not be started. */
  readonly error?: string
  /** The last lines of its standard error, credentials taken out. */
  readonly complaint: string
}

export interface Starting {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The file that everything it prints is kept in; undefined where nothing can be. */
  readonly output: string | undefined
  /** Told what it prints on standard output, as it is. */
  readonly onLine: (line: string) => void
}

/** So much of what an agent prints is kept; the rest is only listened to. */
const MOST_KEPT = 32 * 1024 * 1024
const LONGEST_LINE = 4 * 1024 * 1024
const GRACE_MS = 5000
const COMPLAINT = 2000

/** An agent at work, in a process group of its own. */
export class Child {
  readonly ended: Promise<Ended>
  /** Undefined for one that could not be started. */
  readonly group: number | undefined
  /** Undefined where nothing can be kept, on a disk that is full say: that stops no work. */
  private file: number | undefined
  private kept = 0
  private complaint = ''

  constructor(invocation: Invocation, starting: Starting) {
    this.file = opened(starting.output)
    const started = begun(invocation, starting)
    this.group = 'child' in started ? started.child.pid : undefined
    const over = 'child' in started ? this.followed(started.child, starting.onLine) : Promise.resolve(started)
    this.ended = over.then(how => {
      this.end('SIGKILL')
      if (this.file !== undefined) closeSync(this.file)
      return { ...how, complaint: this.complaint.trim() }
    })
  }

  /** Asks it to stop, and stops it where it does not. */
  stop(): void {
    this.end('SIGTERM')
    const late = setTimeout(() => this.end('SIGKILL'), GRACE_MS)
    void this.ended.then(() => clearTimeout(late))
  }

  private async followed(child: ChildProcess, onLine: (line: string) => void): Promise<Omit<Ended, 'complaint'>> {
    // Line by line: of a credential that comes in two pieces, each would pass for something else.
    const [fromSaid, fromComplained] = [redactingLines(), redactingLines()]
    const said = splitting(line => {
      this.keep(fromSaid(line))
      onLine(line)
    })
    const complained = splitting(line => {
      const text = fromComplained(line)
      this.keep(text)
      this.complaint = `${this.complaint}${text}\n`.slice(-COMPLAINT)
    })
    // Where no descriptors are left it has no pipes, and tells so in a moment.
    child.stdout?.on('data', said.add)
    child.stderr?.on('data', complained.add)
    const how = await new Promise<Omit<Ended, 'complaint'>>(done => {
      child.on('error', error => done({ exit: null, signal: null, error: error.message }))
      child.on('exit', (exit, signal) => {
        // What is still in the pipes is read to its end, unless something that left the group keeps them open.
        const patience = setTimeout(() => done({ exit, signal }), 1000)
        child.on('close', () => {
          clearTimeout(patience)
          done({ exit, signal })
        })
      })
    })
    said.end()
    complained.end()
    child.stdout?.destroy()
    child.stderr?.destroy()
    return how
  }

  private end(signal: NodeJS.Signals): void {
    try {
      if (this.group !== undefined) process.kill(-this.group, signal)
    } catch {
      // The whole group has ended, which is what was wanted.
    }
  }

  private keep(line: string): void {
    if (this.file === undefined || this.kept > MOST_KEPT) return
    this.kept += line.length + 1
    try {
      writeSync(this.file, this.kept > MOST_KEPT ? '[more was printed, and not kept]\n' : `${line}\n`)
    } catch {
      // Room may be made later: the next line is tried again.
    }
  }
}

/** Only a plain file is written to: a pipe of that name would hold us up, and a link lead elsewhere. */
function opened(path: string | undefined): number | undefined {
  const { O_WRONLY, O_APPEND, O_CREAT } = constants
  try {
    return path === undefined ? undefined : openRegular(path, O_WRONLY | O_APPEND | O_CREAT).descriptor
  } catch {
    // Nothing is kept then.
    return undefined
  }
}

function begun(
  { program, args, input }: Invocation,
  { cwd, env }: Starting,
): { readonly child: ChildProcess } | Omit<Ended, 'complaint'> {
  try {
    const child = spawn(program, [...args], { cwd, env, detached: true, shell: false, stdio: 'pipe' })
    // Whoever ends before it has read its prompt has its reasons.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input ?? '')
    return { child }
  } catch (error) {
    // More words than the system takes, for one.
    return { exit: null, signal: null, error: (error as Error).message }
  }
}

function splitting(onLine: (line: string) => void) {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  return {
    add: (chunk: Buffer): void => {
      rest += decoder.write(chunk)
      const lines = rest.split('\n')
      rest = lines.pop()!.slice(0, LONGEST_LINE)
      for (const line of lines) onLine(line)
    },
    end: (): void => {
      const last = rest + decoder.end()
      rest = ''
      if (last !== '') onLine(last)
    },
  }
}
