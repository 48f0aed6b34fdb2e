import { readdirSync } from 'node:fs'
import { codeOf } from '../../core/disk.ts'
import { moveEntry } from '../../core/file-entries.ts'
import { openToOwner } from '../../core/files.ts'
import { isGone, isThisProcess, parseWorker, renderWorker, thisProcess, type Worker } from '../../core/process.ts'
import { inTheWay, problemFor, unless } from './problems.ts'
import { type Root, statsAt } from './root.ts'

/** A directory in the hands of one process: nobody else sees it, and nobody else can have it. */
export interface Held {
  /** The name of the item's directory. */
  readonly name: string
  /** The status whose folder it was taken from. */
  readonly origin: string
  readonly path: string
}

/** A directory in somebody's hands. */
export interface InHand extends Held {
  readonly worker: Worker
}

/**
 * Takes directories out of the folders of their statuses and puts them into
 * others. Taking is one rename to a name that no other process makes, so of all
 * who want a directory exactly one gets it. That name tells whose hands it is
 * in: what a dead process held is known by it.
 */
export class Hands {
  private readonly root: Root
  private readonly full = new Set<string>()
  private count = 0

  constructor(root: Root) {
    this.root = root
  }

  /** Undefined where somebody else was faster. */
  take(origin: string, name: string): Held | undefined {
    const path = this.root.status(origin, name)
    // Never a link. Asked first, as a rename that fails costs ten times as much, and rivals for one directory are many.
    return statsAt(path)?.isDirectory() ? this.taking(path, origin, name) : undefined
  }

  /** A name in our hands where a directory can be made. */
  free(origin: string, name: string): Held {
    const path = this.root.own('private', `${name}~${origin}~${renderWorker(thisProcess())}.${++this.count}`)
    this.full.add(path)
    return { name, origin, path }
  }

  /** Takes over what another process held that is gone. */
  takeOver({ path, origin, name }: Held): Held | undefined {
    return this.taking(path, origin, name)
  }

  /** Puts a directory where it belongs. Refuses where there is one of that name: a rename would replace an empty one. */
  put(held: Held, status: string): void {
    const to = this.root.status(status, held.name)
    if (statsAt(to)) throw inTheWay(held.name, held.origin, status)
    try {
      moveEntry(held.path, to)
    } catch (error) {
      throw ['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))
        ? inTheWay(held.name, held.origin, status)
        : problemFor(error, held.path, to)
    }
    this.full.delete(held.path)
  }

  /** Puts it back where it was, as far as that can be done: what cannot is found by the next one who looks. */
  putBack(held: Held): void {
    this.full.delete(held.path)
    try {
      this.put(held, held.origin)
    } catch {
      // It stays, as something that nobody holds any longer.
    }
  }

  /** Everything that is in somebody's hands. */
  all(): InHand[] {
    const folder = this.root.own('private')
    return (unless(['ENOENT'], folder, () => readdirSync(folder)) ?? []).flatMap(entry => {
      const [, name, origin, mark] = /^(.+)~([^~]+)~([^~]+)$/s.exec(entry) ?? []
      const worker = mark === undefined ? undefined : parseWorker(mark)
      if (name === undefined || !worker || !this.root.statuses.includes(origin!)) return []
      return [{ name, origin: origin!, path: this.root.own('private', entry), worker }]
    })
  }

  /** Those of them whose process is gone, or has forgotten them. */
  abandoned(): InHand[] {
    return this.all().filter(({ path, worker }) => {
      if (isThisProcess(worker)) return !this.full.has(path)
      const stats = statsAt(path)
      return stats !== undefined && isGone(worker, stats.ctimeMs)
    })
  }

  private taking(from: string, origin: string, name: string, again = false): Held | undefined {
    const held = this.free(origin, name)
    try {
      moveEntry(from, held.path)
    } catch (error) {
      this.full.delete(held.path)
      if (!again && ['EACCES', 'EPERM'].includes(codeOf(error))) {
        openToOwner(from)
        return this.taking(from, origin, name, true)
      }
      // It may also be our own folder that is missing.
      if (codeOf(error) === 'ENOENT' && !statsAt(from)) return undefined
      throw problemFor(error, from, held.path)
    }
    return held
  }
}

/** The longest name of a directory that leaves room for what we put behind it: file systems take 255 bytes. */
export const LONGEST_NAME = 180
