import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import type { Note } from '../../core/event.ts'
import { alreadyThere, type Named, numberOf, referring, repeated } from '../../core/keeping.ts'
import type { Draft, Item, Kind, Texts } from '../../core/kind.ts'
import type { Discovery } from '../../core/ledger.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type { Added, Kept } from '../../core/store.ts'
import { type Desk, isActive, isWaiting } from './desk.ts'
import { newLease } from './lease.ts'
import { guarded, inTheWay, unless } from './problems.ts'
import { thisProcess } from './process.ts'
import { formOf, readDirectory } from './reading.ts'
import { QUIETLY, syncFolder } from './root.ts'
import { seenDirectory } from './seen.ts'
import { fillDirectory, hasFlagLike, touchFlag } from './writing.ts'

let count = 0

/** Adds drafts in order: each is built whole where nobody sees it, and then appears in the folder of its status. */
export function add<T extends Item>(desk: Desk, kind: Kind<T>, drafts: readonly Draft[], note: Note): Added<T>[] {
  const { ledger } = desk
  const holder = ({ identity }: Draft) =>
    identity === undefined ? undefined : ledger.find(kind, { where: { identity } })[0]
  const known = drafts.map(holder)
  const first = (draft: Draft) =>
    drafts.findIndex(({ identity }) => identity !== undefined && identity === draft.identity)
  const isNew = drafts.map((draft, index) => !known[index] && (draft.identity === undefined || first(draft) === index))
  const numbers = new Numbering(desk, kind)
  const named = drafts.map((draft, index) => (isNew[index] ? numbers.give(draft) : undefined))
  const ids = drafts.map((draft, index) => known[index]?.id ?? (named[index] ?? named[first(draft)])!.id)
  const fresh = named.flatMap(own => (own ? [referring(kind, own, ids)] : []))
  const built = fresh.map(own => build(desk, kind, own, own.texts ?? {}))
  for (const own of fresh) desk.records.noteAdded(own.id, { ...note, identity: own.identity })
  appear(desk, built)
  ledger.together(() => {
    const unseen = fresh.filter(({ id }) => ledger.find(kind, { where: { id }, fields: ['status'] }).length === 0)
    ledger.discover(
      kind,
      unseen.map(own => discovery(desk, kind, own, note)),
    )
  }, true)
  return ids.map((id, index) => ({ item: ledger.find(kind, { where: { id } })[0]!, created: isNew[index]! }))
}

/** Adds items as another store kept them. */
export function load(desk: Desk, kind: Kind, items: readonly Kept[]): void {
  const { ledger } = desk
  const ids = items.map(({ id }) => id)
  const taken = ids.filter(id => desk.records.isReserved(id))
  if (taken.length > 0 || repeated(ids).length > 0) throw alreadyThere(kind, [...taken, ...repeated(ids)])
  const built = items.map(kept => {
    desk.records.reserve(kept.id)
    const { id, fields, texts, token } = kept
    const own = build(desk, kind, { id, fields, status: String(fields['status']) }, texts)
    setFlags(kind, own, kept)
    keepToken(desk, kind, id, fields, token)
    return own
  })
  appear(desk, built)
  ledger.together(() => {
    ledger.load(kind, items)
    for (const { name, id, status } of built) {
      const stats = lstatSync(desk.root.status(status, name))
      ledger.remember(kind, [seenDirectory(name, id, stats.mtimeMs, 0)])
    }
  })
}

interface Built {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly path: string
}

function build(desk: Desk, kind: Kind, own: { id: string; status: string; fields: Fields }, texts: Texts): Built {
  const { id, status, fields } = own
  const name = formOf(kind).name({ ...fields, id })
  const { pid, start, boot } = thisProcess()
  const path = desk.root.own('new', `${name}~${pid}.${start}.${boot}.${++count}`)
  guarded(path, () => mkdirSync(path, { mode: 0o700 }))
  fillDirectory(kind, path, name, texts)
  const read = readDirectory(kind, path, name)
  if (!read || 'message' in read) {
    rmSync(path, { recursive: true, force: true })
    throw new Problem('bad_input', `${name}: ${read?.message ?? 'is gone'}`, 'Correct what it says and add it again.', {
      id,
    })
  }
  return { id, name, status, path }
}

/** Puts what was built in its place, all of it or nothing; each folder is synced once. */
function appear(desk: Desk, built: readonly Built[]): void {
  const folders = new Set(built.map(({ status }) => status))
  const shown: Built[] = []
  try {
    for (const status of folders) desk.root.makeStatus(status)
    for (const { path, name, status } of built) {
      const other = desk.root.statuses.find(folder => lstatSync(desk.root.status(folder, name), QUIETLY))
      if (other !== undefined) throw inTheWay(name, 'new', other === status ? status : `${status} (it is in ${other})`)
      syncFolder(path)
    }
    for (const one of built) {
      const to = desk.root.status(one.status, one.name)
      guarded(one.path, () => renameSync(one.path, to), to)
      shown.push(one)
    }
    for (const status of folders) syncFolder(desk.root.status(status))
    syncFolder(desk.root.own('tasks'))
  } catch (error) {
    for (const { status, name, path } of shown) {
      // Who has taken it meanwhile may keep it.
      unless(['ENOENT'], path, () => renameSync(desk.root.status(status, name), path))
    }
    for (const { path } of built) rmSync(path, { recursive: true, force: true })
    throw error
  }
}

function discovery(desk: Desk, kind: Kind, own: Named, note: Note): Discovery {
  const { id, title, status, identity = null } = own
  const name = formOf(kind).name({ ...own.fields, id })
  const stats = lstatSync(desk.root.status(status, name), QUIETLY)
  const file = seenDirectory(name, id, stats?.mtimeMs ?? 0, 0)
  return { id, fields: { ...own.fields, title, status, identity, token: 0 }, file, note }
}

/** Gives numbers above all that were ever given, as far as the ledger and the folders know; taking one is making a folder. */
class Numbering {
  private readonly desk: Desk
  private readonly kind: Kind
  private readonly last = new Map<string, number>()
  private highest: Map<string, number> | undefined

  constructor(desk: Desk, kind: Kind) {
    this.desk = desk
    this.kind = kind
  }

  give(draft: Draft): Named {
    const { kind } = this
    const { numbers } = kind
    if (draft.id !== undefined || !numbers) throw new Error(`A ${kind.name} is numbered by its store`)
    const list = JSON.stringify(kind.list.map(field => draft.fields[field]))
    this.highest ??= this.highestThere()
    const known = Math.max(this.desk.ledger.lastNumber(kind, draft.fields), this.highest.get(list) ?? 0)
    for (let number = (this.last.get(list) ?? known) + 1; ; number++) {
      const { id, fields } = numbers.give(draft, number)
      if (!this.desk.records.reserve(id)) continue
      this.last.set(list, number)
      return { ...draft, id, fields: { ...draft.fields, ...fields } }
    }
  }

  /** By list, the highest number of a directory that others made among what is finished: that is not looked at otherwise. */
  private highestThere(): Map<string, number> {
    const { kind, desk } = this
    const most = new Map<string, number>()
    for (const status of desk.root.statuses) {
      const folder = desk.root.status(status)
      for (const name of unless(['ENOENT'], folder, () => readdirSync(folder)) ?? []) {
        const named = formOf(kind).named(name)
        if ('message' in named) continue
        const list = JSON.stringify(kind.list.map(field => named.fields[field]))
        most.set(list, Math.max(most.get(list) ?? 0, numberOf(kind, named.fields)))
      }
    }
    return most
  }
}

/** The flags that tell what happened to an item, where those it came with do not. */
function setFlags(kind: Kind, { path, id, status }: Built, { texts, history }: Kept): void {
  const passed = history.filter(({ to }, index) => to === status || isActive(kind, to) || index === history.length - 1)
  for (const { to, at } of passed.slice(-2)) {
    const flag = isWaiting(kind, status) ? undefined : formOf(kind).flag(id, to, at)
    if (flag !== undefined && !hasFlagLike(Object.keys(texts), flag)) touchFlag(path, flag)
  }
}

/** Claims go on being counted from where they were. */
function keepToken(desk: Desk, kind: Kind, id: string, fields: Fields, token: number): void {
  const status = String(fields['status'])
  const owner = fields['owner'] as string | null | undefined
  const lease = newLease(owner ?? '', new Date().toISOString(), undefined)
  if (isWaiting(kind, status)) {
    if (token > 1) desk.records.write(id, { what: status, token: token - 1 }, lease)
  } else if (token > 0) {
    const held = isActive(kind, status) && (owner ?? null) !== null
    desk.records.write(id, { what: held ? 'lease' : status, token }, lease)
  }
}
