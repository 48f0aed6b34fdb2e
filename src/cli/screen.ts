import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'

/** Where something is shown that goes on for hours: lines that stay, and below them some that change. */
export interface Screen {
  /** Whether what was written can be written over. */
  readonly live: boolean
  readonly colour: boolean
  size(): { readonly columns: number; readonly rows: number }
  /** Once nobody reads it any more, what is written is lost: the work it tells of goes on. */
  write(text: string): void
}

export function processScreen(env: Readonly<Record<string, string | undefined>>): Screen {
  const live = isatty(1) && env['TERM'] !== 'dumb'
  let gone = false
  return {
    live,
    colour: live && !env['NO_COLOR'],
    // Some terminals, and those of tests, do not say how large they are.
    size: () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }),
    write: text => {
      gone ||= !written(Buffer.from(text))
    },
  }
}

function written(bytes: Buffer): boolean {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // EIO: the terminal was closed.
      if (code === 'EPIPE' || code === 'EIO') return false
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
  return true
}
