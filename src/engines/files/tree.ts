import { lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { leadsOut, problemFor } from '../../core/disk.ts'
import type { FileForm, Kind } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { syncFolder } from './writing.ts'

type List = Readonly<Record<string, string>>

/** One folder of items: the list it holds, and where it lies below the folder of them all. */
export interface Place {
  readonly folder: string
  readonly list: List
}

/** The folders of a kind's lists. A folder that a symbolic link leads to counts only if it lies in the workspace. */
export class Tree {
  readonly top: string
  private readonly root: string
  /** Folders that were passed over because they lead out of the workspace. */
  readonly outside = new Set<string>()

  /** `top`: the folder of them all; `root`: the workspace, which nothing may lead out of. */
  constructor(top: string, root: string) {
    this.top = top
    this.root = root
  }

  path(folder: string, name = ''): string {
    return join(this.top, folder, name)
  }

  /** What comes before the names of a folder's files: as short as can be, as thousands of paths are walked one by one. */
  prefix(folder: string): string {
    const path = this.path(folder)
    const near = relative(process.cwd(), path)
    return near === '' || near.startsWith('..') ? `${path}/` : `${near}/`
  }

  /** Where a list lies. */
  placeOf(kind: Kind, fields: Fields): Place {
    const list = Object.fromEntries(kind.list.map(field => [field, String(fields[field])]))
    const folder = formOf(kind)
      .folders.map(segment => list[fieldIn(segment) ?? ''] ?? segment)
      .join('/')
    return { folder, list }
  }

  /** The lists that are there, as far as `where` does not exclude them. */
  places(kind: Kind, where: Fields): Place[] {
    return this.below(kind, where, formOf(kind).folders.length)
  }

  /** The values of one list field, in the order in which their folders were made. */
  names(kind: Kind, field: string, where: Fields): string[] {
    const depth = formOf(kind).folders.indexOf(`{${field}}`) + 1
    const found = this.below(kind, where, depth).map(({ folder, list }) => {
      const stats = statSync(this.path(folder), { throwIfNoEntry: false })
      // Where the file system does not keep it, the time of birth is 0.
      return { name: list[field]!, born: stats?.birthtimeMs || (stats?.ctimeMs ?? 0) }
    })
    const sorted = found.toSorted((one, other) => one.born - other.born || (one.name < other.name ? -1 : 1))
    return [...new Set(sorted.map(({ name }) => name))]
  }

  /** The names of everything in a folder, in order; none where it is not there. */
  files(folder: string): string[] {
    return listing(this.path(folder), path => readdirSync(path)).toSorted()
  }

  /** Makes the folder of a list, and all that lead there. */
  make(folder: string): void {
    const way = this.wayTo(folder)
    for (const path of way) this.makeOne(path)
    if (!this.isInside(way.at(-1)!)) throw leadsOut(way.at(-1)!)
  }

  /** Whether nothing on the way to a folder leads out of the workspace. */
  isReachable(folder: string): boolean {
    for (const path of this.wayTo(folder)) {
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (!stats) return true
      if (stats.isSymbolicLink() && !this.leadsInside(path)) {
        this.outside.add(path)
        return false
      }
    }
    return true
  }

  isInside(path: string): boolean {
    const real = realpathSync(path)
    const root = realpathSync(this.root)
    return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)
  }

  /** Every folder between the workspace and this one, which is the last. */
  private wayTo(folder: string): string[] {
    const way: string[] = []
    for (const segment of [...relative(this.root, this.top).split(sep), ...folder.split('/').filter(Boolean)]) {
      way.push(join(way.at(-1) ?? this.root, segment))
    }
    return way
  }

  private makeOne(path: string): void {
    try {
      mkdirSync(path, { mode: 0o700 })
      syncFolder(join(path, '..'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw problemFor(error, path)
      if (lstatSync(path).isSymbolicLink() && !this.leadsInside(path)) throw leadsOut(path)
    }
  }

  private below(kind: Kind, where: Fields, depth: number): Place[] {
    const form = formOf(kind)
    let found: Place[] = this.isReachable('') ? [{ folder: '', list: {} }] : []
    for (const segment of form.folders.slice(0, depth)) {
      const field = fieldIn(segment)
      found = found.flatMap(place => {
        const wanted = field === undefined ? segment : where[field]
        const names = typeof wanted === 'string' ? this.one(place.folder, wanted) : this.all(place.folder)
        return names
          .filter(name => field === undefined || form.admits(field, name))
          .map(name => ({
            folder: place.folder ? `${place.folder}/${name}` : name,
            list: field === undefined ? place.list : { ...place.list, [field]: name },
          }))
      })
    }
    return found
  }

  private one(folder: string, name: string): string[] {
    const stats = lstatSync(this.path(folder, name), { throwIfNoEntry: false })
    return stats && this.counts(this.path(folder, name), stats) ? [name] : []
  }

  private all(folder: string): string[] {
    const path = this.path(folder)
    return listing(path, () => readdirSync(path, { withFileTypes: true }))
      .filter(entry => this.counts(join(path, entry.name), entry))
      .map(({ name }) => name)
      .toSorted()
  }

  private counts(path: string, entry: { isDirectory(): boolean; isSymbolicLink(): boolean }): boolean {
    if (!entry.isSymbolicLink()) return entry.isDirectory()
    if (this.leadsInside(path)) return statSync(path).isDirectory()
    this.outside.add(path)
    return false
  }

  private leadsInside(path: string): boolean {
    try {
      return this.isInside(path)
    } catch {
      // A link to nowhere, or to itself.
      return false
    }
  }
}

export function formOf(kind: Kind): FileForm {
  if (!kind.file) throw new Error(`${kind.name} is not kept in files`)
  return kind.file
}

/** The id of the item that a file with these fields holds. */
export function idOf(kind: Kind, fields: Fields): string {
  if (!kind.idOf) throw new Error(`${kind.name} is not kept in files`)
  return kind.idOf(fields)
}

/** The list field that a segment stands for. */
function fieldIn(segment: string): string | undefined {
  return /^\{(\w+)\}$/.exec(segment)?.[1]
}

function listing<T>(path: string, list: (path: string) => T[]): T[] {
  try {
    return list(path)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw problemFor(error, path)
  }
}
