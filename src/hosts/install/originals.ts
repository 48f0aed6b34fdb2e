import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { digest } from '../../core/id.ts'
import { stateFile } from '../../core/state-file.ts'
import { removeUpwards } from './holding.ts'
import type { Where } from './host.ts'
import type { Change } from './planning.ts'

/** The folder for copies of what init changes, and the one that stays when there are none. */
export interface Originals {
  readonly folder: string
  readonly root: string
}

export function originalsFor({ home, env }: Where): Originals {
  const folder = stateFile('originals', { ...env, HOME: home })
  return { folder, root: folder.startsWith(home + sep) ? home : dirname(dirname(folder)) }
}

/**
 * Copies of files of others that are about to be changed, outside of the project and
 * for this user alone: they may hold keys. What a person should know of them is
 * the answer. Where no copy can be made that is told, and stops nobody.
 */
export function keepCopies(changes: readonly Change[], { folder }: Originals): string[] {
  const changed = changes.filter(({ theirs, after }) => theirs !== undefined && after !== undefined)
  const wanted = changed.filter(({ file, after }) => copyOf(file, folder) !== after)
  if (wanted.length === 0) return []
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const { file, before } of wanted) writeFileSync(placeFor(file, folder), before!, { mode: 0o600 })
    return wanted.map(({ file }) => `${file} as it was: ${placeFor(file, folder)}`)
  } catch (error) {
    return [`no copies were kept of the files as they were: ${(error as Error).message}`]
  }
}

/** A copy of what a file says again, or of one that is gone, is of no use. */
export function dropCopies(changes: readonly Change[], { folder, root }: Originals): void {
  for (const { file, after } of changes) {
    if (after === undefined || copyOf(file, folder) === after) rmSync(placeFor(file, folder), { force: true })
  }
  removeUpwards(folder, root)
}

function copyOf(file: string, folder: string): string | undefined {
  try {
    return readFileSync(placeFor(file, folder), 'utf8')
  } catch {
    return undefined
  }
}

function placeFor(file: string, folder: string): string {
  return join(folder, `${basename(file)}.${digest(file).slice(0, 12)}`)
}
