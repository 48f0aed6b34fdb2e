import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { codeOf } from './disk.ts'
import { Problem } from './problem.ts'

/**
 * Opens, reads and writes the files of a workspace, which may have come from
 * someone else. No function but `openNamed` follows a symbolic link in the last
 * part of a path or waits for the other end of a pipe. Callers check the folders
 * on the way once, with `refuseLinks` or `makeFolder`, or with `boundary.ts` where
 * people may have links of their own. `file-entries.ts` moves, links and removes.
 */

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** Whose file it may be: this user's, or, for what people share and nothing is decided by, anyone's. */
type Owner = 'own' | 'anyone'

export interface Opened {
  readonly descriptor: number
  readonly stats: Stats
}

/** Opens a regular file, and nothing else. What the file system has against it is thrown as it is. */
export function openRegular(
  path: string,
  flags: number,
  { mode = 0o600, owner = 'own' }: { readonly mode?: number; readonly owner?: Owner } = {},
): Opened {
  const descriptor = openPlain(path, flags | O_NONBLOCK | O_NOCTTY, mode)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw untrusted(path, whatIs(stats))
    if (owner === 'own' && !isOwn(stats.uid)) throw untrusted(path, 'the file of another user')
    return { descriptor, stats }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/**
 * Opens a file for reading that the user named or keeps in a home of their own:
 * links are followed. `waits`: for what the other end of a pipe brings.
 */
export function openNamed(path: string, waits = false): Opened {
  const descriptor = openSync(path, waits ? O_RDONLY : O_RDONLY | O_NONBLOCK | O_NOCTTY)
  return { descriptor, stats: fstatSync(descriptor) }
}

/** What such a file holds, at most so many bytes of it. */
export function readNamed(path: string, most: number, waits = false): Buffer {
  const { descriptor } = openNamed(path, waits)
  try {
    return readUpTo(descriptor, most)
  } finally {
    closeSync(descriptor)
  }
}

/** The bytes of a regular file, at most so many; undefined where there is none. A larger one is refused. */
export function readBytes(path: string, most: number, owner: Owner = 'own'): Buffer | undefined {
  const opened = openedOrNone(path, O_RDONLY, owner)
  if (!opened) return undefined
  try {
    const bytes = opened.stats.size > most ? undefined : readUpTo(opened.descriptor, most + 1)
    if (bytes === undefined || bytes.length > most) throw untrusted(path, `larger than ${most} bytes`)
    return bytes
  } finally {
    closeSync(opened.descriptor)
  }
}

/** The same as text. */
export function readRegular(path: string, most: number, owner: Owner = 'own'): string | undefined {
  return readBytes(path, most, owner)?.toString('utf8')
}

/**
 * The text of a file that `lstat` has just called regular and small enough, in
 * one call of Node's: that takes half the time of opening, measuring, reading
 * and closing it. What the file system has against it is thrown as it is.
 */
export function readLookedAt(path: string): string {
  return readFileSync(path, AS_TEXT)
}

/** The beginning of a regular file, so many bytes of it; undefined where there is none. */
export function readBeginning(path: string, bytes: number, owner: Owner = 'own'): string | undefined {
  const opened = openedOrNone(path, O_RDONLY, owner)
  if (!opened) return undefined
  try {
    return readUpTo(opened.descriptor, bytes).toString('utf8')
  } finally {
    closeSync(opened.descriptor)
  }
}

/** What a file that was just opened holds, at most so much, whatever it is said to hold. */
export function readUpTo(descriptor: number, most: number): Buffer {
  const pieces: Buffer[] = []
  for (let read = 0; read < most; ) {
    const piece = Buffer.allocUnsafe(Math.min(most - read, read === 0 ? 16_384 : 1_048_576))
    const length = readSync(descriptor, piece, 0, piece.length, null)
    if (length === 0) break
    pieces.push(piece.subarray(0, length))
    read += length
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

/** Makes a file with all of its text, or none; one that is there is left as it is, and reported as EEXIST. */
export function writeNew(path: string, content: string | Buffer, mode = 0o600): void {
  const descriptor = openPlain(path, O_WRONLY | O_CREAT | O_EXCL, mode)
  try {
    writeAll(descriptor, content)
  } catch (error) {
    removeRefused(path)
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** The same, on the disk when it returns; or there is no file. A mode that is given is set whatever the process's mask. */
export function writeDurably(path: string, content: string | Buffer, mode?: number): void {
  const descriptor = openPlain(path, O_WRONLY | O_CREAT | O_EXCL, mode ?? 0o600)
  try {
    if (mode !== undefined) fchmodSync(descriptor, mode)
    writeAll(descriptor, content)
    fsyncSync(descriptor)
  } catch (error) {
    removeRefused(path)
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Takes away a file whose text was refused. */
function removeRefused(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The disk that refused the text refuses this as well.
  }
}

/** Writes into an empty file of our own, sets its mode, and syncs it. */
export function fillFile(path: string, text: string, mode: number): void {
  const { descriptor } = openRegular(path, O_WRONLY)
  try {
    writeAll(descriptor, text)
    fchmodSync(descriptor, mode)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The same, where it does not matter who has made it. False where it was there; refuses what is no regular file. */
export function writeOnce(path: string, text: string, mode = 0o600): boolean {
  const stats = lstatSync(path, QUIETLY)
  if (stats?.isFile()) return false
  if (stats) throw untrusted(path, whatIs(stats))
  try {
    writeNew(path, text, mode)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}

let drafts = 0

/** Puts a text in a file's place, old or new at every instant; `drafting` is the folder that it is written in first. */
export function replaceFile(path: string, text: string, { mode = 0o600, drafting = dirname(path) } = {}): void {
  refuseOther(path)
  const draft = join(drafting, `${process.pid}-${++drafts}-${Math.random().toString(36).slice(2)}.new`)
  try {
    writeNew(draft, text, mode)
    renameSync(draft, path)
  } catch (error) {
    removeFile(draft)
    throw error
  }
}

/** Adds to the end of a file, in one write; makes the file where there is none. */
export function appendFile(path: string, text: string, mode = 0o600): void {
  const { descriptor } = openRegular(path, O_WRONLY | O_APPEND | O_CREAT, { mode })
  try {
    writeAll(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes a folder below a root, with all on the way to it. A link on the way, or anything else that is no folder, is refused. */
export function makeFolder(root: string, path: string, mode = 0o700): void {
  for (const folder of between(root, path)) {
    const stats = lstatSync(folder, QUIETLY)
    if (stats) refuseNoFolder(folder, stats)
    else makeOne(folder, mode)
  }
}

/** Refuses a path with a link between a root and its end; what is not there is no hindrance. */
export function refuseLinks(root: string, path: string): void {
  const folders = between(root, path)
  for (const folder of folders) {
    const stats = lstatSync(folder, QUIETLY)
    if (!stats) return
    if (folder === folders.at(-1) && stats.isFile()) return
    refuseNoFolder(folder, stats)
  }
}

/** Refuses what is neither a regular file nor nothing. */
export function refuseOther(path: string): Stats | undefined {
  const stats = lstatSync(path, QUIETLY)
  if (stats && !stats.isFile()) throw untrusted(path, whatIs(stats))
  return stats
}

/** Refuses what is neither a folder nor nothing. */
export function refuseOtherThanFolder(path: string): Stats | undefined {
  const stats = lstatSync(path, QUIETLY)
  if (stats) refuseNoFolder(path, stats)
  return stats
}

/** The names in a folder; none where it is not there. */
export function namesIn(path: string): string[] {
  return refuseOtherThanFolder(path) ? readdirSync(path) : []
}

/** Takes a file away, or a link itself; false where there was none. */
export function removeFile(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return false
  }
}

/** Lets its owner into a folder, and leaves the rights of others as they are; false where nothing was to be changed. */
export function openToOwner(path: string): boolean {
  const stats = lstatSync(path, QUIETLY)
  // Linux asks for the right to write in a folder where it is moved to another one.
  if (!stats?.isDirectory() || (stats.mode & 0o700) === 0o700 || !isOwn(stats.uid)) return false
  chmodSync(path, (stats.mode & 0o7777) | 0o700)
  return true
}

/** Keeps a file or a folder from everyone but its owner. */
export function makePrivate(path: string): void {
  const descriptor = openPlain(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() && !stats.isDirectory()) throw untrusted(path, whatIs(stats))
    fchmodSync(descriptor, stats.isDirectory() ? 0o700 : 0o600)
  } finally {
    closeSync(descriptor)
  }
}

/** Whether a file with this owner counts as this user's; for root and under sudo, root's files do. */
export function isOwn(uid: number): boolean {
  const me = process.getuid?.()
  if (me === undefined || uid === me) return true
  const { SUDO_UID } = process.env
  const raised = me === 0 || SUDO_UID !== undefined
  return raised && (uid === 0 || (SUDO_UID !== undefined && uid === Number(SUDO_UID)))
}

export function untrusted(path: string, what: string): Problem {
  return new Problem(
    'untrusted',
    `${path} is ${what}: it is not used`,
    'Look where it came from, then move it away or remove it; what belongs there is made anew.',
    { file: path, what },
  )
}

function whatIs(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link'
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a pipe'
  if (stats.isSocket()) return 'a socket'
  return stats.isFile() ? 'a file' : 'a device'
}

/** Opens a path without following it. Refuses a link, and a pipe without a reader, at once. */
function openPlain(path: string, flags: number, mode?: number): number {
  try {
    return openSync(path, flags | O_NOFOLLOW, mode)
  } catch (error) {
    // Only now looked at: which of its parts is the link, the system does not say.
    if (['ELOOP', 'ENXIO', 'ENOTDIR', 'EISDIR', 'ENODEV', 'EOPNOTSUPP'].includes(codeOf(error))) {
      const stats = lstatSync(path, QUIETLY)
      if (stats && !stats.isFile()) throw untrusted(path, whatIs(stats))
    }
    throw error
  }
}

function openedOrNone(path: string, flags: number, owner: Owner): Opened | undefined {
  try {
    return openRegular(path, flags, { owner })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function writeAll(descriptor: number, content: string | Buffer): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
}

function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Somebody else has made it in the same moment.
    if (codeOf(error) !== 'EEXIST') throw error
    refuseNoFolder(folder, lstatSync(folder))
  }
}

function refuseNoFolder(path: string, stats: Stats): void {
  if (!stats.isDirectory()) throw untrusted(path, whatIs(stats))
}

/** Every folder below the root down to the path, the path included. */
function between(root: string, path: string): string[] {
  const way = relative(root, path)
  const parts = way === '' ? [] : way.split(sep)
  if (parts[0] === '..') throw untrusted(path, 'not in the workspace')
  return parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))
}

const QUIETLY = { throwIfNoEntry: false } as const
// Numbers are taken as they are, whatever the types say.
const AS_TEXT = { encoding: 'utf8', flag: (O_RDONLY | O_NOFOLLOW | O_NONBLOCK) as unknown as string } as const
