import { existsSync, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { problemFor } from '../../core/disk.ts'
import { moveEntry, syncFolder } from '../../core/file-entries.ts'
import { fillFile, readRegular, removeFile, writeNew } from '../../core/files.ts'
import { Problem } from '../../core/problem.ts'
import { beside, clear, hold, removeUpwards } from './holding.ts'
import { dropCopies, keepCopies } from './originals.ts'
import { LARGEST } from './place.ts'
import type { Change, Plan } from './planning.ts'

const PATIENCE_MS = 10_000

/**
 * Writes a plan: every file is prepared beside its place, all of them are there
 * and synced before the first one is renamed. Killed at any point, each file is
 * the old one or the new one.
 *
 * The name of what is prepared is always the same and made only if it is not
 * there: so it is also what keeps two of us apart. Whoever has all of them
 * looks at the files once more, and plans anew if one has changed.
 */
export function carryOut(plan: () => Plan): Plan {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const wanted = plan()
    if (wanted.changes.length === 0) return wanted
    const held = hold(wanted.changes)
    try {
      if (held.complete && wanted.changes.every(isUnchanged)) {
        const copies = keepCopies(wanted.changes, wanted.originals)
        write(wanted.changes)
        dropCopies(wanted.changes, wanted.originals)
        clear(wanted.places)
        return { ...wanted, notes: [...wanted.notes, ...copies] }
      }
    } finally {
      held.release()
    }
    if (Date.now() > deadline) throw busy(wanted.changes)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20 + Math.random() * 30)
  }
}

function isUnchanged({ file, before }: Change): boolean {
  return readRegular(file, LARGEST, 'anyone') === before
}

function write(changes: readonly Change[]): void {
  const done: Change[] = []
  try {
    for (const { file, after, mode } of changes) if (after !== undefined) prepare(file, after, mode)
    for (const change of changes) {
      if (change.after === undefined) for (const file of [change.file, beside(change.file)]) removeFile(file)
      else moveEntry(beside(change.file), change.file)
      done.push(change)
      syncFolder(dirname(change.file))
    }
  } catch (error) {
    for (const change of done) putBack(change)
    throw problemFor(error, (error as NodeJS.ErrnoException).path ?? changes[0]!.file)
  }
  for (const { file, root, after } of changes) if (after === undefined) removeUpwards(dirname(file), root)
}

function prepare(file: string, text: string, made: number): void {
  const mode = lstatSync(file, { throwIfNoEntry: false })?.mode
  fillFile(beside(file), text, mode === undefined ? made & ~process.umask() : mode & 0o7777)
}

/** As well as it can be: what went wrong is told either way. */
function putBack({ file, before, mode }: Change): void {
  try {
    if (before === undefined) removeFile(file)
    else {
      if (!existsSync(beside(file))) writeNew(beside(file), '')
      prepare(file, before, mode)
      moveEntry(beside(file), file)
    }
  } catch {
    // The disk that refused the change refuses this as well.
  }
}

function busy(changes: readonly Change[]): Problem {
  const files = changes.map(({ file }) => file)
  return new Problem(
    'store_busy',
    `${files.join(', ')}: another program keeps changing them`,
    'Close it and try again; nothing was written.',
    { files },
  )
}
