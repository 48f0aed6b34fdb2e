import { lstatSync, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isOwn } from '../core/files.ts'
import { Problem } from '../core/problem.ts'
import { realRoot } from './root.ts'
import { type Identity, identityOf, isSame, keepLog, keepStore, knownLog, knownStore } from './state.ts'

/** What of a store this user has neither made here nor accepted. */
export interface Foreign {
  readonly file: string
  /** Why, as the end of a sentence that begins with the file. */
  readonly why: string
  /** Whether accepting helps: a link, a device or a file of another user has to be moved away. */
  readonly acceptable: boolean
}

/** What is foreign about a database file and what lies beside it; undefined where nothing is, or nothing is there. */
export function foreignIn(path: string): Foreign | undefined {
  const folder = dirname(path)
  const strange = basename(folder) === '.punchlist' ? strangeFolder(folder) : undefined
  if (strange) return strange
  const [database, log, journal, index] = [path, `${path}-wal`, `${path}-journal`, `${path}-shm`].map(statsOf)
  for (const [file, stats] of [
    [path, database],
    [`${path}-wal`, log],
    [`${path}-journal`, journal],
    [`${path}-shm`, index],
  ] as const) {
    const why = stats && strangeFile(stats)
    if (why) return { file, why, acceptable: false }
  }
  const empty = !database || database.size === 0
  if (empty && !log?.size && !journal?.size) return undefined
  const known = database && knownStore(realOf(path))
  if (!known || !isSame(known, database)) return { file: path, why: 'was not made here by you', acceptable: true }
  // A rollback journal exists only while a database is being made; beside a finished one it would be played back.
  if (journal?.size && database.size > SMALLEST) return arrived(`${path}-journal`)
  if (!log?.size) return undefined
  const ours = knownLog(realOf(path))
  return ours && isSame(ours, log) ? undefined : arrived(`${path}-wal`)
}

/** So large is a database whose first page was written and nothing else. */
const SMALLEST = 8192

function arrived(file: string): Foreign {
  return { file, why: 'was not written by your own commands', acceptable: true }
}

/** Notes, before the first write, that this database and its log are this user's. */
export function keepAsOwn(path: string): void {
  const real = realOf(path)
  const database = statsOf(real)
  if (!database) return
  const known = knownStore(real)
  if (!known || !isSame(known, database)) keepStore(real, identityOf(database), false)
  keepCurrentLog(real)
}

/** Notes that this user accepts a database as it lies there. */
export function acceptStore(path: string): void {
  const real = realOf(path)
  const database = statsOf(real)
  if (!database) return
  keepStore(real, identityOf(database), true)
  keepCurrentLog(real)
}

/** Whether a database came with the folder and was accepted later. */
export function wasAccepted(path: string): boolean {
  return knownStore(realOf(path))?.accepted === true
}

export function untrustedStore({ file, why, acceptable }: Foreign): Problem {
  return new Problem(
    'untrusted',
    `${file} ${why}; nothing is written to it`,
    acceptable
      ? 'Look at it and accept it: punchlist trust. Or move it away: the next write makes a new one.'
      : 'Move it away and try again.',
    { file },
  )
}

function keepCurrentLog(path: string): void {
  const log = statsOf(`${path}-wal`)
  if (!log) return
  const known: Identity | undefined = knownLog(path)
  if (!known || !isSame(known, log)) keepLog(path, identityOf(log))
}

/** Why a folder of ours cannot be used, whatever is in it. */
export function strangeFolder(folder: string): Foreign | undefined {
  const stats = statsOf(folder)
  if (!stats) return undefined
  if (stats.isSymbolicLink()) return { file: folder, why: 'is a symbolic link', acceptable: false }
  if (!stats.isDirectory()) return { file: folder, why: 'is not a folder', acceptable: false }
  return isOwn(stats.uid) ? undefined : { file: folder, why: `belongs to the user ${stats.uid}`, acceptable: false }
}

function strangeFile(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return 'is a symbolic link'
  if (!stats.isFile()) return 'is not a regular file'
  return isOwn(stats.uid) ? undefined : `belongs to the user ${stats.uid}`
}

export function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // A file in place of a folder on the way: there is nothing here.
    return undefined
  }
}

/** Under one name, whichever way the workspace was reached. */
export function realOf(path: string): string {
  return join(realRoot(dirname(path)), basename(path))
}
