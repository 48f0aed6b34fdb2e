import { basename } from 'node:path'
import { makeNewFolder, moveEntry, removeTree } from '../../core/file-entries.ts'
import type { Kind, Texts } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import { renderWorker, thisProcess } from '../../core/process.ts'
import type { Batch, Place } from './batches.ts'
import type { Desk } from './desk.ts'
import { guarded, inTheWay, unless } from './problems.ts'
import { formOf, readDirectory } from './reading.ts'
import { statsAt, syncFolder } from './root.ts'
import { fillDirectory } from './writing.ts'

let count = 0

/** A directory that is whole, where nobody sees it yet. */
export interface Built {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly path: string
}

/** `completed`: adds what does not come from the texts. */
export function build(
  desk: Desk,
  kind: Kind,
  own: { id: string; status: string; fields: Fields },
  texts: Texts,
  completed: (built: Built) => void = () => undefined,
): Built {
  const { id, status, fields } = own
  const name = formOf(kind).name({ ...fields, id })
  const path = desk.root.own('new', `${name}~${renderWorker(thisProcess())}.${++count}`)
  guarded(path, () => makeNewFolder(path))
  try {
    fillDirectory(kind, path, name, texts)
    const read = readDirectory(kind, path, name)
    if (read && !('message' in read)) {
      const built = { id, name, status, path }
      completed(built)
      return built
    }
    throw new Problem('bad_input', `${name}: ${read?.message ?? 'is gone'}`, 'Correct what it says and add it again.', {
      id,
    })
  } catch (error) {
    clear(path)
    throw error
  }
}

/** Builds several, all of them or none. */
export function buildAll<T>(all: readonly T[], make: (one: T) => Built): Built[] {
  const built: Built[] = []
  try {
    for (const one of all) built.push(make(one))
    return built
  } catch (error) {
    for (const { path } of built) clear(path)
    throw error
  }
}

/** Nobody sees it: what cannot be removed now is removed by `recover`. */
function clear(path: string): void {
  try {
    removeTree(path)
  } catch {
    // Named after this process, which is gone by then.
  }
}

/**
 * Puts what was built in its place, all of it or nothing, also if this process is killed over it; each folder is synced
 * once.
 */
export function appear(desk: Desk, built: readonly Built[]): void {
  const folders = new Set(built.map(({ status }) => status))
  const shown: Built[] = []
  let batch: Batch | undefined
  try {
    for (const status of folders) desk.root.makeStatus(status)
    for (const { path, name, status } of built) {
      const other = desk.root.statuses.find(folder => statsAt(desk.root.status(folder, name)))
      if (other !== undefined) throw inTheWay(name, 'new', other === status ? status : `${status} (it is in ${other})`)
      syncFolder(path)
    }
    if (built.length > 1) batch = desk.batches.note(built.map(placeOf))
    for (const one of built) {
      const to = desk.root.status(one.status, one.name)
      guarded(one.path, () => moveEntry(one.path, to), to)
      shown.push(one)
    }
    for (const status of folders) syncFolder(desk.root.status(status))
    syncFolder(desk.root.own('tasks'))
  } catch (error) {
    if (!(error instanceof Problem) || takeAway(desk, shown)) {
      if (batch) forget(desk, batch)
      for (const { path } of built) clear(path)
      throw error
    }
    // Some are there and stay there: the note of their batch has the next look put the others beside them.
    desk.warnings.add(desk.root.top, `added; the next command puts all of it into place: ${error.message}`)
    return
  }
  if (batch) forget(desk, batch)
}

/** Takes away again what was put into its place; false where some of it stays. Nothing is removed yet. */
function takeAway(desk: Desk, shown: readonly Built[]): boolean {
  try {
    for (const { status, name, path } of shown)
      unless(['ENOENT'], path, () => moveEntry(desk.root.status(status, name), path))
    return true
  } catch {
    return false
  }
}

function placeOf({ id, name, status, path }: Built): Place {
  return { id, name, status, built: basename(path) }
}

/** A note that stays is about directories that are where they belong, or gone. */
function forget(desk: Desk, batch: Batch): void {
  try {
    desk.batches.remove(batch)
  } catch {
    // The next look finds nothing left to move and removes it.
  }
}

/** Puts the rest of a batch in its place whose process was killed over it. Returns the ids of what was put there. */
export function goOn(desk: Desk, batch: Batch): Place[] {
  const moved = batch.places.filter(({ name, status, built }) => {
    const path = desk.root.own('new', built)
    if (!statsAt(path)?.isDirectory()) return false
    desk.root.makeStatus(status)
    const to = desk.root.status(status, name)
    if (statsAt(to)) throw inTheWay(name, 'new', status)
    // Another process may be faster.
    return unless(['ENOENT'], path, () => (moveEntry(path, to), true), to) ?? false
  })
  for (const status of new Set(moved.map(one => one.status))) syncFolder(desk.root.status(status))
  desk.batches.remove(batch)
  return moved
}

/** Takes away what has just been put down. Whoever has claimed it meanwhile may keep it. */
export function disappear(desk: Desk, built: readonly Built[]): void {
  let failed: unknown
  for (const { status, name, path } of built) {
    try {
      unless(['ENOENT'], path, () => moveEntry(desk.root.status(status, name), path))
    } catch (error) {
      failed ??= error
    }
    clear(path)
  }
  if (failed !== undefined) throw failed
}
