import { readdirSync, watch } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { sinceBoot, thisBoot } from '../../core/clock.ts'
import type { Event, Note } from '../../core/event.ts'
import { moveEntry } from '../../core/file-entries.ts'
import { makeFolder } from '../../core/files.ts'
import { activeStatuses, ofLists, stands, unlessTooLate, whyNot } from '../../core/keeping.ts'
import type { Draft, Item, Kind, Texts } from '../../core/kind.ts'
import type { Ledger } from '../../core/ledger.ts'
import { openStatuses } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type {
  Added,
  Change,
  Claim,
  EventQuery,
  Finding,
  Kept,
  Query,
  Recovered,
  Recovery,
  Removed,
  Store,
  Unreadable,
} from '../../core/store.ts'
import { add } from './adding.ts'
import { lyingIn } from './astray.ts'
import { Claims } from './claiming.ts'
import { damageIn, keptDefinition } from './damage.ts'
import { type Desk, deskOf, isActive, isWaiting, type Seals } from './desk.ts'
import { impliedFlags } from './implied.ts'
import { isLapsed, msLeft } from './lease.ts'
import { leave, linkParts } from './leaving.ts'
import { load } from './loading.ts'
import { Looker } from './look.ts'
import { amend, moveIdle } from './moving.ts'
import { guarded, unless } from './problems.ts'
import { entriesIn, fileOf, formOf, nameOf, readBytes, reader, textOf } from './reading.ts'
import { faults, recover } from './recovering.ts'
import { clearAway, tolerating } from './rescuing.ts'
import { Root, statsAt } from './root.ts'
import { remarks } from './seen.ts'
import { asText, isData } from './writing.ts'

export interface DirectoryStoreOptions extends Seals {
  /** The folder of the queue. */
  readonly top: string
  /** The workspace: nothing that is read or written lies outside of it. */
  readonly root: string
  readonly ledger: Ledger
  /** Where the events are told, and everything that is not kept in directories lives. */
  readonly tables: Store
  /** The kind that is kept in directories. */
  readonly kind: Kind
  /** Only to be read: what processes that are gone left half done stays as it is. */
  readonly asData?: boolean
  /** Called before our own folder is written to. */
  readonly onMade?: (() => void) | undefined
}

/**
 * Items as directories, one each, in a folder named after their status. The
 * directories are the truth, and people and scripts move them too; the ledger
 * follows what is seen there, and says what comes next. What an item is moved
 * by is a rename; whose it is says one file: see `Records`.
 */
export class DirectoryStore implements Store {
  private readonly desk: Desk
  private readonly looker: Looker
  private readonly claims: Claims
  private readonly tables: Store
  private readonly root: string
  private readonly kind: Kind
  private readonly asData: boolean
  /** The texts that were given out last: what becomes of them was decided on these. */
  private readonly given = new Map<string, Texts>()

  constructor({ top, root, ledger, tables, kind, asData = false, onMade, ...seals }: DirectoryStoreOptions) {
    this.desk = deskOf(new Root(top, root, kind, onMade), ledger, seals)
    this.looker = new Looker(this.desk, asData)
    this.claims = new Claims(this.desk, this.looker)
    this.tables = tables
    this.root = root
    this.kind = kind
    this.asData = asData
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    this.claims.settle(this.kind)
    this.desk.root.make()
    this.looker.look(kind)
    return add(this.desk, this.looker, kind, drafts, note)
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    this.claims.settle(this.kind)
    this.look(kind, query)
    return this.desk.ledger.find(kind, query)
  }

  async texts(kind: Kind, ids: readonly string[], all = false): Promise<ReadonlyMap<string, Texts>> {
    this.claims.settle(this.kind)
    const found = new Map<string, Texts>()
    for (const id of ids) {
      const [item] = this.desk.ledger.find(kind, { where: { id } })
      const texts = item && this.textsOf(kind, item, all)
      if (!texts) continue
      found.set(id, texts)
      if (all) continue
      this.given.set(id, texts)
      if (this.given.size > 100) this.given.delete(this.given.keys().next().value!)
    }
    return found
  }

  async names(kind: Kind, field: string, where: Readonly<Record<string, string>>): Promise<string[]> {
    ofLists(kind, [field, ...Object.keys(where)])
    const items = await this.find(kind, { where, fields: [field] })
    return [...new Set(items.map(item => String(({ ...item } as Record<string, unknown>)[field])))]
  }

  async activity(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    this.claims.settle(this.kind)
    const times = ids.flatMap(id => {
      const [item] = this.desk.ledger.find(kind, { where: { id } })
      const path = item && this.pathOf(kind, item)
      const stats = path === undefined ? undefined : statsAt(path)
      if (!path || !stats) return []
      const files = (entriesIn(path) ?? []).map(({ written }) => written)
      return [[id, new Date(Math.max(stats.mtimeMs, ...files)).toISOString()] as const]
    })
    return new Map(times)
  }

  async unreadable(kind: Kind): Promise<Unreadable[]> {
    this.claims.settle(this.kind)
    const { ledger, root } = this.desk
    return root.statuses.flatMap(status =>
      ledger
        .complaints(status)
        .filter(({ name, item }) => item !== null || !this.isItem(kind, status, name))
        .map(({ name, complaint }) => ({
          file: relative(this.root, root.status(status, name)),
          ...(complaint ?? { line: 1, message: `is no ${kind.name}` }),
        })),
    )
  }

  async remarks(kind: Kind, ids?: readonly string[]): Promise<Unreadable[]> {
    this.claims.settle(this.kind)
    const isMeant = ({ id }: Item) => ids?.includes(id) ?? true
    return [...this.idle(kind, isMeant), ...this.odd(kind, isMeant)]
  }

  /** Whether something of this name was put right since somebody complained of it. */
  private isItem(kind: Kind, status: string, name: string): boolean {
    const named = formOf(kind).named(name)
    const [row] = 'id' in named ? this.desk.ledger.find(kind, { where: { id: named.id } }) : []
    return row?.status === status && nameOf(kind, row) === name
  }

  /** What definitions of open items say in vain. */
  private idle(kind: Kind, isMeant: (item: Item) => boolean): Unreadable[] {
    const { ledger } = this.desk
    const open = openStatuses(kind.lifecycle)
    return remarks(ledger).flatMap(({ item: id, complaint }) => {
      const [item] = id === null ? [] : ledger.find(kind, { where: { id }, status: open })
      return item && isMeant(item) && complaint
        ? [{ file: relative(this.root, this.pathOf(kind, item)), ...complaint }]
        : []
    })
  }

  /** What is wrong in directories that are worked on; they are items all the same. */
  private odd(kind: Kind, isMeant: (item: Item) => boolean): Unreadable[] {
    const active = this.desk.ledger.find(kind, { status: activeStatuses(kind) })
    return active.filter(isMeant).flatMap(item => {
      const path = this.pathOf(kind, item)
      const { complaints } = formOf(kind).evidence(item.id, entriesIn(path) ?? [], reader(path))
      return complaints.map(message => ({ file: relative(this.root, path), line: 1, message }))
    })
  }

  async warnings(): Promise<Unreadable[]> {
    return this.desk.warnings.take().map(({ path, message }) => ({ file: relative(this.root, path), line: 1, message }))
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    this.claims.settle(this.kind)
    this.look(kind, query)
    return this.desk.ledger.count(kind, query)
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    this.claims.settle(this.kind)
    const { id, from, fields } = change
    this.desk.root.make()
    if (kind.waits?.until.includes(String(fields['status']))) this.looker.lookForParts(kind)
    this.looker.lookOnce(kind, id)
    const [item] = this.desk.ledger.find(kind, { where: { id } })
    if (!item || !stands(item, change) || item.status !== from) throw whyNot(kind, item, change)
    const known = this.given.get(id)
    this.given.delete(id)
    const to = fields['status'] ?? from
    if (to === from) return amend(this.desk, kind, item, change, note, known)
    if (!isActive(kind, from)) return moveIdle(this.desk, kind, item, change, note, known)
    const left = leave(this.desk, kind, item, change, note)
    if (!left) throw whyNot(kind, item, { id })
    return left
  }

  async saveSteps<T extends Item>(kind: Kind<T>): Promise<T> {
    throw new Error(`A ${kind.name} that is a directory makes one move at a time`)
  }

  async saveAll<T extends Item>(kind: Kind<T>, changes: readonly Change[], note: Note): Promise<(T | undefined)[]> {
    const saved: (T | undefined)[] = []
    for (const change of changes) saved.push(await this.save(kind, change, note).catch(unlessTooLate))
    return saved
  }

  async take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined> {
    if (!this.desk.root.isMade && !this.desk.root.isThere) return undefined
    this.desk.root.make()
    return this.claims.take(kind, query, claim, note)
  }

  async takeAll<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T[]> {
    const taken: T[] = []
    const { limit = 1 } = query
    try {
      for (let item; taken.length < limit && (item = await this.take(kind, query, claim, note)); ) taken.push(item)
    } catch (error) {
      // Those that were taken are the caller's, who has to know of them.
      if (!(error instanceof Problem) || taken.length === 0) throw error
      this.desk.warnings.add(this.desk.root.top, `no more than ${taken.length} could be claimed: ${error.message}`)
    }
    return taken
  }

  async renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T> {
    this.claims.settle(this.kind)
    const { ledger, records, root, warnings } = this.desk
    // The records of claims were removed: what was seen of them is written down again.
    if (root.isThere && !records.isReserved(id)) {
      root.make()
      this.looker.lookOnce(kind, id)
    }
    const renewed = records.renew(id, token, lease => ({ ...lease, boot: thisBoot(), until: sinceBoot() + leaseMs }))
    if (renewed) {
      const [known] = ledger.find(kind, { where: { id } })
      const told = () =>
        ledger.together(() => {
          const [row] = ledger.find(kind, { where: { id } })
          return row?.token === token && isActive(kind, row.status) ? ledger.renew(kind, id, token, leaseMs) : undefined
        }, true)
      const untold = () => {
        const leaseUntil = new Date(Date.now() + leaseMs).toISOString()
        return known?.token === token && isActive(kind, known.status) ? { ...known, leaseUntil } : undefined
      }
      const held = warnings.unlessHindered(root.top, `${id} renewed; the index does not say so yet`, told, untold)
      if (held) return held
      this.looker.lookOnce(kind, id)
    }
    const [item] = this.desk.ledger.find(kind, { where: { id } })
    if (renewed && item?.token === token && isActive(kind, item.status)) return item
    throw whyNot(kind, item, { id, token, renewing: true })
  }

  async lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]> {
    this.claims.settle(this.kind)
    this.looker.look(kind)
    const { ledger, records } = this.desk
    return ledger.lapsed(kind, limit).filter(({ id, token }) => {
      const read = records.lease(id, token)
      if (!read || isLapsed(read.lease)) return true
      // Renewed by somebody whose ledger is another.
      const left = msLeft(read.lease)
      // Its owner may have reported since: then it has no lease any more.
      if (left !== undefined) tolerating(() => ledger.together(() => ledger.renew(kind, id, token, left), true))
      return false
    })
  }

  async load(kind: Kind, items: readonly Kept[]): Promise<void> {
    this.claims.settle(this.kind)
    this.desk.root.make()
    this.looker.look(kind, this.desk.root.statuses)
    load(this.desk, kind, items)
  }

  /** Moves the directories of the lists away, into the workspace's own folder: what was removed by mistake is still there. */
  async remove(kind: Kind, where: Readonly<Record<string, string>>, note: Note): Promise<Removed> {
    this.claims.settle(this.kind)
    ofLists(kind, Object.keys(where))
    if (Object.keys(where).length === 0) throw new Error(`Which lists of ${kind.name} are to be removed?`)
    this.looker.look(kind, this.desk.root.statuses)
    const { ledger } = this.desk
    const stamp = note.at.replace(/\D/g, '').slice(0, 14)
    const trash = join(this.root, '.punchlist', 'trash', `${kind.name}-${stamp}-${process.pid}`)
    const items = ledger.find(kind, { where })
    for (const item of items) {
      const from = this.pathOf(kind, item)
      const to = join(trash, nameOf(kind, item))
      guarded(
        from,
        () => {
          makeFolder(this.root, dirname(to))
          moveEntry(from, to)
        },
        to,
      )
      ledger.together(() => ledger.drop(kind, item, note))
    }
    return { count: items.length, to: items.length > 0 ? relative(this.root, trash) : null }
  }

  async recover(kind: Kind, note: Note, only: Recovery = {}): Promise<Recovered[]> {
    this.claims.settle(this.kind)
    if (!this.desk.root.isThere) return []
    this.desk.root.make()
    const done = recover(this.desk, kind, note, only)
    this.looker.look(kind, this.desk.root.statuses)
    done.push(...recover(this.desk, kind, note, only))
    if (only.id === undefined) {
      linkParts(this.desk, kind)
      clearAway(this.desk)
    }
    return done
  }

  async events(query: EventQuery): Promise<Event[]> {
    this.claims.settle(this.kind)
    this.looker.look(this.kind)
    return await this.tables.events(query)
  }

  async changed(seq: number, ms: number, signal?: AbortSignal): Promise<void> {
    const end = performance.now() + ms
    for (let left = ms; left > 0 && !signal?.aborted; left = end - performance.now()) {
      // What others put into the folder is noticed at once where the system tells, and by looking where it does not.
      const moved = new AbortController()
      const stop = () => moved.abort()
      signal?.addEventListener('abort', stop)
      const watchers = openStatuses(this.kind.lifecycle).flatMap(status =>
        watching(this.desk.root.status(status), stop),
      )
      try {
        if ((await this.events({ after: seq, limit: 1 })).length > 0) return
        await this.tables.changed(seq, Math.min(left, LOOK_MS), moved.signal)
      } finally {
        signal?.removeEventListener('abort', stop)
        for (const watcher of watchers) watcher.close()
      }
    }
  }

  async inspect(mend = false): Promise<Finding[]> {
    this.claims.settle(this.kind)
    const { kind } = this
    const { root, ledger } = this.desk
    if (!root.isThere) return []
    const note = { by: 'doctor', at: new Date().toISOString() }
    const elsewhere = root.elsewhere()
    const mended = mend && !this.asData && elsewhere.length === 0 ? await this.recover(kind, note) : []
    this.looker.look(kind, root.statuses)
    const bad = await this.unreadable(kind)
    const names = bad.slice(0, 5).map(({ file, line, message }) => `${file}:${line} ${message}`)
    const length = Object.values(ledger.count(kind, {})).reduce((sum, n) => sum + n, 0)
    const left = faults(this.desk, kind, note)
    return [
      {
        check: `${kind.name} directories`,
        ok: bad.length === 0,
        detail: bad.length === 0 ? `${length}, each can be read` : `${bad.length} cannot be read: ${names.join('; ')}`,
        hint: 'Correct them by hand, or move them away; they were left as they are.',
      },
      {
        check: `${kind.name} folders`,
        ok: elsewhere.length === 0,
        detail: elsewhere.length === 0 ? 'on one file system' : `on another file system: ${elsewhere.join(', ')}`,
        hint: 'Put all folders of the queue on one file system.',
      },
      {
        check: `${kind.name} places`,
        ok: left.length === 0,
        detail: [...mended, ...left].map(({ id, what }) => `${id}: ${what}`).join('; ') || 'each lies where it belongs',
        hint: 'Run: punchlist queue recover',
      },
    ]
  }

  async close(): Promise<void> {
    this.claims.settle(this.kind)
    await this.tables.close()
  }

  private look(kind: Kind, { where = {}, status }: Pick<Query, 'where' | 'status'>): void {
    const { id } = where as { id?: unknown }
    if (typeof id === 'string') this.looker.lookOnce(kind, id)
    else this.looker.look(kind, status ?? this.desk.root.statuses, true)
  }

  private pathOf(kind: Kind, item: Item): string {
    return this.desk.root.status(lyingIn(this.desk, kind, item), nameOf(kind, item))
  }

  private textsOf(kind: Kind, item: Item, all: boolean): Texts | undefined {
    const name = nameOf(kind, item)
    const path = this.pathOf(kind, item)
    const { definition } = formOf(kind)
    const kept = isWaiting(kind, item.status) || !damageIn(kind, path, name) ? undefined : this.keptOf(kind, item, name)
    if (kept === undefined && !statsAt(path)) return undefined
    const implied = new Set(impliedFlags(kind, { ...item }).map(flag => flag.name))
    const files = all
      ? filesBelow(path).filter(file => !implied.has(file))
      : (entriesIn(path) ?? []).map(entry => entry.name).filter(file => file.endsWith('.md'))
    const own = fileOf(kind, name, definition)
    const texts: (readonly [string, string])[] = files.toSorted().flatMap(file => {
      if (file === own && kept !== undefined) return []
      const bytes = readBytes(join(path, file))
      if (bytes === undefined) return []
      const text = 'message' in bytes ? undefined : asText(bytes)
      // Bytes that are no text are none of the texts that a report is decided on.
      if (text !== undefined && (all || !isData(text))) return [[textOf(kind, name, file), text] as const]
      if (!all || !('message' in bytes)) return []
      throw new Problem('unreadable_file', `${join(path, file)} ${bytes.message}`, 'Move it away and try again.', {
        file,
      })
    })
    if (kept !== undefined) texts.push([definition, kept])
    return Object.fromEntries(texts)
  }

  private keptOf(kind: Kind, { id }: Item, name: string): string | undefined {
    return keptDefinition(this.desk.records, kind, id, name)
  }
}

const LOOK_MS = 1000

/** The regular files in a directory and below, with slashes; links lead elsewhere and are none. */
function filesBelow(path: string, before = ''): string[] {
  const folder = join(path, before)
  const entries = unless(['ENOENT', 'ENOTDIR'], folder, () => readdirSync(folder, { withFileTypes: true })) ?? []
  return entries.flatMap(entry => {
    const name = `${before}${entry.name}`
    return entry.isDirectory() ? filesBelow(path, `${name}/`) : entry.isFile() ? [name] : []
  })
}

function watching(folder: string, listener: () => void) {
  try {
    return [watch(folder, { persistent: true }, listener).on('error', () => undefined)]
  } catch {
    // Not there yet, or no watches left: looking now and then remains.
    return []
  }
}
