import { codeOf, problemFor as problemOfDisk } from '../../core/disk.ts'
import { Problem } from '../../core/problem.ts'

/** What the file system reports, as something a person can act on. */
export function problemFor(error: unknown, path: string, to?: string): unknown {
  if (codeOf(error) !== 'EXDEV') return problemOfDisk(error, path)
  return new Problem(
    'bad_input',
    `${path} cannot be moved to ${to ?? 'another folder'}: they are on different file systems`,
    'Put all folders of the queue on one file system: a task is claimed by renaming its directory.',
    { file: path, reason: (error as Error).message },
  )
}

/** Does something with a path, and tells what the file system has against it. */
export function guarded<T>(path: string, work: () => T, to?: string): T {
  try {
    return work()
  } catch (error) {
    throw problemFor(error, path, to)
  }
}

/** The same, but for what was expected to happen now and then: undefined then. */
export function unless<T>(codes: readonly string[], path: string, work: () => T, to?: string): T | undefined {
  try {
    return work()
  } catch (error) {
    if (codes.includes(codeOf(error))) return undefined
    throw problemFor(error, path, to)
  }
}

/** Somebody put a directory of the same name where this one belongs. */
export function inTheWay(name: string, from: string, to: string): Problem {
  return new Problem(
    'move_refused',
    `${name} cannot be moved from ${from} to ${to}: there is one already`,
    `Compare the two, move one of them away, then run: punchlist queue recover.`,
    { name, from, to },
  )
}
