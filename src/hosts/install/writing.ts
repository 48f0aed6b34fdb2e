import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { codeOf, problemFor } from '../../core/disk.ts'
import { Problem } from '../../core/problem.ts'
import type { Change, Plan } from './planning.ts'

const PATIENCE_MS = 10_000
/** Nobody holds a file that long; whoever did was killed. */
const ABANDONED_MS = 5000

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
        write(wanted.changes)
        return wanted
      }
    } finally {
      held.release()
    }
    if (Date.now() > deadline) throw busy(wanted.changes)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20 + Math.random() * 30)
  }
}

/** What is prepared for a file, beside it. */
function beside(file: string): string {
  return join(dirname(file), `.${basename(file)}.punchlist-new`)
}

function hold(changes: readonly Change[]): { complete: boolean; release: () => void } {
  const made: string[] = []
  const folders: string[] = []
  const release = () => {
    for (const file of made) rmSync(file, { force: true })
    for (const folder of folders.toSorted((a, b) => b.length - a.length)) removeIfEmpty(folder)
  }
  try {
    // Always in the same order, so that two of us cannot wait for each other.
    for (const { file } of changes.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
      const first = mkdirSync(dirname(file), { recursive: true })
      for (let folder = dirname(file); first !== undefined && folder.startsWith(first); folder = dirname(folder))
        folders.push(folder)
      const own = beside(file)
      if (!claimed(own)) return { complete: false, release }
      made.push(own)
    }
    return { complete: true, release }
  } catch (error) {
    release()
    throw problemFor(error, (error as NodeJS.ErrnoException).path ?? changes[0]!.file)
  }
}

function claimed(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (since !== undefined && Date.now() - since > ABANDONED_MS) rmSync(file, { force: true })
    return false
  }
}

function isUnchanged({ file, before }: Change): boolean {
  return before === undefined ? !existsSync(file) : existsSync(file) && readFileSync(file, 'utf8') === before
}

function write(changes: readonly Change[]): void {
  const done: Change[] = []
  try {
    for (const change of changes) if (change.after !== undefined) prepare(change.file, change.after)
    for (const change of changes) {
      if (change.after === undefined) for (const file of [change.file, beside(change.file)]) rmSync(file)
      else renameSync(beside(change.file), change.file)
      done.push(change)
      sync(dirname(change.file))
    }
  } catch (error) {
    for (const { file, before } of done) putBack(file, before)
    throw problemFor(error, (error as NodeJS.ErrnoException).path ?? changes[0]!.file)
  }
  for (const { file, root, after } of changes) if (after === undefined) removeUpwards(dirname(file), root)
}

function prepare(file: string, text: string): void {
  const own = beside(file)
  const descriptor = openSync(own, 'r+')
  try {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  const mode = statSync(file, { throwIfNoEntry: false })?.mode
  chmodSync(own, mode === undefined ? 0o666 & ~process.umask() : mode & 0o7777)
}

/** As well as it can be: what went wrong is told either way. */
function putBack(file: string, before: string | undefined): void {
  try {
    if (before === undefined) rmSync(file, { force: true })
    else {
      if (!existsSync(beside(file))) closeSync(openSync(beside(file), 'wx', 0o600))
      prepare(file, before)
      renameSync(beside(file), file)
    }
  } catch {
    // The disk that refused the change refuses this as well.
  }
}

function sync(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Folders that only held what was taken out: `.claude/skills/punchlist`, then `.claude/skills` and so on. */
function removeUpwards(folder: string, root: string): void {
  if (folder.startsWith(root + sep) && removeIfEmpty(folder)) removeUpwards(dirname(folder), root)
}

function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return false
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
