import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../core/clock.ts'
import type { Note } from '../../core/event.ts'
import { makeNewFolder, moveEntry, removeFolder, removeTree } from '../../core/file-entries.ts'
import { readRegular, refuseOtherThanFolder, removeFile, writeNew } from '../../core/files.ts'
import { Problem } from '../../core/problem.ts'
import { type Lease, leaseText, overwriteLease, type ReadLease, readLease } from './lease.ts'
import { guarded, unless } from './problems.ts'
import { type Root, statsAt, syncFolder } from './root.ts'

/** One file in the folder of an item: the lease of a claim, or what became of it. */
export interface Mark {
  /** `lease`, or the status that a claim ended with. */
  readonly what: string
  readonly token: number
}

/** How an item was added, as far as its directory does not tell. */
export interface Added extends Note {
  readonly identity?: string | null | undefined
}

/** How long somebody who looks for a lease waits for another who is about to put it back. */
const PATIENCE_MS = 250
const LARGEST_NOTE = 8 * 1024 * 1024
const DEFINITION = 'definition'

/**
 * What we know of an item beside its directory: one folder for each, named
 * after its id, made once and never removed, so that no id is given twice. Whose
 * an item is says one file alone, `lease.7` for the seventh claim. Whoever ends
 * a claim renames that file to what became of it, `completed.7` say, so exactly
 * one of all who try succeeds.
 */
export class Records {
  private readonly root: Root
  private readonly seal: (() => string | undefined) | undefined
  private readonly sound = new Set<string>()

  /** `seal`: what the notes of added items carry. */
  constructor(root: Root, seal?: () => string | undefined) {
    this.root = root
    this.seal = seal
  }

  /** Takes an id for good; false where somebody has it. */
  reserve(id: string): boolean {
    const path = this.root.own('tasks', id)
    return unless(['EEXIST'], path, () => (makeNewFolder(path), true)) ?? false
  }

  /** Gives up an id that was taken for an item which was not made after all. */
  giveUp(id: string): void {
    const path = this.folder(id)
    guarded(path, () => removeFile(join(path, 'added')))
    unless(['ENOENT', 'ENOTEMPTY'], path, () => removeFolder(path))
  }

  /** The same with everything that is known of its claims. */
  discard(id: string): void {
    try {
      removeTree(this.folder(id))
    } catch {
      // An id that nobody gets. Why its item was not made is what the caller has to know.
    }
  }

  isReserved(id: string): boolean {
    return statsAt(this.root.own('tasks', id)) !== undefined
  }

  /** Every claim there was, the last one at the end. */
  of(id: string): Mark[] {
    const path = this.folder(id)
    const names = unless(['ENOENT'], path, () => readdirSync(path)) ?? []
    const marks = names.flatMap(name => {
      const [, what, token] = /^([a-z_]+)\.(\d+)$/.exec(name) ?? []
      return what === undefined ? [] : [{ what, token: Number(token) }]
    })
    return marks.toSorted((one, other) => one.token - other.token || (one.what === 'lease' ? 1 : -1))
  }

  /** The lease in force, if there is one: that of the last claim. */
  current(id: string): (ReadLease & { readonly token: number }) | undefined {
    const last = this.of(id).at(-1)
    if (last?.what !== 'lease') return undefined
    const read = this.lease(id, last.token)
    return read && { ...read, token: last.token }
  }

  lease(id: string, token: number): ReadLease | undefined {
    return readLease(this.path(id, { what: 'lease', token }))
  }

  /** What is left of a lease once it has become something else. */
  receipt(id: string, mark: Mark): ReadLease | undefined {
    return readLease(this.path(id, mark))
  }

  has(id: string, mark: Mark): boolean {
    return statsAt(this.path(id, mark)) !== undefined
  }

  /** Makes a lease with a token that no claim had; `least` is the lowest it may have. Older leases end as given back. */
  begin(id: string, least: number, lease: Lease, back: string): number {
    const marks = this.of(id)
    if (marks.length === 0 && !this.isReserved(id)) this.reserve(id)
    let token = Math.max(least, 1 + (marks.at(-1)?.token ?? 0))
    while (!this.write(id, { what: 'lease', token }, lease)) token++
    try {
      for (const mark of marks) if (mark.what === 'lease') this.end(id, mark.token, back)
    } catch (error) {
      this.undo(id, token)
      throw error
    }
    return token
  }

  /** Makes a file exclusively. */
  write(id: string, mark: Mark, lease: Lease): boolean {
    const path = this.path(id, mark)
    const made = () => (writeNew(path, leaseText(lease)), true)
    return unless(['EEXIST'], path, made) ?? false
  }

  /** Takes away a lease that nobody was told of. */
  undo(id: string, token: number): void {
    const path = this.path(id, { what: 'lease', token })
    guarded(path, () => removeFile(path))
  }

  /** Ends a claim: this decides what becomes of the item. False where the lease is not there. */
  end(id: string, token: number, to: string): boolean {
    const from = this.path(id, { what: 'lease', token })
    const ended = () => (moveEntry(from, this.path(id, { what: to, token })), true)
    return unless(['ENOENT'], from, ended) ?? false
  }

  /** Takes that back, which only happens to a lease that was renewed while somebody took it for lapsed. */
  resume(id: string, token: number, to: string): void {
    const from = this.path(id, { what: to, token })
    unless(['ENOENT'], from, () => moveEntry(from, this.path(id, { what: 'lease', token })))
  }

  /** Writes over a lease in place. It counts only if the file is still the lease afterwards: somebody may have ended it. */
  renew(id: string, token: number, change: (lease: Lease) => Lease): Lease | undefined {
    const path = this.path(id, { what: 'lease', token })
    return patiently(() => {
      const written = overwriteLease(path, change)
      return written && statsAt(path)?.ino === written.ino ? written.lease : undefined
    })
  }

  /** Whether a lease is in force; waits a moment for one that is being put back. */
  holds(id: string, token: number): boolean {
    return patiently(() => this.has(id, { what: 'lease', token }) || undefined) ?? false
  }

  sync(id: string): void {
    syncFolder(this.folder(id))
  }

  /** Keeps the text that defines an item as it was when it was claimed; a text that is the same is not written again. */
  keepDefinition(id: string, text: string): void {
    const path = join(this.folder(id), DEFINITION)
    const made = unless(['EEXIST'], path, () => (writeNew(path, text), true))
    if (made || this.definition(id) === text) return
    const draft = this.root.draft()
    guarded(path, () => {
      try {
        writeNew(draft, text)
        if (statsAt(path)?.isDirectory()) removeTree(path)
        moveEntry(draft, path)
      } finally {
        removeFile(draft)
      }
    })
  }

  /** The text that `keepDefinition` kept; undefined where there is none. */
  definition(id: string): string | undefined {
    return this.read(id, DEFINITION)
  }

  noteAdded(id: string, { by, at, why, identity }: Added): void {
    const path = join(this.folder(id), 'added')
    guarded(path, () => writeNew(path, JSON.stringify({ by, at, why, identity, seal: this.seal?.() })))
  }

  added(id: string): Added | undefined {
    try {
      const text = this.read(id, 'added')
      return text === undefined ? undefined : (JSON.parse(text) as Added)
    } catch (error) {
      if (error instanceof Problem) throw error
      // Its writer was killed over it, and nobody was told that the item was added.
      return undefined
    }
  }

  /** A file in the folder of an item; what is none of ours is as if it were not there. */
  private read(id: string, name: string): string | undefined {
    try {
      const path = join(this.folder(id), name)
      return guarded(path, () => readRegular(path, LARGEST_NOTE, 'anyone'))
    } catch (error) {
      if (error instanceof Problem && error.code === 'untrusted') return undefined
      throw error
    }
  }

  private path(id: string, { what, token }: Mark): string {
    return join(this.folder(id), `${what}.${token}`)
  }

  /** The folder of an item. A link in its place is refused: looked at once for each. */
  private folder(id: string): string {
    const path = this.root.own('tasks', id)
    if (!this.sound.has(id) && refuseOtherThanFolder(path)) this.sound.add(id)
    return path
  }
}

/** Tries for a moment: a lease that was taken for lapsed and is not comes back within milliseconds. */
export function patiently<T>(attempt: () => T | undefined): T | undefined {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const result = attempt()
    if (result !== undefined || performance.now() > end) return result
    pause(5)
  }
}

/** The token that is current for an item with these marks: giving it back has revoked that of its last claim. */
export function tokenOf(marks: readonly Mark[], isWaiting: (status: string) => boolean): number {
  const last = marks.at(-1)
  return last ? last.token + (isWaiting(last.what) ? 1 : 0) : 0
}
