import { readFileSync } from 'node:fs'

/** A process by its number and, where the system tells, its start: numbers are used again. Empty where there is none. */
export function nameOfProcess(pid: number): string {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return ''
  }
  return `${pid}:${startOf(pid)}`
}

/** Whether a process is still the one that had this name. */
export function isRunning(name: string | undefined): boolean {
  const pid = Number(name?.split(':')[0])
  return Number.isInteger(pid) && pid > 0 && name === nameOfProcess(pid)
}

function startOf(pid: number): string {
  try {
    // The second field is the program's name in brackets, which may hold anything; the start is the 22nd.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
