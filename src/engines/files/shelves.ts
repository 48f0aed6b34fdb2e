import type { Event, Note } from '../../core/event.ts'
import type { Draft, Item, Kind, Texts } from '../../core/kind.ts'
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
  Removed,
  Store,
  Unreadable,
} from '../../core/store.ts'

type Lists = Readonly<Record<string, string>>

export interface ShelvesOptions {
  /** For kinds that are not kept in files, and for the events. */
  readonly tables: Store
  /** Opened when it is first needed: most commands are about other kinds. */
  readonly files: () => Promise<Store>
  /** The same files with a memory that ends with the process: to read them where nothing can be written. */
  readonly spare: () => Promise<Store>
  /** Whether there are any files yet. */
  readonly any: () => boolean
}

/** One store of two: kinds that have a form as files in one, all others in the other. */
export class Shelves implements Store {
  private readonly tables: Store
  private readonly any: () => boolean
  private readonly files: () => Promise<Store>
  private readonly spare: () => Promise<Store>

  constructor({ tables, files, spare, any }: ShelvesOptions) {
    this.tables = tables
    this.any = any
    this.files = once(files)
    this.spare = once(spare)
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    return await (await this.keeping(kind)).insert(kind, drafts, note)
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    return await this.reading(kind, store => store.find(kind, query))
  }

  async texts(kind: Kind, ids: readonly string[], all?: boolean): Promise<ReadonlyMap<string, Texts>> {
    return await this.reading(kind, store => store.texts(kind, ids, all))
  }

  async names(kind: Kind, field: string, where: Lists): Promise<string[]> {
    return await this.reading(kind, store => store.names(kind, field, where))
  }

  async activity(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await this.reading(kind, store => store.activity(kind, ids))
  }

  async unreadable(kind: Kind, where: Lists): Promise<Unreadable[]> {
    return await this.reading(kind, store => store.unreadable(kind, where))
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    return await this.reading(kind, store => store.count(kind, query))
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    return await (await this.keeping(kind)).save(kind, change, note)
  }

  async saveAll<T extends Item>(kind: Kind<T>, changes: readonly Change[], note: Note): Promise<(T | undefined)[]> {
    return await (await this.keeping(kind)).saveAll(kind, changes, note)
  }

  async takeAll<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T[]> {
    return await (await this.keeping(kind)).takeAll(kind, query, claim, note)
  }

  async recover(kind: Kind, note: Note, id?: string): Promise<Recovered[]> {
    return await (await this.keeping(kind)).recover(kind, note, id)
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
    return await (await this.telling()).events(query)
  }

  async changed(seq: number, ms: number, signal?: AbortSignal): Promise<void> {
    await (await this.telling()).changed(seq, ms, signal)
  }

  async inspect(mend?: boolean): Promise<Finding[]> {
    const own = await this.tables.inspect(mend)
    return this.any() ? [...own, ...(await (await this.files()).inspect(mend))] : own
  }

  async close(): Promise<void> {
    await this.tables.close()
  }

  private async keeping(kind: Kind): Promise<Store> {
    return kind.file ? await this.files() : this.tables
  }

  /** Who tells of everything that happened: what happened to files is only noticed by looking at them. */
  private async telling(): Promise<Store> {
    return this.any() ? await this.files() : this.tables
  }

  /** Reading goes on where nothing can be written. */
  private async reading<T>(kind: Kind, read: (store: Store) => Promise<T>): Promise<T> {
    if (!kind.file) return await read(this.tables)
    try {
      return await read(await this.files())
    } catch (error) {
      const hindered = error instanceof Problem && (error.code === 'store_full' || error.code === 'store_read_only')
      if (!hindered) throw error
      return await read(await this.spare())
    }
  }
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
