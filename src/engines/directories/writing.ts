import { dirname, join } from 'node:path'
import { changedUnderHand, codeOf, LINKLESS } from '../../core/disk.ts'
import { linkFile, moveEntry } from '../../core/file-entries.ts'
import { makeFolder, refuseOtherThanFolder, removeFile, writeDurably, writeNew } from '../../core/files.ts'
import type { Kind, Texts } from '../../core/kind.ts'
import { Problem } from '../../core/problem.ts'
import { guarded, problemFor, unless } from './problems.ts'
import { fileOf, readText } from './reading.ts'
import { type Root, statsAt } from './root.ts'

/** Writes a file under a name that nobody else uses, all of it on disk, and gives back its path: it is then put where it belongs. */
export function drafted(root: Root, bytes: string | Buffer): string {
  const path = root.draft()
  guarded(path, () => writeDurably(path, bytes))
  return path
}

/** An empty file; it may be there already. */
export function touchFlag(directory: string, name: string): void {
  const path = join(directory, name)
  unless(['EEXIST'], path, () => writeNew(path, ''))
}

/** Takes away empty files that told of a claim, and says how many it took. */
export function removeFlags(directory: string, names: readonly string[]): number {
  return names.filter(name => guarded(join(directory, name), () => removeFile(join(directory, name)))).length
}

/** Whether there is a flag of the same meaning, from whatever time. */
export function hasFlagLike(names: readonly string[], flag: string): boolean {
  const meaning = (name: string) => name.replace(/\d{8}T\d{6}/, '')
  return names.some(name => meaning(name) === meaning(flag))
}

/**
 * Puts texts into a directory, each old or new at every instant. `known` are
 * those the writer had read: a text that was not among them is new, and if
 * somebody else has made it meanwhile, or changed one that was, nothing is
 * written over it. What was written is taken back when a later one cannot be.
 */
export function putTexts(root: Root, kind: Kind, { directory, name }: Place, texts: Texts, known?: Texts): Written {
  if (Object.keys(texts).length > 0) refuseOtherThanFolder(directory)
  const written = new Written()
  try {
    for (const [text, content] of Object.entries(texts)) {
      const file = checked(fileOf(kind, name, text), false)
      putOne(root, join(directory, file), bytesOf(content), known && (known[text] ?? null), written)
    }
  } catch (error) {
    written.takeBack()
    throw error
  }
  return written
}

/** What was written into a directory, as long as it can be taken back. */
export class Written {
  private readonly steps: (() => unknown)[] = []
  private readonly old: string[] = []

  /** `old`: where what was there is kept meanwhile. */
  note(step: () => unknown, old?: string): void {
    this.steps.push(step)
    if (old !== undefined) this.old.push(old)
  }

  /** Each as it was. What cannot be taken back keeps nothing else from it. */
  takeBack(): void {
    for (const step of this.steps.splice(0).toReversed()) quietly(step)
    this.keep()
  }

  /** It stays. */
  keep(): void {
    this.steps.length = 0
    for (const path of this.old.splice(0)) quietly(() => removeFile(path))
  }
}

/** What is left lies in a folder that `recover` clears. */
function quietly(step: () => unknown): void {
  try {
    step()
  } catch {
    // The disk that refuses this has refused what came before.
  }
}

interface Place {
  readonly directory: string
  readonly name: string
}

function putOne(
  root: Root,
  path: string,
  content: string | Buffer,
  known: string | null | undefined,
  written: Written,
) {
  const found = readText(path)
  // Nothing that a text of ours was decided on: a folder, say, or bytes that are no text.
  if (typeof found === 'object') written.note(setAside(path))
  const there = typeof found === 'object' ? undefined : found
  if (there === content) return
  const isNew = known === null || there === undefined
  if (typeof found !== 'object' && known !== undefined && (there ?? null) !== known) throw changedUnderHand(path)
  const draft = drafted(root, content)
  let old: string | undefined
  try {
    if (isNew) placeNew(draft, path)
    else {
      // A full disk has room to give the old text its name back, and none to write it again.
      old = kept(root, path)
      moveEntry(draft, path)
    }
  } catch (error) {
    if (old !== undefined) written.note(() => undefined, old)
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') throw changedUnderHand(path)
    throw problemFor(error, path)
  } finally {
    quietly(() => removeFile(draft))
  }
  written.note(() => {
    if (isNew) removeFile(path)
    else if (old === undefined) putOne(root, path, there, undefined, new Written())
    else moveEntry(old, path)
  }, old)
}

/** A second name for a text that is about to be replaced; undefined where the file system has none. */
function kept(root: Root, path: string): string | undefined {
  const old = root.draft()
  try {
    linkFile(path, old)
    return old
  } catch (error) {
    if (!LINKLESS.has(codeOf(error))) throw error
    return undefined
  }
}

/** Gives what lies under a name another one beside it, and gives back how to undo that. An empty file is overwritten by the next one. */
export function setAside(path: string): () => void {
  const stats = statsAt(path)
  if (!stats || (stats.isFile() && stats.size === 0)) return () => undefined
  for (let number = 1; ; number++) {
    const aside = `${path}.damaged${number === 1 ? '' : `_${number}`}`
    if (statsAt(aside)) continue
    guarded(path, () => moveEntry(path, aside))
    return () => guarded(path, () => moveEntry(aside, path))
  }
}

/** Only if nobody has the name. */
function placeNew(draft: string, path: string): void {
  try {
    linkFile(draft, path)
  } catch (error) {
    // Some file systems have no links; there a name that is free is taken by renaming.
    if (!LINKLESS.has(codeOf(error)) || statsAt(path)) throw error
    moveEntry(draft, path)
  }
}

/** Writes the files of a directory that nobody sees yet. */
export function fillDirectory(kind: Kind, directory: string, name: string, texts: Texts): void {
  for (const [text, content] of Object.entries(texts)) {
    const path = join(directory, checked(fileOf(kind, name, text)))
    guarded(path, () => {
      if (dirname(path) !== directory) makeFolder(directory, dirname(path))
      if (content === '') writeNew(path, '')
      else writeDurably(path, bytesOf(content))
    })
  }
}

const DATA = 'data:application/octet-stream;base64,'

/** A file as a text: what is not UTF-8, or has a NUL that not every engine keeps, in a form that says so. */
export function asText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  const whole =
    !text.startsWith(DATA) && !bytes.includes(0) && (!text.includes('\uFFFD') || Buffer.from(text).equals(bytes))
  return whole ? text : `${DATA}${bytes.toString('base64')}`
}

/** Whether a text stands for bytes that are none. */
export function isData(text: string): boolean {
  return text.startsWith(DATA)
}

function bytesOf(text: string): string | Buffer {
  return text.startsWith(DATA) ? Buffer.from(text.slice(DATA.length), 'base64') : text
}

/** The name of a text names a file in the directory, and never one outside of it. */
function checked(file: string, deep = true): string {
  const parts = file.split('/')
  const odd = parts.some(part => part === '' || part === '.' || part === '..' || part.includes('\0'))
  if (odd || (!deep && parts.length > 1)) {
    throw new Problem('bad_input', `"${file.slice(0, 100)}" cannot be the name of a text`, 'Use a plain file name.', {
      name: file,
    })
  }
  return file
}
