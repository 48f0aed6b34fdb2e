import { lstatSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { changedUnderHand, codeOf, LINKLESS, problemFor } from '../../core/disk.ts'
import { linkFile, moveEntry, syncFolder as syncEntries } from '../../core/file-entries.ts'
import { removeFile, writeDurably } from '../../core/files.ts'
import { Problem } from '../../core/problem.ts'
import { isSame } from './reading.ts'

/** Names of files that are being written: never taken for items, and safe to delete once their writer is gone. */
const UNFINISHED = /^\.punchlist-[\w-]+\.tmp$/

/**
 * Writes of one transaction: made at once, each file old or new at every
 * instant, and undone together when the transaction fails. Whoever is killed
 * in between leaves files that the next look takes in, and temporary ones.
 */
export class Writing {
  private readonly undo: (() => unknown)[] = []
  private readonly temporary: string[] = []
  private readonly folders = new Set<string>()

  /** Makes a file that must not be there yet. */
  create(path: string, text: string): Stats {
    const draft = this.draft(path, text, 0o600)
    guarded(path, () => {
      try {
        linkFile(draft, path)
      } catch (error) {
        // Some file systems have no links; there a name that is free is taken by renaming.
        if (!LINKLESS.has(codeOf(error)) || lstatSync(path, { throwIfNoEntry: false })) throw error
        moveEntry(draft, path)
      }
    })
    this.undo.push(() => removeFile(path))
    this.folders.add(dirname(path))
    // Taking away one of a file's names changes its ctime: before it is looked at, not afterwards.
    quietly(() => removeFile(draft))
    return lstatSync(path)
  }

  /**
   * Puts a new text where an old one is, under the same name and with the same
   * permissions. `seen` is the old one as it was read: putting the new one down
   * safely takes time, and somebody may have written meanwhile.
   */
  replace(path: string, text: string, seen: Stats): Stats {
    const draft = this.draft(path, text, seen.mode & 0o7777)
    const old = this.name(path, 'old')
    guarded(path, () => {
      try {
        linkFile(path, old)
        this.temporary.push(old)
      } catch (error) {
        if (codeOf(error) === 'ENOENT') throw changedUnderHand(path)
        if (!LINKLESS.has(codeOf(error))) throw error
      }
      if (!isSame(lstatSync(path), seen)) throw changedUnderHand(path)
      moveEntry(draft, path)
      const { ino } = lstatSync(path)
      this.undo.push(() => lstatSync(path).ino === ino && moveEntry(old, path))
      // Written in place until the very last moment: the old one comes back then.
      const late = lstatSync(old, { throwIfNoEntry: false })
      if (late && !isSame(late, seen)) throw changedUnderHand(path)
    })
    this.folders.add(dirname(path))
    return lstatSync(path)
  }

  /** Makes sure that what was written survives a power cut. */
  settle(): void {
    for (const folder of this.folders) syncFolder(folder)
  }

  /** Ends it, with everything as it is now or as it was before. */
  end(succeeded: boolean): void {
    if (!succeeded) for (const step of this.undo.toReversed()) quietly(step)
    for (const path of this.temporary) quietly(() => removeFile(path))
  }

  private draft(path: string, text: string, mode: number): string {
    const draft = this.name(path, 'new')
    guarded(path, () => writeDurably(draft, text, mode))
    this.temporary.push(draft)
    return draft
  }

  private name(path: string, what: string): string {
    return join(
      dirname(path),
      `.punchlist-${process.pid}-${Date.now().toString(36)}-${this.temporary.length}-${what}.tmp`,
    )
  }
}

/** Whether a file is one that a writer has not finished, or was killed over. Only who holds the lock knows which. */
export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name)
}

/** Syncs a folder; what the file system has against it is a problem. */
export function syncFolder(folder: string): void {
  guarded(folder, () => syncEntries(folder))
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof Problem ? error : problemFor(error, path)
  }
}

/** What cannot be tidied up now is left for the next one who looks. */
function quietly(step: () => unknown): void {
  try {
    step()
  } catch {
    // Named by `punchlist doctor`.
  }
}
