import type { Event, Note } from '../../core/event.ts'
import type { Draft, Item, Kind, Texts } from '../../core/kind.ts'
import { Problem } from '../../core/problem.ts'
import type {
  Added,
  Change,
  Claim,
  ClaimStep,
  EventQuery,
  Finding,
  Kept,
  Query,
  Recovered,
  Recovery,
  Removed,
  Step,
  Store,
  Unreadable,
} from '../../core/store.ts'

type Lists = Readonly<Record<string, string>>

export interface ShelvesOptions {
  /** For kinds that are not kept in files, and for the events. */
  readonly tables: Store
  /** One for kinds that are kept as files, one for those that are kept as directories. */
  readonly shelves: readonly Shelf[]
}

/** Where kinds of one form lie. */
export interface Shelf {
  /** Whether a kind belongs here. */
  readonly keeps: (kind: Kind) => boolean
  /** Opened when it is first needed: most commands are about other kinds. */
  readonly open: () => Promise<Store>
  /** The same with a memory that ends with the process: to read where nothing can be written. */
  readonly spare: () => Promise<Store>
  /** Whether there is anything yet. */
  readonly any: () => boolean
  /** Why nothing may be written here; undefined where it may. */
  readonly refusal?: () => Problem | undefined
  /** The same only to be read, where there is a refusal. */
  readonly asData?: () => Promise<Store>
}

/** One store of several: kinds that have a form as files or directories each in its own, all others in tables. */
export class Shelves implements Store {
  private readonly tables: Store
  private readonly shelves: readonly Shelf[]
  private readonly opened: Store[] = []
  /** The shelves that could be read only with a memory of their own, the last time somebody looked. */
  private readonly hindered = new Set<Shelf>()

  constructor({ tables, shelves }: ShelvesOptions) {
    this.tables = tables
    const opened = async (open: () => Promise<Store>) => {
      const store = await open()
      this.opened.push(store)
      return store
    }
    this.shelves = shelves.map(shelf => ({
      ...shelf,
      open: once(() => opened(shelf.open)),
      spare: once(() => opened(shelf.spare)),
      ...(shelf.asData ? { asData: once(() => opened(shelf.asData!)) } : {}),
    }))
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    return await (await this.keeping(kind)).insert(kind, drafts, note)
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    return await this.reading(kind, store => store.find(kind, query))
  }

  async texts(kind: Kind, ids: readonly string[], all?: boolean): Promise<ReadonlyMap<string, Texts>> {
    return await this.following(kind, store => store.texts(kind, ids, all))
  }

  async names(kind: Kind, field: string, where: Lists): Promise<string[]> {
    return await this.reading(kind, store => store.names(kind, field, where))
  }

  async activity(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await this.following(kind, store => store.activity(kind, ids))
  }

  async unreadable(kind: Kind, where: Lists): Promise<Unreadable[]> {
    return await this.following(kind, store => store.unreadable(kind, where))
  }

  async remarks(kind: Kind, ids?: readonly string[]): Promise<Unreadable[]> {
    return await this.following(kind, store => store.remarks(kind, ids))
  }

  async warnings(): Promise<Unreadable[]> {
    const warned = await Promise.all(this.opened.map(store => store.warnings()))
    return warned.flat()
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    return await this.reading(kind, store => store.count(kind, query))
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    return await (await this.keeping(kind)).save(kind, change, note)
  }

  async saveSteps<T extends Item>(kind: Kind<T>, steps: readonly [Step, ...Step[]], last?: ClaimStep): Promise<T> {
    return await (await this.keeping(kind)).saveSteps(kind, steps, last)
  }

  async saveAll<T extends Item>(kind: Kind<T>, changes: readonly Change[], note: Note): Promise<(T | undefined)[]> {
    return await (await this.keeping(kind)).saveAll(kind, changes, note)
  }

  async takeAll<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T[]> {
    return await (await this.keeping(kind)).takeAll(kind, query, claim, note)
  }

  async recover(kind: Kind, note: Note, only?: Recovery): Promise<Recovered[]> {
    return await (await this.keeping(kind)).recover(kind, note, only)
  }

  async take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined> {
    return await (await this.keeping(kind)).take(kind, query, claim, note)
  }

  async renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T> {
    return await (await this.keeping(kind)).renew(kind, id, token, leaseMs)
  }

  async lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]> {
    return await this.reading(kind, store => store.lapsed(kind, limit))
  }

  async load(kind: Kind, items: readonly Kept[]): Promise<void> {
    await (await this.keeping(kind)).load(kind, items)
  }

  async remove(kind: Kind, where: Lists, note: Note): Promise<Removed> {
    return await (await this.keeping(kind)).remove(kind, where, note)
  }

  async events(query: EventQuery): Promise<Event[]> {
    if (query.of) return await this.reading(query.of.kind, store => store.events(query))
    const filled = this.filled()
    // What happened to files is only noticed by looking at them; all of them tell it in the same place.
    for (const shelf of filled.slice(1)) await (await looking(shelf)).events({ last: 0 })
    return await (filled[0] ? await looking(filled[0]) : this.tables).events(query)
  }

  async changed(seq: number, ms: number, signal?: AbortSignal): Promise<void> {
    const [first, ...others] = await Promise.all(this.filled().map(looking))
    if (!first) return await this.tables.changed(seq, ms, signal)
    // The first that notices something tells all.
    const noticed = new AbortController()
    const either = AbortSignal.any([noticed.signal, ...(signal ? [signal] : [])])
    const waiting = [first, ...others].map(async store => await store.changed(seq, ms, either))
    try {
      await Promise.race(waiting)
    } finally {
      noticed.abort()
      await Promise.allSettled(waiting)
    }
  }

  async inspect(mend?: boolean): Promise<Finding[]> {
    const findings = await this.tables.inspect(mend)
    for (const shelf of this.filled()) findings.push(...(await (await looking(shelf)).inspect(mend)))
    return findings
  }

  async close(): Promise<void> {
    // Each may have something left to tell the tables.
    for (const store of this.opened) await store.close()
    await this.tables.close()
  }

  private shelfOf(kind: Kind): Shelf | undefined {
    return this.shelves.find(shelf => shelf.keeps(kind))
  }

  private filled(): Shelf[] {
    return this.shelves.filter(shelf => shelf.any())
  }

  private async keeping(kind: Kind): Promise<Store> {
    const shelf = this.shelfOf(kind)
    const refusal = shelf?.refusal?.()
    if (refusal) throw refusal
    return (await shelf?.open()) ?? this.tables
  }

  /** Reading goes on where nothing can be written. */
  private async reading<T>(kind: Kind, read: (store: Store) => Promise<T>): Promise<T> {
    const shelf = this.shelfOf(kind)
    if (!shelf) return await read(this.tables)
    try {
      const answer = await read(await looking(shelf))
      this.hindered.delete(shelf)
      return answer
    } catch (error) {
      const hindered = error instanceof Problem && (error.code === 'store_full' || error.code === 'store_read_only')
      if (!hindered) throw error
      this.hindered.add(shelf)
      return await read(await shelf.spare())
    }
  }

  /** More about what was found is known to whoever looked. */
  private async following<T>(kind: Kind, read: (store: Store) => Promise<T>): Promise<T> {
    const shelf = this.shelfOf(kind)
    return shelf && this.hindered.has(shelf) ? await read(await shelf.spare()) : await this.reading(kind, read)
  }
}

/** The store of a shelf for one who only reads. */
async function looking(shelf: Shelf): Promise<Store> {
  return await (shelf.asData && shelf.refusal?.() ? shelf.asData() : shelf.open())
}

/** Makes something when it is first asked for, and tries again when that failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return async () => {
    made ??= make()
    try {
      return await made
    } catch (error) {
      made = undefined
      throw error
    }
  }
}
