import { readdirSync, readFileSync } from 'node:fs'
import { isRunning, thisProcess, type Worker } from '../core/process.ts'

/** The variable by which everything that an agent has started is known, also what has left its process group. */
export const RUN_MARK = 'PUNCHLIST_RUN'

/** Which runner it is, and what for. */
export function markOf(task: string): string {
  const { pid, start, boot } = thisProcess()
  return `${pid}.${start}.${boot}:${task}`
}

interface Marked {
  readonly pid: number
  readonly mark: string
}

/** Ends every process that a runner which is gone has left behind, and says how many there were. */
export function endOrphans(): number {
  return ended(({ mark }) => {
    const runner = runnerIn(mark)
    return runner !== undefined && (runner.boot !== thisProcess().boot || !isRunning(runner.pid, runner.start))
  })
}

/** Ends what is left of the agent of a task. */
export function endRest(task: string): number {
  const ours = markOf(task)
  return ended(({ mark }) => mark === ours)
}

function ended(which: (marked: Marked) => boolean): number {
  const found = marked().filter(which)
  for (const { pid } of found) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Ended by itself meanwhile.
    }
  }
  return found.length
}

function runnerIn(mark: string): Worker | undefined {
  const [, pid, start, boot] = /^(\d+)\.([^.]+)\.([^.:]+):/.exec(mark) ?? []
  return pid === undefined ? undefined : { pid: Number(pid), start: start!, boot: boot! }
}

/** Only Linux tells the environment of others; elsewhere the process groups must do. */
function marked(): Marked[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    const mark = markIn(name)
    return mark === undefined ? [] : [{ pid: Number(name), mark }]
  })
}

function markIn(pid: string): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    return environment.find(entry => entry.startsWith(`${RUN_MARK}=`))?.slice(RUN_MARK.length + 1)
  } catch {
    // Somebody else's, or gone.
    return undefined
  }
}
