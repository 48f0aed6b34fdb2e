import { Problem } from './problem.ts'

/** What the file system reports, as something a person can act on. Everything else is a bug and stays one. */
export function problemFor(error: unknown, path: string): unknown {
  if (error instanceof Problem) return error
  const { code, message } = error as NodeJS.ErrnoException
  const details = { file: path, reason: message }
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ENOENT':
    case 'ELOOP':
    case 'EXDEV':
    case 'ENAMETOOLONG':
      return new Problem(
        'store_read_only',
        `${path} cannot be written: ${code}`,
        'Make the file and its folder writable for this user, or name another root with --root.',
        details,
      )
    case 'EEXIST':
      return new Problem('changed_meanwhile', `${path} is there already`, 'Look again and decide anew.', details)
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

export function leadsOut(path: string): Problem {
  return new Problem(
    'bad_input',
    `${path} leads out of the workspace, or into its repository`,
    'Remove the symbolic link, or make a folder in its place.',
    { file: path },
  )
}

export function changedUnderHand(path: string): Problem {
  return new Problem('changed_meanwhile', `${path} was changed by another program`, 'Read it again and decide anew.', {
    file: path,
  })
}

/** What the file system calls it. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

/** File systems without links answer with one of these. */
export const LINKLESS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP', 'EMLINK'])
