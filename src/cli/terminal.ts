import { fstatSync, writeSync } from 'node:fs'
import { harmless } from '../core/text.ts'

/** Where a command writes to, and what it reads: the process's own streams, or a test's. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** A document to the last byte, but for control characters where a person looks at it. */
  print(document: string): void
  /** Whether a person looks at it: then there may be colours. */
  readonly colour: boolean
  /** The text of a file, or of standard input for `-`. */
  read(file: string): Promise<string>
  /** Whether a person sits there who can be asked. */
  readonly interactive: boolean
  /** A line that a person types; undefined when there will be none any more. */
  ask(question: string): Promise<string | undefined>
  /** Ctrl-C: what goes on until then ends in order. */
  readonly interrupted: AbortSignal
}

/**
 * The process's own streams, written to directly: process.stdout would load
 * Node's stream library, a sixth of a start, for one write.
 */
export function processTerminal(): Terminal {
  return {
    out: text => write(1, `${text}\n`),
    err: text => write(2, `${text}\n`),
    print: document => write(1, isTerminal(1) ? harmless(document) : document),
    get colour() {
      return isTerminal(1) && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb'
    },
    read: async file => (await import('./input.ts')).readInput(file),
    get interactive() {
      return isTerminal(0) && isTerminal(1)
    },
    ask: async question => await (await import('./input.ts')).askPerson(question),
    get interrupted() {
      const interrupt = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupt.abort())
      return interrupt.signal
    },
  }
}

function write(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(descriptor, bytes, written)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // A reader that has gone away (`| head -1`) ends the work quietly.
      if (code === 'EPIPE') process.exit(0)
      // A pipe that someone made non-blocking is full for the moment.
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

function isTerminal(descriptor: number): boolean {
  // Asking the file system first: `node:tty` loads the network stack. Major number 1 is Linux's /dev/null and its like.
  const stat = fstatSync(descriptor)
  if (!stat.isCharacterDevice() || (process.platform === 'linux' && stat.rdev >> 8 === 1)) return false
  return process.getBuiltinModule('node:tty').isatty(descriptor)
}
