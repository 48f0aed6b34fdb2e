import { makeNewFolder, moveEntry, removeTree } from '../../core/file-entries.ts'
import type { Kind, Texts } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import { renderWorker, thisProcess } from '../../core/process.ts'
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

export function build(
  desk: Desk,
  kind: Kind,
  own: { id: string; status: string; fields: Fields },
  texts: Texts,
): Built {
  const { id, status, fields } = own
  const name = formOf(kind).name({ ...fields, id })
  const path = desk.root.own('new', `${name}~${renderWorker(thisProcess())}.${++count}`)
  guarded(path, () => makeNewFolder(path))
  fillDirectory(kind, path, name, texts)
  const read = readDirectory(kind, path, name)
  if (!read || 'message' in read) {
    removeTree(path)
    throw new Problem('bad_input', `${name}: ${read?.message ?? 'is gone'}`, 'Correct what it says and add it again.', {
      id,
    })
  }
  return { id, name, status, path }
}

/** Puts what was built in its place, all of it or nothing; each folder is synced once. */
export function appear(desk: Desk, built: readonly Built[]): void {
  const folders = new Set(built.map(({ status }) => status))
  const shown: Built[] = []
  try {
    for (const status of folders) desk.root.makeStatus(status)
    for (const { path, name, status } of built) {
      const other = desk.root.statuses.find(folder => statsAt(desk.root.status(folder, name)))
      if (other !== undefined) throw inTheWay(name, 'new', other === status ? status : `${status} (it is in ${other})`)
      syncFolder(path)
    }
    for (const one of built) {
      const to = desk.root.status(one.status, one.name)
      guarded(one.path, () => moveEntry(one.path, to), to)
      shown.push(one)
    }
    for (const status of folders) syncFolder(desk.root.status(status))
    syncFolder(desk.root.own('tasks'))
  } catch (error) {
    disappear(desk, shown)
    for (const { path } of built) removeTree(path)
    throw error
  }
}

/** Takes away what has just been put down. Whoever has claimed it meanwhile may keep it. */
export function disappear(desk: Desk, built: readonly Built[]): void {
  for (const { status, name, path } of built) {
    unless(['ENOENT'], path, () => moveEntry(desk.root.status(status, name), path))
    removeTree(path)
  }
}
