import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { redacted } from '../core/text.ts'
import type { Invocation } from './agents/agent.ts'

export interface Ended {
  /** The exit status; null when it was killed or never started. */
  readonly exit: number | null
  readonly signal: string | null
  /** Why it could not be started. */
  readonly error?: string
}

export interface Starting {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The file that everything it prints is kept in. */
  readonly output: string
  readonly onLine: (line: string) => void
}

/** So much of what an agent prints is kept; the rest is only listened to. */
const MOST_KEPT = 32 * 1024 * 1024
const LONGEST_LINE = 4 * 1024 * 1024
const GRACE_MS = 5000

/** An agent at work, in a process group of its own. */
export class Child {
  readonly ended: Promise<Ended>
  private readonly process: ChildProcess
  private readonly file: number
  private kept = 0

  constructor(invocation: Invocation, { cwd, env, output, onLine }: Starting) {
    this.file = openSync(
      output,
      constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
      0o600,
    )
    const { program, args, input } = invocation
    this.process = spawn(program, [...args], {
      cwd,
      env,
      detached: true,
      shell: false,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const { stdin, stdout, stderr } = this.process
    // Whoever ends before it has read its prompt has its reasons.
    stdin!.on('error', () => undefined)
    stdin!.end(input ?? '')
    const lines = splitting(onLine)
    stdout!.on('data', (chunk: Buffer) => {
      this.keep(chunk)
      lines.add(chunk)
    })
    stderr!.on('data', (chunk: Buffer) => this.keep(chunk))
    this.ended = new Promise(done => {
      this.process.on('error', error => done({ exit: null, signal: null, error: error.message }))
      this.process.on('exit', (exit, signal) => {
        // What is still in the pipes is read to its end, unless something that left the group keeps them open.
        const patience = setTimeout(() => done({ exit, signal }), 1000)
        this.process.on('close', () => {
          clearTimeout(patience)
          done({ exit, signal })
        })
      })
    }).then(how => {
      lines.end()
      this.end('SIGKILL')
      stdout!.destroy()
      stderr!.destroy()
      closeSync(this.file)
      return how as Ended
    })
  }

  get group(): number | undefined {
    return this.process.pid
  }

  /** Asks it to stop, and stops it where it does not. */
  stop(): void {
    this.end('SIGTERM')
    const late = setTimeout(() => this.end('SIGKILL'), GRACE_MS)
    void this.ended.then(() => clearTimeout(late))
  }

  private end(signal: NodeJS.Signals): void {
    try {
      if (this.process.pid !== undefined) process.kill(-this.process.pid, signal)
    } catch {
      // The whole group has ended, which is what was wanted.
    }
  }

  private keep(chunk: Buffer): void {
    if (this.kept > MOST_KEPT) return
    this.kept += chunk.length
    const text = this.kept > MOST_KEPT ? '\n[more was printed, and not kept]\n' : redacted(chunk.toString('utf8'))
    writeSync(this.file, text)
  }
}

function splitting(onLine: (line: string) => void) {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const take = (text: string) => {
    rest += text
    const lines = rest.split('\n')
    rest = lines.pop()!.slice(0, LONGEST_LINE)
    for (const line of lines) onLine(line)
  }
  return {
    add: (chunk: Buffer) => take(decoder.write(chunk)),
    end: () => {
      const last = rest + decoder.end()
      rest = ''
      if (last !== '') onLine(last)
    },
  }
}
