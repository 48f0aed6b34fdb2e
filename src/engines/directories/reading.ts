import { readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../core/disk.ts'
import { readBytes as readRegularBytes } from '../../core/files.ts'
import type { Complaint, DirectoryForm, Entry, Evidence, Item, Kind, Texts } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import { LONGEST_NAME } from './hands.ts'
import { problemFor, unless } from './problems.ts'
import { statsAt } from './root.ts'

/** A text of a megabyte is a mistake; and what is read is kept in memory. */
const LARGEST = 1024 * 1024

/** What an item's directory says. */
export interface Found {
  readonly id: string
  readonly name: string
  readonly fields: Fields
  /** What the file that defines the item says in vain. */
  readonly remark: Complaint | undefined
  readonly evidence: Evidence
  readonly entries: readonly Entry[]
  readonly stats: Stats
  /** When the file that defines the item was written. */
  readonly written: number
}

export function formOf(kind: Kind): DirectoryForm {
  if (!kind.directory) throw new Error(`${kind.name} is not kept in directories`)
  return kind.directory
}

/** The name of an item's directory. */
export function nameOf(kind: Kind, item: Item): string {
  return formOf(kind).name(item as unknown as Fields)
}

const naming = new WeakMap<Kind, readonly string[]>()

/** The fields that the name of an item's directory is made of, and those that tell its place among others: enough to claim it. */
export function namingFields(kind: Kind): readonly string[] {
  let fields = naming.get(kind)
  if (!fields) {
    const asked = new Set<string>(kind.order ?? [])
    const asking = new Proxy({}, { get: (_, field) => (asked.add(String(field)), '') })
    formOf(kind).name(asking)
    fields = [...asked].filter(field => field !== 'id')
    naming.set(kind, fields)
  }
  return fields
}

/** The name of the file that a text is kept in. */
export function fileOf(kind: Kind, name: string, text: string): string {
  return text === formOf(kind).definition ? `${name}.md` : text
}

/** The text that a file holds. */
export function textOf(kind: Kind, name: string, file: string): string {
  return file === `${name}.md` ? formOf(kind).definition : file
}

/** What the directory of this name says, or why that cannot be told; undefined where it is gone. */
export function readDirectory(
  kind: Kind,
  path: string,
  name: string,
): Found | (Complaint & { gone?: never }) | undefined {
  const form = formOf(kind)
  const named = form.named(name)
  if ('message' in named) return named
  const stats = statsAt(path)
  if (!stats) return undefined
  if (stats.isSymbolicLink()) return { line: 1, message: 'is a symbolic link, not a directory' }
  if (!stats.isDirectory()) return { line: 1, message: 'is not a directory' }
  if (Buffer.byteLength(name) > LONGEST_NAME)
    return { line: 1, message: `has a name of more than ${LONGEST_NAME} bytes` }
  const entries = entriesIn(path)
  const file = fileOf(kind, name, form.definition)
  const text = entries && readText(join(path, file))
  const isThere = (entries && text !== undefined) || statsAt(path)?.isDirectory() === true
  // Taken away by somebody while it was read.
  if (!isThere) return undefined
  if (!entries) return { line: 1, message: 'cannot be read: EACCES' }
  if (text === undefined) return { line: 1, message: `has no ${file}` }
  if (typeof text !== 'string') return { line: text.line, message: `${file} ${text.message}` }
  const read = form.read(text, name)
  if ('message' in read) return inFile(file, read)
  return foundIn(kind, path, name, read, stats, entries)
}

/** The same by a definition that was kept, where that in the directory cannot be read. */
export function readByKept(kind: Kind, path: string, name: string, kept: string): Found | undefined {
  const read = formOf(kind).read(kept, name)
  const stats = statsAt(path)
  if ('message' in read || !stats?.isDirectory()) return undefined
  return foundIn(kind, path, name, read, stats, entriesIn(path) ?? [])
}

function foundIn(
  kind: Kind,
  path: string,
  name: string,
  said: { readonly fields: Fields; readonly remark?: Complaint | undefined },
  stats: Stats,
  entries: readonly Entry[],
): Found | undefined {
  const form = formOf(kind)
  const named = form.named(name)
  if ('message' in named) return undefined
  const evidence = form.evidence(named.id, entries, reader(path))
  const fields = { ...named.fields, ...said.fields, ...evidence.fields }
  const written = entries.find(entry => entry.name === fileOf(kind, name, form.definition))?.written ?? 0
  const remark = remarkOf(fileOf(kind, name, form.definition), said)
  return { id: named.id, name, fields, remark, evidence, entries, stats, written }
}

/** What the definition among these texts says in vain. */
export function remarkIn(kind: Kind, name: string, texts: Texts): Complaint | undefined {
  const form = formOf(kind)
  const read = form.read(texts[form.definition] ?? '', name)
  return 'message' in read ? undefined : remarkOf(fileOf(kind, name, form.definition), read)
}

function remarkOf(file: string, { remark }: { readonly remark?: Complaint | undefined }): Complaint | undefined {
  return remark && inFile(file, remark)
}

/** A complaint of a directory that is about a line of one of its files. */
function inFile(file: string, { line, message }: Complaint): Complaint {
  return { line, message: `${file}: ${message}` }
}

/** The files right in a directory; undefined where it is gone, be it while they are looked at, or closed to us. */
export function entriesIn(path: string): Entry[] | undefined {
  for (let attempt = 1; ; attempt++) {
    const seen = unless(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'], path, () =>
      readdirSync(path).map(name => ({ name, stats: statsAt(join(path, name)) })),
    )
    // A name that is no UTF-8 cannot be asked for, however often one tries.
    const missed = seen?.some(({ name, stats }) => !stats && !name.includes('\uFFFD'))
    if (missed && attempt < 100) continue
    return seen?.flatMap(({ name, stats }) =>
      stats ? [{ name, size: stats.size, isFile: stats.isFile(), written: stats.mtimeMs }] : [],
    )
  }
}

/** A way to read the texts of a directory: what cannot be read is as if it were not there. */
export function reader(path: string): (name: string) => string | undefined {
  return name => {
    const text = readText(join(path, name))
    return typeof text === 'string' ? text : undefined
  }
}

/**
 * The text of a regular file, or why there is none; undefined where nothing is
 * there. Never follows a link, never waits for the other end of a pipe.
 */
export function readText(path: string): string | Complaint | undefined {
  const bytes = readBytes(path)
  if (bytes === undefined || 'message' in bytes) return bytes
  const text = bytes.toString('utf8')
  const odd = text.indexOf('\uFFFD')
  if (odd === -1 || Buffer.from(text).equals(bytes)) return text
  return { line: text.slice(0, odd).split('\n').length, message: 'is not UTF-8' }
}

export function readBytes(path: string): Buffer | Complaint | undefined {
  try {
    return readRegularBytes(path, LARGEST, 'anyone')
  } catch (error) {
    if (error instanceof Problem) return { line: 1, message: complaintOf(error) }
    const code = codeOf(error)
    if (code === 'ENOTDIR') return undefined
    if (code === 'EACCES' || code === 'EPERM') return { line: 1, message: `cannot be read: ${code}` }
    throw problemFor(error, path)
  }
}

function complaintOf({ details }: Problem): string {
  const { what } = details as { what?: string }
  if (what === 'a symbolic link') return 'is a symbolic link'
  return what?.startsWith('larger') ? `is larger than ${LARGEST / 1024} KiB` : 'is not a regular file'
}
