import { hostname } from 'node:os'
import { isRunning, pidNamespace, thisProcess, type Worker } from '../core/process.ts'
import type { RunState } from './state.ts'

/** Who a runner is: enough to tell whether it is still there, from where its number means something. */
interface Runner extends Worker {
  readonly host: string
  readonly numbering: string
}

export function thisRunner(): Runner {
  return { ...thisProcess(), host: hostname(), numbering: pidNamespace() }
}

export const LARGEST_SIGN = 8 * 1024 * 1024

/** Whether the runner that keeps an account is still there. One on another machine, or in a container, is held to be. */
export function isGoingOn(state: RunState, run: string): boolean {
  // Undefined where it has ended, or what lies there is not ours.
  const runner = state.sealed(LARGEST_SIGN, 'open', run) as Runner | undefined
  if (!runner) return false
  const here = thisRunner()
  // By another beginning of the machine's run it was before that; by another name it is another machine's.
  if (runner.boot !== here.boot) return runner.host !== here.host
  return runner.numbering !== here.numbering || isRunning(runner.pid, runner.start)
}
