import { pause } from '../../core/clock.ts'
import { codeOf, LINKLESS } from '../../core/disk.ts'
import { linkFile, moveEntry } from '../../core/file-entries.ts'
import { readRegular, removeFile, writeNew } from '../../core/files.ts'
import { digest } from '../../core/id.ts'
import { Problem } from '../../core/problem.ts'
import { isGone, isThisProcess, thisProcess, type Worker } from '../../core/process.ts'
import { guarded, problemFor } from './problems.ts'
import { type Root, statsAt } from './root.ts'
import { drafted } from './writing.ts'

/** Which item an identity belongs to. */
interface Note {
  readonly id: string
  /** Who is about to add it; absent once it was added. */
  readonly worker?: Worker | undefined
}

/** A key that this process holds until its item has appeared. */
export interface Reservation {
  readonly path: string
  readonly id: string
}

/** How long an adder waits for another one of the same key, which needs milliseconds. */
const PATIENCE_MS = 10_000
const LARGEST = 4096

/**
 * The keys under which items are added, one note each, made exclusively: of all
 * who add under one key at once, whatever their workspace, exactly one makes an
 * item. A note counts while its item is there or its writer is about to add it;
 * one that does not count is never removed, but followed by another with the
 * next number, so that two who find it so cannot both succeed it.
 */
export class Keys {
  private readonly root: Root
  private readonly seal: (() => string) | undefined

  /** `seal`: what our notes carry. One without it came with somebody else's files and counts for nothing. */
  constructor(root: Root, seal?: () => string) {
    this.root = root
    this.seal = seal
  }

  /**
   * Reserves an identity for the item with this id, or returns the id of the item that has it. `isThere`: whether an
   * item is, or is still about to be moved. Waits for another process that is about to add it.
   */
  reserve(identity: string, id: string, isThere: (id: string) => boolean): Reservation | { readonly holder: string } {
    const end = performance.now() + PATIENCE_MS
    for (let number = 1; ; ) {
      const path = this.path(identity, number)
      if (!statsAt(path)) {
        if (this.make(path, { id, worker: thisProcess() })) return { path, id }
        continue
      }
      const note = this.read(path)
      if (note && isThere(note.id)) return { holder: note.id }
      if (!note || !this.isUnderWay(path, note)) {
        // Between the two looks it may have appeared.
        if (note && isThere(note.id)) return { holder: note.id }
        number++
      } else if (performance.now() > end) throw beingAdded(note.id)
      else pause(5)
    }
  }

  /** Refuses to add what another has taken over: this process was stopped for so long that it counted as gone. */
  refuseTakenOver({ path, id }: Reservation): void {
    const next = path.replace(/\d+$/, number => String(Number(number) + 1))
    if (statsAt(next)) throw beingAdded(id)
  }

  /** Its item has appeared. A note that still names its writer says the same once the writer is gone. */
  keep({ path, id }: Reservation): void {
    try {
      const draft = drafted(this.root, this.textOf({ id }))
      try {
        moveEntry(draft, path)
      } finally {
        removeFile(draft)
      }
    } catch {
      // The item is there, which is what counts.
    }
  }

  /** Nothing was added. */
  giveUp({ path }: Reservation): void {
    try {
      removeFile(path)
    } catch {
      // Counts for nothing once this process is gone, and for this process at once.
    }
  }

  private isUnderWay(path: string, { worker }: Note): boolean {
    // Adding does not wait for anything: what this process has not added by now, it does not add any more.
    if (!worker || isThisProcess(worker)) return false
    const stats = statsAt(path)
    return stats !== undefined && !isGone(worker, stats.mtimeMs)
  }

  /** With all of its text at once: whoever finds it must know whose it is. */
  private make(path: string, note: Note): boolean {
    const draft = drafted(this.root, this.textOf(note))
    try {
      linkFile(draft, path)
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      if (!LINKLESS.has(codeOf(error))) throw problemFor(error, path)
      return this.makeWithoutLinks(path, note)
    } finally {
      guarded(draft, () => removeFile(draft))
    }
  }

  /** Where the file system has no links, one that was killed between making and writing leaves a note that counts for nothing. */
  private makeWithoutLinks(path: string, note: Note): boolean {
    try {
      writeNew(path, this.textOf(note))
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw problemFor(error, path)
    }
  }

  private textOf(note: Note): string {
    return JSON.stringify({ ...note, seal: this.seal?.() })
  }

  private read(path: string): Note | undefined {
    try {
      const text = guarded(path, () => readRegular(path, LARGEST, 'anyone'))
      const note = text === undefined ? undefined : (JSON.parse(text) as Partial<Note> & { seal?: unknown })
      if (typeof note?.id !== 'string' || (this.seal && note.seal !== this.seal())) return undefined
      return note as Note
    } catch (error) {
      if (error instanceof Problem && error.code !== 'untrusted') throw error
      return undefined
    }
  }

  /** An identity is what its caller made of it: only its hash names a file. */
  private path(identity: string, number: number): string {
    return this.root.own('keys', `${digest(identity)}.${number}`)
  }
}

function beingAdded(id: string): Problem {
  return new Problem(
    'changed_meanwhile',
    `another process is adding a task with the same key, as ${id}`,
    'Add it again: the answer is that task, or a new one where it was not added after all.',
    { id },
  )
}
