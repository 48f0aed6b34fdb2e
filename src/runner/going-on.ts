import { readFileSync } from 'node:fs'

/** Whether the runner that keeps an account is still there. Its name ends with the number of its process. */
export function isGoingOn(run: string, startedAt: string): boolean {
  const pid = Number(/-(\d+)$/.exec(run)?.[1])
  if (!pid) return false
  if (process.platform === 'linux') {
    const began = beganAt(pid)
    // A number is given to another process one day: that one began later.
    return began !== undefined && began <= Date.parse(startedAt) + 1000
  }
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** In milliseconds since 1970. Linux counts in hundredths of a second since the machine was started. */
function beganAt(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const boot = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1]
    if (state === 'Z' || state === 'X' || boot === undefined) return undefined
    return Number(boot) * 1000 + Number(rest[18]) * 10
  } catch {
    return undefined
  }
}
