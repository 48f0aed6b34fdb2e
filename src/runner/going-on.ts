import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning, thisProcess, type Worker } from '../core/process.ts'

/** Whether the runner that keeps an account is still there, on this machine. */
export function isGoingOn(folder: string, run: string): boolean {
  try {
    const { pid, start, boot } = JSON.parse(readFileSync(join(folder, 'open', run), 'utf8')) as Worker
    return boot === thisProcess().boot && isRunning(pid, start)
  } catch {
    // It has ended, or what it left there cannot be read.
    return false
  }
}
