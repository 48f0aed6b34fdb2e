import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isInside } from '../../core/boundary.ts'
import { codeOf, leadsOut, problemFor } from '../../core/disk.ts'
import { makeNamedFolder, makeNewFolder } from '../../core/file-entries.ts'
import type { FileForm, Kind } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import { statsAt } from './reading.ts'
import { syncFolder } from './writing.ts'

type List = Readonly<Record<string, string>>

/** Whether a folder of this name is one of ours. */
type Fits = (name: string) => boolean

/** One folder of items: the list it holds, and where it lies below the folder of them all. */
export interface Place {
  readonly folder: string
  readonly list: List
}

/** The folders of a kind's lists. A folder that a symbolic link leads to counts only if it lies in the workspace. */
export class Tree {
  readonly top: string
  private readonly root: string
  /** What was passed over where a folder should be, and why. */
  readonly astray = new Map<string, string>()

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
    return this.below(kind, where, 0, formOf(kind).folders.length)
  }

  /**
   * The values of one list field, in the order in which their folders were made,
   * of lists that have something in them; of those that are `known` to have, it
   * is enough that their folders are there.
   */
  names(kind: Kind, field: string, where: Fields, known: ReadonlySet<string>): string[] {
    const depth = formOf(kind).folders.indexOf(`{${field}}`) + 1
    const found = this.below(kind, where, 0, depth).filter(
      place => known.has(place.list[field]!) || this.holds(kind, where, place, depth),
    )
    const dated = found.map(({ folder, list }) => {
      const stats = statSync(this.path(folder), QUIETLY)
      // Where the file system does not keep it, the time of birth is 0.
      return { name: list[field]!, born: stats?.birthtimeMs || (stats?.ctimeMs ?? 0) }
    })
    const sorted = dated.toSorted((one, other) => one.born - other.born || (one.name < other.name ? -1 : 1))
    return [...new Set(sorted.map(({ name }) => name))]
  }

  /** Whether there is such a list below a folder; where several kinds share the folder of a list, only an item tells. */
  private holds(kind: Kind, where: Fields, place: Place, depth: number): boolean {
    const { folders } = formOf(kind)
    const shared = fieldIn(folders.at(-1)!) === undefined
    const lists = this.below(kind, where, depth, folders.length, [place])
    return lists.some(({ folder }) => !shared || this.hasItems(kind, folder))
  }

  hasItems(kind: Kind, folder: string): boolean {
    const form = formOf(kind)
    return this.files(folder).some(name => form.isItem(name))
  }

  /** The folder that all lists lie in which `where` does not exclude. */
  within(kind: Kind, where: Fields): string {
    const wanted = formOf(kind).folders.map(segment => {
      const field = fieldIn(segment)
      return field === undefined ? segment : where[field]
    })
    const open = wanted.findIndex(value => typeof value !== 'string')
    return wanted.slice(0, open === -1 ? wanted.length : open).join('/')
  }

  /** The names of everything in a folder, in order; none where it is not there. */
  files(folder: string): string[] {
    return listing(this.path(folder), path => readdirSync(path)).toSorted()
  }

  /** Makes the folder of a list, and all that lead there. */
  make(folder: string): void {
    const way = this.wayTo(folder)
    for (const path of way) this.makeOne(path)
    if (!isInside(this.root, way.at(-1)!)) throw leadsOut(way.at(-1)!)
  }

  /** Whether nothing on the way to a folder leads out of the workspace. */
  isReachable(folder: string): boolean {
    for (const path of this.wayTo(folder)) {
      const stats = statsAt(path)
      if (!stats) return true
      if (stats.isSymbolicLink() && !this.leadsInside(path)) {
        this.astray.set(path, LEADS_OUT)
        return false
      }
    }
    return true
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
      // Of a folder outside, which is the boundary itself, its parents need not be there either.
      if (path === this.root) makeNamedFolder(path, 0o700)
      else makeNewFolder(path)
      syncFolder(join(path, '..'))
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw problemFor(error, path)
      if (lstatSync(path).isSymbolicLink() && !this.leadsInside(path)) throw leadsOut(path)
      if (!statSync(path).isDirectory()) throw notAFolder(path)
    }
  }

  /** The folders at one depth below those at another. */
  private below(kind: Kind, where: Fields, from: number, to: number, above = this.beginning()): Place[] {
    const form = formOf(kind)
    let found = above
    for (const segment of form.folders.slice(from, to)) {
      const field = fieldIn(segment)
      found = found.flatMap(place => {
        const wanted = field === undefined ? segment : where[field]
        const fits = (name: string) => field === undefined || form.admits(field, name)
        const names = typeof wanted === 'string' ? this.one(place.folder, wanted, fits) : this.every(place.folder, fits)
        return names.map(name => ({
          folder: place.folder ? `${place.folder}/${name}` : name,
          list: field === undefined ? place.list : { ...place.list, [field]: name },
        }))
      })
    }
    return found
  }

  private beginning(): Place[] {
    return this.isReachable('') ? [{ folder: '', list: {} }] : []
  }

  private one(folder: string, name: string, fits: Fits): string[] {
    const path = this.path(folder, name)
    const stats = fits(name) ? statsAt(path) : undefined
    if (!stats) return []
    if (this.counts(path, stats)) return [name]
    if (!this.astray.has(path)) this.astray.set(path, 'is not a folder')
    return []
  }

  private every(folder: string, fits: Fits): string[] {
    const path = this.path(folder)
    return listing(path, () => readdirSync(path, { withFileTypes: true }))
      .filter(entry => fits(entry.name) && this.counts(join(path, entry.name), entry))
      .map(({ name }) => name)
      .toSorted()
  }

  private counts(path: string, entry: { isDirectory(): boolean; isSymbolicLink(): boolean }): boolean {
    if (!entry.isSymbolicLink()) return entry.isDirectory()
    if (this.leadsInside(path)) return statSync(path).isDirectory()
    this.astray.set(path, LEADS_OUT)
    return false
  }

  private leadsInside(path: string): boolean {
    try {
      return isInside(this.root, path)
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
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return []
    throw problemFor(error, path)
  }
}

function notAFolder(path: string): Problem {
  return new Problem('store_read_only', `${path} is not a folder`, 'Move it away, and try again.', { file: path })
}

const LEADS_OUT = 'leads out of the workspace'
const QUIETLY = { throwIfNoEntry: false } as const
