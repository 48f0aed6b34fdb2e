import { readFileSync } from 'node:fs'
import { ON_LINUX, thisBoot } from './clock.ts'
import { codeOf } from './disk.ts'

/** A process that is at work on something: enough to tell whether it still is. */
export interface Worker {
  readonly pid: number
  /** When it was started, as the system counts it: a number is given to another process one day. */
  readonly start: string
  /** The beginning of the machine's run. */
  readonly boot: string
}

/** Whoever takes longer than this over a few renames is held to be gone, even where its process is there. */
const PATIENCE_MS = 60_000

let self: Worker | undefined

export function thisProcess(): Worker {
  self ??= { pid: process.pid, start: startOf('self') ?? '0', boot: thisBoot().slice(0, 8) }
  return self
}

export function isThisProcess({ pid, start, boot }: Worker): boolean {
  const me = thisProcess()
  return pid === me.pid && start === me.start && boot === me.boot
}

/** Whether nobody is at it any longer. `since`: when it was begun, in milliseconds. */
export function isGone({ pid, start, boot }: Worker, since: number): boolean {
  if (boot !== thisProcess().boot) return true
  return !isRunning(pid, start) || Date.now() - since > PATIENCE_MS
}

export function isRunning(pid: number, start: string): boolean {
  if (ON_LINUX) return startOf(pid) === start
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Undefined for a process that is not there, or has ended and was not yet taken notice of. */
function startOf(pid: number | 'self'): string | undefined {
  if (!ON_LINUX) return '0'
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in parentheses and may hold any character.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? undefined : rest[18]
  } catch {
    return undefined
  }
}
