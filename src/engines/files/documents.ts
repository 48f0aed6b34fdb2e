import { readdirSync, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { boundOf } from '../../core/boundary.ts'
import { codeOf, leadsOut, problemFor } from '../../core/disk.ts'
import { moveEntry } from '../../core/file-entries.ts'
import { removeFile, writeDurably } from '../../core/files.ts'
import { Problem } from '../../core/problem.ts'
import { readText, statsAt } from './reading.ts'
import { Tree } from './tree.ts'
import { syncFolder } from './writing.ts'

/** A summary of two hundred workers with fifty decisions each has one and a half mebibytes. */
const LARGEST = 8 * 1024 * 1024
/** Whoever has not finished a document by then was killed over it. */
const ABANDONED_MS = 60_000
const DRAFT = /^\.punchlist-[\w-]+-document\.tmp$/

/**
 * Documents that are derived from items, and are files whatever engine keeps
 * those. Whoever writes one last is right: nothing is decided on what it said.
 */
export class Documents {
  private readonly tree: Tree

  /** `work`: the folder of all of them, as it is reached from the workspace `root`; nothing may lead out of either. */
  constructor(root: string, work: string) {
    this.tree = new Tree(join(root, work), boundOf(root, work))
  }

  /** The text of a document; undefined where there is none. */
  async read(path: string): Promise<string | undefined> {
    const file = this.tree.path(path)
    if (!this.tree.isReachable(dirname(path))) throw leadsOut(dirname(file))
    const look = readText(file, LARGEST)
    if (look && 'message' in look) throw unfit(file, look.message)
    return look?.text
  }

  /** Puts a document down safely: it is the old one or the new one at every instant. */
  async write(path: string, text: string): Promise<void> {
    const file = this.tree.path(path)
    if (Buffer.byteLength(text) > LARGEST) throw tooLarge(file)
    const folder = dirname(file)
    this.tree.make(dirname(path))
    refuseStrange(file)
    tidyUp(folder)
    for (let attempt = 1; ; attempt++) {
      const draft = draftIn(folder)
      try {
        const mode = (refuseStrange(file)?.mode ?? 0o600) & 0o7777
        writeDurably(draft, text, mode)
        refuseStrange(file)
        moveEntry(draft, file)
        syncFolder(folder)
        return
      } catch (error) {
        remove(draft)
        // Somebody tidied up after killed programs, and took this for one of theirs.
        const takenAway = codeOf(error) === 'ENOENT' && attempt < 3 && statsAt(folder) !== undefined
        if (!takenAway) throw problemFor(error, file)
      }
    }
  }

  /** Why nothing can be written in a folder, or where it would be made: tried with a file that does not stay. */
  async hindrance(folder: string): Promise<Problem | undefined> {
    try {
      if (!this.tree.isReachable(folder)) throw leadsOut(this.tree.path(folder))
      const draft = draftIn(existing(this.tree.path(folder)))
      try {
        writeDurably(draft, ' '.repeat(4096), 0o600)
      } finally {
        remove(draft)
      }
      return undefined
    } catch (error) {
      const problem = problemFor(error, this.tree.path(folder))
      if (problem instanceof Problem) return problem
      throw error
    }
  }
}

function draftIn(folder: string): string {
  const time = process.hrtime.bigint().toString(36)
  return join(folder, `.punchlist-${process.pid}-${time}-document.tmp`)
}

/** The nearest folder that is there. */
function existing(folder: string): string {
  return statsAt(folder) ? folder : existing(dirname(folder))
}

/** What is no file of its own stays as it is: something else is read or written under another name. */
function refuseStrange(file: string): Stats | undefined {
  const stats = statsAt(file)
  if (!stats) return undefined
  if (stats.isSymbolicLink()) throw unfit(file, 'is a symbolic link')
  if (!stats.isFile()) throw unfit(file, 'is not a regular file')
  if (stats.nlink > 1) throw unfit(file, 'has other names too (hard links)')
  return stats
}

function unfit(file: string, message: string): Problem {
  return new Problem(
    'unreadable_file',
    `${file} ${message}`,
    `Move ${basename(file)} away and try again; nothing was written.`,
    { file, line: 1 },
  )
}

function tooLarge(file: string): Problem {
  return new Problem(
    'bad_input',
    `${file} would be larger than ${LARGEST / 1024} KiB`,
    'Divide the work into several sessions; nothing was written.',
    { file },
  )
}

function tidyUp(folder: string): void {
  const old = (name: string) =>
    DRAFT.test(name) && Date.now() - (statsAt(join(folder, name))?.mtimeMs ?? Date.now()) > ABANDONED_MS
  for (const name of readdirSync(folder).filter(old)) remove(join(folder, name))
}

function remove(file: string): void {
  try {
    removeFile(file)
  } catch {
    // Not there, or not to be had: named by `punchlist doctor`.
  }
}
