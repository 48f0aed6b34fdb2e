import { readdirSync, readFileSync } from 'node:fs'
import { RUN_MARK } from '../core/lineage.ts'
import { isRunning, pidNamespace, thisProcess, type Worker } from '../core/process.ts'

export { RUN_MARK } from '../core/lineage.ts'

/** Which runner it is, and what for. */
export function markOf(task: string): string {
  return `${ownMark()}:${task}`
}

/** What the marks of this runner begin with. */
export function ownMark(): string {
  const { pid, start, boot } = thisProcess()
  return `${pid}.${start}.${boot}.${pidNamespace()}`
}

interface Marked {
  readonly pid: number
  readonly mark: string
}

/** Ends every process that a runner which is gone has left behind, and says how many there were. */
export function endOrphans(): number {
  return ended(({ mark }) => {
    const runner = runnerIn(mark)
    return runner !== undefined && !isRunning(runner.pid, runner.start)
  })
}

/** Looking at every process takes milliseconds: it is done for all agents that have ended since the last time. */
const REST_MS = 1000

/** Ends what agents and wards that have ended left behind outside of their process groups: soon, and when the run ends. */
export class Rest {
  private readonly marks = new Set<string>()
  private timer: NodeJS.Timeout | undefined

  of(what: string): void {
    this.marks.add(markOf(what))
    this.timer ??= setTimeout(() => this.end(), REST_MS)
  }

  /** Something else begins by that mark, which is not to be ended. */
  not(what: string): void {
    if (this.marks.has(markOf(what))) this.end()
  }

  end(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.marks.size > 0) ended(({ mark }) => this.marks.has(mark))
    this.marks.clear()
  }
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

/** Undefined where it cannot be told from here. */
function runnerIn(mark: string): Pick<Worker, 'pid' | 'start'> | undefined {
  const [, pid, start, boot, numbered] = /^(\d+)\.([^.]+)\.([^.:]+)\.(\d+):/.exec(mark) ?? []
  if (pid === undefined || boot !== thisProcess().boot || numbered !== pidNamespace()) return undefined
  return { pid: Number(pid), start: start! }
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
