import { Problem } from '../../core/problem.ts'

/** What the file system reports, as something a person can act on. Everything else is a bug and stays one. */
export function problemFor(error: unknown, path: string, to?: string): unknown {
  if (error instanceof Problem) return error
  const { code, message } = error as NodeJS.ErrnoException
  const details = { file: path, reason: message }
  switch (code) {
    case 'EXDEV':
      return new Problem(
        'bad_input',
        `${path} cannot be moved to ${to ?? 'another folder'}: they are on different file systems`,
        'Put all folders of the queue on one file system: a task is claimed by renaming its directory.',
        details,
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ENOENT':
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return new Problem(
        'store_read_only',
        `${path} cannot be written: ${code}`,
        'Make the folders of the queue writable for this user, or name another root with --root.',
        details,
      )
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EIO':
      return new Problem(
        'store_full',
        `${path} could not be written: ${code}`,
        'Check the disk and the space on it, then try again; nothing was half written.',
        details,
      )
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return new Problem(
        'store_busy',
        `${path} could not be opened: ${code}`,
        'Close other programs and try again.',
        details,
      )
    default:
      return error
  }
}

/** Does something with a path, and tells what the file system has against it. */
export function guarded<T>(path: string, work: () => T, to?: string): T {
  try {
    return work()
  } catch (error) {
    throw problemFor(error, path, to)
  }
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
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

export function leadsOut(path: string): Problem {
  return new Problem(
    'bad_input',
    `${path} leads out of the workspace`,
    'Remove the symbolic link, or make a folder in its place.',
    { file: path },
  )
}

export function changedUnderHand(path: string): Problem {
  return new Problem('changed_meanwhile', `${path} was changed by another program`, 'Read it again and decide anew.', {
    file: path,
  })
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
