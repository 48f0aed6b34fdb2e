import { constants, lstatSync, readFileSync, type Stats } from 'node:fs'
import type { Complaint } from '../../core/kind.ts'

/** A todo of a megabyte is a mistake; and what is read is kept in memory. */
const LARGEST = 1024 * 1024

export interface Look {
  readonly stats: Stats
  readonly text: string
}

/**
 * The text of a regular file, or why there is none. Never follows a link, never
 * waits for the other end of a pipe. Undefined when nothing is there.
 *
 * Looked at before it is read: a file that changes in between has other stats at
 * the next look. Node reads a whole file as text in one call, which takes half
 * the time of opening, measuring, reading and closing it.
 */
export function readText(path: string): Look | (Complaint & { readonly stats: Stats }) | undefined {
  const stats = lstatSync(path, QUIETLY)
  if (!stats) return undefined
  const why = unfit(stats)
  if (why !== undefined) return { stats, line: 1, message: why }
  try {
    const text = readFileSync(path, AS_TEXT)
    // Only a text with replacements in it can have come from something else than UTF-8.
    const odd = text.indexOf('\uFFFD')
    if (odd === -1 || Buffer.from(text).equals(readFileSync(path, AS_BYTES))) return { stats, text }
    return { stats, line: text.slice(0, odd).split('\n').length, message: 'is not UTF-8' }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return undefined
    return { stats, line: 1, message: code === 'ELOOP' ? 'is a symbolic link' : `cannot be read: ${code}` }
  }
}

const QUIETLY = { throwIfNoEntry: false } as const
// Numbers are taken as they are, whatever the types say.
const flag = (constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK) as unknown as string
const AS_TEXT = { encoding: 'utf8', flag } as const
const AS_BYTES = { flag } as const

function unfit(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return 'is a symbolic link'
  if (!stats.isFile()) return 'is not a regular file'
  return stats.size > LARGEST ? `is larger than ${LARGEST / 1024} KiB` : undefined
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}
