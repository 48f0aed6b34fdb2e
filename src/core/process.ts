import { readFileSync, readlinkSync } from 'node:fs'
import { ON_LINUX, thisBoot } from './clock.ts'
import { codeOf } from './disk.ts'

/** A process that is at work on something: enough to tell whether it still is. */
export interface Worker {
  readonly pid: number
  /** When it was started, as the system counts it: a number is given to another process one day. */
  readonly start: string
  /** The beginning of the machine's run. */
  readonly boot: string
  /** The PID namespace that the number belongs to: a container has its own. Absent in marks of older programs. */
  readonly namespace?: string | undefined
}

/** Whoever takes longer than this over a few renames is held to be gone, even where its process is there. */
const PATIENCE_MS = 60_000

let self: Worker | undefined

export function thisProcess(): Worker {
  const boot = () => thisBoot().slice(0, 8)
  self ??= { pid: process.pid, start: startOf('self') ?? '0', boot: boot(), namespace: pidNamespace() }
  return self
}

let ours: string | undefined

/** The PID namespace of this process; `0` where the system has none. */
export function pidNamespace(): string {
  try {
    ours ??= readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
  } catch {
    ours = '0'
  }
  return ours
}

/** A process as part of a file name. */
export function renderWorker({ pid, start, boot, namespace }: Worker): string {
  return [pid, start, boot, ...(namespace === undefined ? [] : [namespace])].join('.')
}

/** The process in the last part of a file name, which a count follows. */
export function parseWorker(text: string): Worker | undefined {
  const [, pid, start, boot, namespace] = /^(\d+)\.([^.]+)\.([^.]+)(?:\.(\d+))?\.\d+$/.exec(text) ?? []
  return pid === undefined ? undefined : { pid: Number(pid), start: start!, boot: boot!, namespace }
}

export function isThisProcess({ pid, start, boot, namespace }: Worker): boolean {
  const me = thisProcess()
  return pid === me.pid && start === me.start && boot === me.boot && (namespace ?? me.namespace) === me.namespace
}

/**
 * Whether the process has ended. `since`: when its work began, in milliseconds.
 * A process of another PID namespace cannot be looked up from here: it counts as ended after `patienceMs`.
 */
export function isGone(worker: Worker, since: number, patienceMs = PATIENCE_MS): boolean {
  if (worker.boot !== thisProcess().boot) return true
  if (Date.now() - since > patienceMs) return true
  return isVisible(worker) && !isRunning(worker.pid, worker.start)
}

/** Whether a process with this number is one that this process would see. */
function isVisible({ namespace }: Worker): boolean {
  if (namespace !== undefined && namespace !== pidNamespace()) return false
  return !ON_LINUX || isProcOurs()
}

let procIsOurs: boolean | undefined

/** Whether /proc counts processes as we do: `unshare --pid` without `--mount-proc` leaves that of the outer namespace. */
function isProcOurs(): boolean {
  try {
    procIsOurs ??= readlinkSync('/proc/self') === String(process.pid)
  } catch {
    procIsOurs = false
  }
  return procIsOurs
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
