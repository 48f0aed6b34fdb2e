import { Problem } from '../../core/problem.ts'

/** What SQLite and the file system report, as something a person can act on. Everything else is a bug and stays one. */
export function problemFor(error: unknown, path: string): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  const details = { file: path, reason: error.message }
  const { code, errcode } = error as { code?: string; errcode?: number }
  if (code === 'ERR_SQLITE_ERROR' && errcode !== undefined) return fromSqlite(errcode, path, details) ?? error
  if (code && ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ENOENT', 'EEXIST'].includes(code))
    return readOnly(path, details)
  if (code === 'ENOSPC' || code === 'EDQUOT') return full(path, details)
  return error
}

/** Whether another program holds the lock. */
export function isBusy(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'store_busy'
  const { code, errcode = 0 } = error as { code?: string; errcode?: number }
  return code === 'ERR_SQLITE_ERROR' && [BUSY, LOCKED].includes(errcode & 0xff)
}

/** Whether a unique index, other than that of the ids, refused a row. */
export function isTwice(error: unknown): boolean {
  return error instanceof Error && (error as { errcode?: number }).errcode === CONSTRAINT_UNIQUE
}

const CONSTRAINT_UNIQUE = 2067

// Primary result codes of SQLite; extended ones keep them in the low byte.
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26

function fromSqlite(errcode: number, path: string, details: { file: string; reason: string }): Problem | undefined {
  switch (errcode & 0xff) {
    case BUSY:
    case LOCKED:
      return new Problem(
        'store_busy',
        `${path} is locked by another program`,
        'Try again; if it stays locked, find the program that holds it open.',
        details,
      )
    case READONLY:
      return readOnly(path, details)
    case CANTOPEN:
      return new Problem(
        'store_read_only',
        `${path} cannot be opened`,
        'Make the file and its folder readable and writable for this user, or name another store with --store.',
        details,
      )
    case FULL:
      return full(path, details)
    case IOERR:
      return new Problem(
        'store_full',
        `${path} could not be read or written: ${details.reason}`,
        'Check the disk and the space on it, then try again; nothing was half written.',
        details,
      )
    case CORRUPT:
    case NOTADB:
      return new Problem(
        'unreadable_file',
        `${path} is damaged or not a database`,
        'Run "punchlist doctor" to see what is left; restore a backup, or move the file away to start anew.',
        details,
      )
    default:
      return undefined
  }
}

function readOnly(path: string, details: Record<string, unknown>): Problem {
  return new Problem(
    'store_read_only',
    `${path} cannot be written`,
    'Make the file and its folder writable for this user, or name another store with --store.',
    details,
  )
}

function full(path: string, details: Record<string, unknown>): Problem {
  return new Problem(
    'store_full',
    `There is no space left for ${path}`,
    'Free some space and try again; nothing was half written.',
    details,
  )
}
