import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isRunning, thisProcess, type Worker } from '../core/process.ts'
import { numbering } from './marked.ts'

/** Who a runner is: enough to tell whether it is still there, from where its number means something. */
interface Runner extends Worker {
  readonly host: string
  readonly numbering: string
}

export function thisRunner(): Runner {
  return { ...thisProcess(), host: hostname(), numbering: numbering() }
}

/** Whether the runner that keeps an account is still there. One on another machine, or in a container, is held to be. */
export function isGoingOn(folder: string, run: string): boolean {
  try {
    const runner = JSON.parse(readFileSync(join(folder, 'open', run), 'utf8')) as Runner
    const here = thisRunner()
    // By another beginning of the machine's run it was before that; by another name it is another machine's.
    if (runner.boot !== here.boot) return runner.host !== here.host
    return runner.numbering !== here.numbering || isRunning(runner.pid, runner.start)
  } catch {
    // It has ended, or what it left there cannot be read.
    return false
  }
}
