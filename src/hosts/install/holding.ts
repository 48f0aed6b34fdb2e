import { lstatSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { codeOf, problemFor } from '../../core/disk.ts'
import { makeNamedFolder, removeFolder } from '../../core/file-entries.ts'
import { removeFile, writeNew } from '../../core/files.ts'

/** A file that init may change, and the folder that stays whatever is taken out. */
export interface Place {
  readonly file: string
  readonly root: string
}

/** Nobody holds a file that long; whoever did was killed. */
const ABANDONED_MS = 5000

/** What is prepared for a file, beside it. */
export function beside(file: string): string {
  return join(dirname(file), `.${basename(file)}.punchlist-new`)
}

/** Makes what is prepared for each of these files, or as many of them as nobody else has made. */
export function hold(places: readonly Place[]): { complete: boolean; release: () => void } {
  const made: string[] = []
  const folders: string[] = []
  const release = () => {
    for (const file of made) removeFile(file)
    for (const folder of folders.toSorted((a, b) => b.length - a.length)) removeIfEmpty(folder)
  }
  try {
    // Always in the same order, so that two of us cannot wait for each other.
    for (const { file } of places.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
      const first = makeNamedFolder(dirname(file))
      for (let folder = dirname(file); first !== undefined && folder.startsWith(first); folder = dirname(folder))
        folders.push(folder)
      const own = beside(file)
      if (!claimed(own)) return { complete: false, release }
      made.push(own)
    }
    return { complete: true, release }
  } catch (error) {
    release()
    throw problemFor(error, (error as NodeJS.ErrnoException).path ?? places[0]!.file)
  }
}

function claimed(file: string): boolean {
  try {
    writeNew(file, '')
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    if (isAbandoned(file)) removeFile(file)
    return false
  }
}

function isAbandoned(file: string): boolean {
  const since = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs
  return since !== undefined && Date.now() - since > ABANDONED_MS
}

/** Of these files, those beside which somebody who was killed has left what was prepared. */
export function abandoned<T extends Place>(places: readonly T[]): T[] {
  return places.filter(({ file }) => isAbandoned(beside(file)))
}

export function clear(places: readonly Place[]): void {
  for (const { file, root } of abandoned(places)) {
    removeFile(beside(file))
    removeUpwards(dirname(file), root)
  }
}

/** Folders that only held what was taken out: `.claude/skills/punchlist`, then `.claude/skills` and so on. */
export function removeUpwards(folder: string, root: string): void {
  if (folder.startsWith(root + sep) && removeIfEmpty(folder)) removeUpwards(dirname(folder), root)
}

function removeIfEmpty(folder: string): boolean {
  try {
    removeFolder(folder)
    return true
  } catch {
    return false
  }
}
