import type { Stats } from 'node:fs'
import type { Note } from '../../core/event.ts'
import type { Content, Item, Kind } from '../../core/kind.ts'
import type { Discovery, Ledger, Seen, Stamp } from '../../core/ledger.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { phaseOf } from '../../core/lifecycle.ts'
import { same } from '../../core/move.ts'
import { readContent, readText, statsAt } from './reading.ts'
import { formOf, idOf, type Place, type Tree } from './tree.ts'

/** File systems tell time in steps: a file written twice within one looks the same. */
const STEP_MS = 50
/** Those that tell whole seconds only. */
const COARSE_STEP_MS = 2000
/** So many files that were seen right after they were written are read again at every look, before that is written down. */
const REREAD_AT_MOST = 64

/** So many new files are taken in together. */
const AT_ONCE = 200

/** Keeps the ledger up with the files: reads those that changed since they were last seen, and no others. */
export class Looker {
  private readonly ledger: Ledger
  private readonly tree: Tree
  /** Files whose names are not UTF-8, by folder: they cannot be asked for. */
  readonly unnameable = new Map<string, readonly string[]>()

  constructor(ledger: Ledger, tree: Tree) {
    this.ledger = ledger
    this.tree = tree
  }

  /** Looks at every list that `where` does not exclude. */
  look(kind: Kind, where: Fields): void {
    const places = this.tree.places(kind, where)
    const known = new Set(this.ledger.folders(kind, this.tree.within(kind, where)))
    const stale = places.filter(place =>
      known.has(place.folder) ? isSome(this.changesIn(kind, place)) : this.tree.hasItems(kind, place.folder),
    )
    const lost = this.lostFolders(kind, where, places, known)
    if (stale.length === 0 && lost.length === 0) return
    this.ledger.together(() => {
      for (const folder of lost) for (const file of this.ledger.files(folder)) this.lose(kind, file)
      for (const place of stale) this.catchUp(kind, place)
    }, true)
  }

  /** Looks at one item's file. */
  lookOnce(kind: Kind, id: string): void {
    const known = this.ledger.fileOf(kind, id)
    if (!known) return
    const stats = this.statsOf(known)
    if (
      stats &&
      !differs(known, stats) &&
      (!isFresh(known) || this.isAsSeen(kind, { folder: known.folder, list: this.listOf(kind, id) }, known.name))
    )
      return
    this.ledger.together(() => this.lookAt(kind, id), true)
  }

  /** The same inside a transaction. The item as it now stands; undefined when its file is gone. */
  lookAt<T extends Item>(kind: Kind<T>, id: string): { item: T; file: Seen } | undefined {
    const known = this.ledger.fileOf(kind, id)
    if (!known) return undefined
    const stats = this.statsOf(known)
    if (!stats) this.lose(kind, known)
    else if (differs(known, stats) || isFresh(known)) this.take(kind, this.listOf(kind, id), known.folder, [known.name])
    const file = this.ledger.fileOf(kind, id)
    if (!file) this.reconsider(known)
    const [item] = file ? this.ledger.find(kind, { where: { id } }) : []
    return file && item ? { item, file } : undefined
  }

  /** How a file that has just been written is to be remembered. */
  static seen(
    place: { folder: string; name: string },
    item: string | null,
    stats: Stats,
    complaint: Seen['complaint'] = null,
  ): Seen {
    const { folder, name } = place
    return { folder, name, item, node: nodeOf(stats), changed: changeOf(stats), written: stats.mtimeMs, complaint }
  }

  private changesIn(kind: Kind, place: Place): Changes {
    const { names: before, numbers } = this.ledger.stamps(place.folder)
    const form = formOf(kind)
    const names = this.tree.files(place.folder).filter(name => form.isItem(name))
    this.unnameable.delete(place.folder)
    const changes: Changes = { changed: [], gone: [] }
    const fresh: string[] = []
    const prefix = this.tree.prefix(place.folder)
    const compare = (name: string, index: number) => {
      const stats = statsAt(prefix + name)
      const [node, changed] = numbers[index]!
      if (!stats) changes.gone.push(name)
      else if (node !== nodeOf(stats) || Math.abs(changed) !== stats.ctimeMs) changes.changed.push(name)
      else if (changed < 0) fresh.push(name)
    }
    // Most often the same files are there as the last time, and in the same order.
    if (names.length === numbers.length && names.join('\n') === before) {
      names.forEach(compare)
    } else {
      const known = new Map(before === '' ? [] : before.split('\n').map((name, index) => [name, index]))
      for (const name of names) {
        const index = known.get(name)
        known.delete(name)
        if (index !== undefined) compare(name, index)
        else if (name.includes('\uFFFD') && !statsAt(prefix + name)) this.passOver(place.folder, name)
        else changes.changed.push(name)
      }
      changes.gone.push(...known.keys())
    }
    const many = fresh.length > REREAD_AT_MOST
    const doubtful = many ? fresh : fresh.filter(name => !this.isAsSeen(kind, place, name))
    for (const name of doubtful) changes.changed.push(name)
    return changes
  }

  private passOver(folder: string, name: string): void {
    this.unnameable.set(folder, [...(this.unnameable.get(folder) ?? []), name])
  }

  private isAsSeen(kind: Kind, { folder, list }: Place, name: string): boolean {
    const { item: id = null, complaint = null } = this.ledger.file(folder, name) ?? {}
    const look = readText(this.tree.path(folder, name))
    if (!look) return false
    const content = 'text' in look ? formOf(kind).read(look.text, name, list) : look
    if ('message' in content) return complaint?.message === content.message && complaint.line === content.line
    const [item] = id === null ? [] : this.ledger.find(kind, { where: { id } })
    return item !== undefined && Object.keys(changedIn(item, content)).length === 0
  }

  private catchUp(kind: Kind, place: Place): void {
    // Looked at once more, now that nobody else writes the ledger: another process may have been first.
    const { changed, gone } = this.changesIn(kind, place)
    for (const name of gone) this.lose(kind, this.ledger.file(place.folder, name)!)
    const strange = !this.ledger.folders(kind, place.folder).includes(place.folder)
    this.take(kind, place.list, place.folder, changed, strange)
    if (changed.length === 0 && gone.length === 0) return
    // What could not be taken in may have waited for an id that is free now.
    const waiting = this.ledger.complaints(place.folder).map(({ name }) => name)
    if (waiting.length > 0) this.take(kind, place.list, place.folder, waiting)
  }

  /** Lets the next look read again what could not be taken in beside a file: its id may have become free. */
  private reconsider({ folder, name }: Seen): void {
    const others = this.ledger.complaints(folder).filter(file => file.name !== name)
    for (const file of others) this.ledger.forget(folder, file.name)
  }

  /** Reads files and takes in what stands in them. In a folder that was never seen, none of it can be known. */
  private take(kind: Kind, list: Place['list'], folder: string, names: readonly string[], strange = false): void {
    const form = formOf(kind)
    const discoveries: Discovery[] = []
    const files: Seen[] = []
    const fresh = new Map<string, string>()
    const prefix = this.tree.prefix(folder)
    const unheard = strange && !this.ledger.hasHeardOf(kind)
    for (const name of names) {
      const found = readContent(prefix + name, text => form.read(text, name, list))
      if (!found) continue
      const { stats, content } = found
      const complain = (line: number, message: string) =>
        this.complain(kind, files, Looker.seen({ folder, name }, null, stats, { line, message }))
      if ('message' in content) {
        complain(content.line, content.message)
        continue
      }
      const id = idOf(kind, content.fields)
      const holder = fresh.get(id) ?? (strange ? undefined : this.holderOf(kind, id, folder, name))
      if (holder !== undefined) {
        complain(1, `has the same ${kind.numbers ? 'number' : 'name'} as ${holder}`)
        continue
      }
      fresh.set(id, name)
      if (!strange) this.dropOther(kind, folder, name, id)
      const file = Looker.seen({ folder, name }, id, stats)
      const [item] = strange ? [] : this.ledger.find(kind, { where: { id } })
      if (item) {
        this.follow(kind, item, content, stats)
        files.push(file)
      } else {
        discoveries.push({ id, fields: content.fields, file, note: noteOf(content, stats) })
        // What is written down can be forgotten: to keep the texts of thousands takes longer than to read them.
        if (discoveries.length === AT_ONCE) this.ledger.discover(kind, discoveries.splice(0), unheard)
      }
    }
    this.ledger.discover(kind, discoveries, unheard)
    this.ledger.remember(kind, files)
  }

  /** A file whose id was changed holds another item than before. */
  private dropOther(kind: Kind, folder: string, name: string, id: string): void {
    const before = this.ledger.file(folder, name)?.item
    const [item] = before && before !== id ? this.ledger.find(kind, { where: { id: before } }) : []
    const at = new Date().toISOString()
    if (item) this.ledger.drop(kind, item, { by: 'unknown', at, why: `its file has become ${id}` })
  }

  /** A file that held an item and cannot be read any more takes the item with it; the file is named instead. */
  private complain(kind: Kind, files: Seen[], file: Seen): void {
    const before = this.ledger.file(file.folder, file.name)
    const [item] = before?.item ? this.ledger.find(kind, { where: { id: before.item } }) : []
    if (item)
      this.ledger.drop(kind, item, {
        by: 'unknown',
        at: new Date(file.written).toISOString(),
        why: file.complaint?.message,
      })
    files.push(file)
  }

  /** The name of another file that has an item's id and is still there. */
  private holderOf(kind: Kind, id: string, folder: string, name: string): string | undefined {
    const holder = this.ledger.fileOf(kind, id)
    if (!holder || (holder.folder === folder && holder.name === name)) return undefined
    const there = statsAt(this.tree.path(holder.folder, holder.name))
    if (there) return holder.name
    this.ledger.forget(holder.folder, holder.name)
    return undefined
  }

  /** Brings an item up to what its file says now. */
  private follow(kind: Kind, item: Item, content: Content, stats: Stats): void {
    const changed = changedIn(item, content)
    if (Object.keys(changed).length === 0) {
      const known = this.ledger.fileOf(kind, item.id)
      if (!known || differs(known, stats)) this.ledger.touch(kind, item.id)
      return
    }
    const held = phaseOf(kind.lifecycle, item.status) === 'active'
    const moved = changed['status'] !== undefined || changed['owner'] !== undefined
    // Whoever had a claim on it has lost it to somebody who does not ask us.
    const revoked =
      moved && (held || changed['status'] !== undefined) ? { token: item.token + 1, leaseUntil: null } : {}
    this.ledger.save(
      kind,
      { id: item.id, revision: item.revision, from: item.status, fields: { ...changed, ...revoked } },
      noteOf(content, stats, item.status),
    )
  }

  private lose(kind: Kind, file: Seen): void {
    this.ledger.forget(file.folder, file.name)
    const [item] = file.item ? this.ledger.find(kind, { where: { id: file.item } }) : []
    if (item) this.ledger.drop(kind, item, { by: 'unknown', at: new Date().toISOString(), why: 'the file is gone' })
  }

  private lostFolders(kind: Kind, where: Fields, places: readonly Place[], known: ReadonlySet<string>): string[] {
    const there = new Set(places.map(({ folder }) => folder))
    const asked = (folder: string) => {
      const parts = folder.split('/')
      return formOf(kind).folders.every((segment, index) => {
        const wanted = where[segment.slice(1, -1)]
        return !segment.startsWith('{') || wanted === undefined || wanted === parts[index]
      })
    }
    return [...known].filter(folder => !there.has(folder) && asked(folder))
  }

  private listOf(kind: Kind, id: string): Place['list'] {
    const [item] = this.ledger.find(kind, { where: { id } }) as unknown as Fields[]
    return Object.fromEntries(kind.list.map(field => [field, String(item?.[field])]))
  }

  private statsOf({ folder, name }: Seen): Stats | undefined {
    return this.tree.isReachable(folder) ? statsAt(this.tree.path(folder, name)) : undefined
  }
}

interface Changes {
  readonly changed: string[]
  readonly gone: string[]
}

function isSome({ changed, gone }: Changes): boolean {
  return changed.length > 0 || gone.length > 0
}

/** Whether a file has changed since it was read. Every change of a file, also one that keeps its times, is one of its inode. */
export function differs(stamp: Stamp, stats: Stats): boolean {
  return stamp.node !== nodeOf(stats) || Math.abs(stamp.changed) !== stats.ctimeMs
}

/** No file is read that is longer than a mebibyte. */
function nodeOf({ ino, size }: Stats): number {
  return ino * 2 ** 20 + size
}

function changeOf({ ctimeMs }: Stats): number {
  const step = ctimeMs % 1000 === 0 ? COARSE_STEP_MS : STEP_MS
  return ctimeMs > Date.now() - step ? -ctimeMs : ctimeMs
}

/** Whether it was read so soon after it was changed that another change might not show. */
function isFresh({ changed }: Stamp): boolean {
  return changed < 0
}

function changedIn(item: Item, { fields }: Content): Fields {
  const before = item as unknown as Fields
  return Object.fromEntries(Object.entries(fields).filter(([field, value]) => !same(before[field], value)))
}

/** Who changed a file, as far as its own history tells; its last entry is about this change only if it leads to this status. */
function noteOf(content: Content, stats: Stats, before?: string): Note {
  const { fields } = content
  const last = content.last ?? content.history.at(-1)
  const told = last && last.to === fields['status'] && before !== last.to ? last : undefined
  const at = told?.at ?? new Date(stats.mtimeMs).toISOString()
  return { by: told?.by ?? 'unknown', at, why: told ? (told.why ?? undefined) : 'changed on disk' }
}
