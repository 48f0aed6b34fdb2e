import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../core/disk.ts'
import { makeNewFolder, moveEntry } from '../../core/file-entries.ts'
import { openToOwner } from '../../core/files.ts'
import type { Complaint, Item, Kind } from '../../core/kind.ts'
import { Problem } from '../../core/problem.ts'
import { type Desk, isActive } from './desk.ts'
import type { Held } from './hands.ts'
import { impliedFlags } from './implied.ts'
import { guarded } from './problems.ts'
import { fileOf, formOf, nameOf, readText } from './reading.ts'
import { type Root, statsAt, syncFolder } from './root.ts'
import { drafted, setAside, touchFlag } from './writing.ts'

/** What is wrong with the file that defines an item, in the item's directory; undefined where it can be read. */
export function damageIn(kind: Kind, directory: string, name: string): Complaint | undefined {
  const file = fileOf(kind, name, formOf(kind).definition)
  const text = readText(join(directory, file))
  if (text === undefined) return { line: 1, message: `has no ${file}` }
  if (typeof text !== 'string') return { line: text.line, message: `${file} ${text.message}` }
  const read = formOf(kind).read(text, name)
  return 'message' in read ? { line: read.line, message: `${file}: ${read.message}` } : undefined
}

/** Writes the definition as it was when the item was claimed, where it cannot be read any more. What is in its place is set aside. */
export function restoreDefinition(
  { root, records }: Desk,
  kind: Kind,
  directory: string,
  { id, name }: Pick<Item, 'id'> & { readonly name: string },
): Complaint | undefined {
  const closed = guarded(directory, () => openToOwner(directory)) ? { line: 1, message: 'was closed' } : undefined
  const damage = damageIn(kind, directory, name)
  const kept = damage && keptDefinition(records, kind, id, name)
  if (!damage || kept === undefined) return closed
  const path = join(directory, fileOf(kind, name, formOf(kind).definition))
  setAside(path)
  const draft = drafted(root, kept)
  guarded(path, () => moveEntry(draft, path))
  return damage
}

/** The definition as of the last claim, where it was kept and can be read. */
export function keptDefinition(records: Desk['records'], kind: Kind, id: string, name: string): string | undefined {
  const text = records.definition(id)
  return text === undefined || 'message' in formOf(kind).read(text, name) ? undefined : text
}

/** Makes a directory anew of what was kept, in our hands; what lies in its place, a link say, lies in it from then on. */
export function rebuild(desk: Desk, kind: Kind, id: string, name: string, origin: string): Held | undefined {
  if (keptDefinition(desk.records, kind, id, name) === undefined) return undefined
  const held = desk.hands.free(origin, name)
  guarded(held.path, () => makeNewFolder(held.path))
  const place = desk.root.status(origin, name)
  const stats = statsAt(place)
  if (stats && !stats.isDirectory()) guarded(place, () => moveEntry(place, join(held.path, `${name}.damaged`)))
  restoreDefinition(desk, kind, held.path, { id, name })
  const [row] = desk.ledger.find(kind, { where: { id } })
  for (const flag of row ? impliedFlags(kind, { ...row }) : []) touchFlag(held.path, flag.name)
  syncFolder(held.path)
  return held
}

/** Restores a claimed item where it lies, and says what was wrong; undefined where nothing was, or nothing was kept of it. */
export function repair(desk: Desk, kind: Kind, item: Item): string | undefined {
  const { id, status } = item
  const name = nameOf(kind, item)
  if (!isActive(kind, status) || desk.records.current(id) === undefined) return undefined
  const path = desk.root.status(status, name)
  const stats = statsAt(path)
  const damage = stats?.isDirectory()
    ? restoreDefinition(desk, kind, path, { id, name })?.message
    : replaceDirectory(desk, kind, id, name, status)
  if (damage !== undefined) desk.ledger.forget(status, name)
  return damage
}

function replaceDirectory(desk: Desk, kind: Kind, id: string, name: string, status: string): string | undefined {
  const isThere = statsAt(desk.root.status(status, name)) !== undefined
  if (!isThere && isElsewhere(desk, name)) return undefined
  desk.root.makeStatus(status)
  const held = rebuild(desk, kind, id, name, status)
  if (!held) return undefined
  desk.hands.put(held, status)
  return isThere ? 'was no directory' : 'was gone'
}

/** Whether the directory is in a folder, or in the hands of a process. */
function isElsewhere({ root, hands }: Desk, name: string): boolean {
  const lies = () => root.statuses.some(status => statsAt(root.status(status, name)))
  // Twice: it may be on its way from one folder to another that was looked at before.
  return lies() || hands.all().some(hand => hand.name === name) || lies()
}

/** Whether a problem is about one item, while the queue's own folders can be written to. */
export function isAboutOne(error: unknown, root: Root, status: string): error is Problem {
  if (!(error instanceof Problem) || !ABOUT_ONE.has(error.code)) return false
  return [root.own('private'), root.own('tasks'), root.status(status)].every(isWritable)
}

const ABOUT_ONE: ReadonlySet<string> = new Set(['move_refused', 'changed_meanwhile', 'untrusted', 'store_read_only'])

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error))) return false
    throw error
  }
}
