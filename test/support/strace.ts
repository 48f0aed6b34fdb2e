import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What starts the program so that the n-th of these system calls is its last (`signal=KILL`), or fails (`error=EIO`). */
export function struckAt(calls: string, n: number, fault: string): string[] {
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:${fault}:when=${n}`]
  return ['strace', '-f', '-qq', '-o', '/dev/null', ...inject, process.execPath]
}

/** How often a command makes a call, so that every one of them can be hit. */
export function counted(args: readonly string[], call: string, cwd: string): number {
  const out = join(cwd, 'trace')
  const program = join(import.meta.dirname, '../../bin/punchlist.js')
  const ran = spawnSync('strace', ['-f', '-qq', '-o', out, '-e', `trace=${call}`, process.execPath, program, ...args], {
    cwd,
  })
  if (ran.error) throw new Error('strace is needed for this: apt-get install strace', { cause: ran.error })
  return readFileSync(out, 'utf8').split(`${call}(`).length - 1
}
