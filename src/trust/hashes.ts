import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { unwritable } from './state.ts'

/** Returns the hashes in a file of this user's state, one to a line; none where there is no such file. */
export function hashesIn(file: string): ReadonlySet<string> {
  try {
    return new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))
  } catch {
    return new Set()
  }
}

/** Adds hashes to such a file, and returns when they are on the disk. Throws `store_read_only` where they cannot be kept. */
export function keepHashes(file: string, hashes: readonly string[]): void {
  const known = hashesIn(file)
  const fresh = [...new Set(hashes)].filter(hash => !known.has(hash))
  if (fresh.length === 0) return
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const descriptor = openSync(file, 'a', 0o600)
    try {
      writeSync(descriptor, fresh.map(hash => `${hash}\n`).join(''))
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw unwritable(file, error)
  }
}
