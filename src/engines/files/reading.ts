import { lstatSync, type Stats } from 'node:fs'
import { problemFor } from '../../core/disk.ts'
import { readBytes, readLookedAt } from '../../core/files.ts'
import type { Complaint, Content } from '../../core/kind.ts'

/** A todo of a megabyte is a mistake; and what is read is kept in memory. */
export const LARGEST = 1024 * 1024

/** What the file system says of a path, and not of where a link leads; undefined where nothing is. */
export function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, QUIETLY)
  } catch (error) {
    // A file has taken the place of a folder on the way.
    if (codeOf(error) === 'ENOTDIR') return undefined
    throw problemFor(error, path)
  }
}

export interface Look {
  readonly stats: Stats
  readonly text: string
}

/**
 * The text of a regular file, or why there is none. Never follows a link, never
 * waits for the other end of a pipe. Undefined when nothing is there.
 *
 * Looked at before it is read: a file that changes in between has other stats at
 * the next look.
 */
export function readText(path: string, largest = LARGEST): Look | (Complaint & { readonly stats: Stats }) | undefined {
  const stats = statsAt(path)
  if (!stats) return undefined
  const why = unfit(stats, largest)
  if (why !== undefined) return { stats, line: 1, message: why }
  try {
    const text = readLookedAt(path)
    // Only a text with replacements in it can have come from something else than UTF-8.
    const odd = text.indexOf('\uFFFD')
    if (odd === -1 || isUtf8(path, text, largest)) return { stats, text }
    return { stats, line: text.slice(0, odd).split('\n').length, message: 'is not UTF-8' }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    // Nothing is wrong with the file itself.
    if (code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM') throw problemFor(error, path)
    return { stats, line: 1, message: code === 'ELOOP' ? 'is a symbolic link' : `cannot be read: ${code}` }
  }
}

/** How long a file that is written in place may be half written, and how long empty: a busy disk takes its time. */
const HALF_WRITTEN_MS = 100
const EMPTY_MS = 1000

export interface Found {
  readonly stats: Stats
  /** The whole text; absent where there is none. */
  readonly text?: string
  readonly content: Content | Complaint
}

/**
 * What stands in a file, or why that cannot be said. Whoever writes a file in
 * place empties it first: one that cannot be read and has just been written is
 * read again.
 */
export function readContent(path: string, read: (text: string) => Content | Complaint): Found | undefined {
  let patience: number | undefined
  for (;;) {
    const look = readText(path)
    if (!look) return undefined
    const { stats } = look
    const found: Found =
      'text' in look ? { stats, text: look.text, content: read(look.text) } : { stats, content: look }
    if (!('message' in found.content)) return found
    patience ??= Date.now() + 2 * EMPTY_MS
    const now = statsAt(path)
    if ((now && isSettled(now) && isSame(now, found.stats)) || Date.now() > patience) return found
    Atomics.wait(NOBODY, 0, 0, 5)
  }
}

function isSettled({ size, mtimeMs }: Stats): boolean {
  return Math.abs(Date.now() - mtimeMs) > (size === 0 ? EMPTY_MS : HALF_WRITTEN_MS)
}

/** Whether nobody has written a file between two looks at it, as far as they tell. */
export function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs
}

const NOBODY = new Int32Array(new SharedArrayBuffer(4))
const QUIETLY = { throwIfNoEntry: false } as const

/** Whether a text with replacements in it is what the file holds. */
function isUtf8(path: string, text: string, largest: number): boolean {
  const bytes = readBytes(path, largest, 'anyone')
  return bytes !== undefined && Buffer.from(text).equals(bytes)
}

function unfit(stats: Stats, largest: number): string | undefined {
  if (stats.isSymbolicLink()) return 'is a symbolic link'
  if (!stats.isFile()) return 'is not a regular file'
  return stats.size > largest ? `is larger than ${largest / 1024} KiB` : undefined
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}
