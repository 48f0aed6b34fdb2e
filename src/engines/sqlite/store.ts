import { statSync } from 'node:fs'
import type { Event, Note } from '../../core/event.ts'
import type { Draft, Item, Kind, Texts } from '../../core/kind.ts'
import type { Ledger, LedgerKeeper } from '../../core/ledger.ts'
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
  Removed,
  Step,
  Unreadable,
} from '../../core/store.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { hasOurSchema, isCurrent, migrate } from './migrate.ts'
import { Rows } from './rows.ts'
import { wake } from './wake.ts'

/** Opens a database file, making it when it is not there; `:memory:` for one that goes with the process. */
export function openSqliteStore(path: string, options: ConnectionOptions = {}): LedgerKeeper {
  const connection = new Connection(path, options)
  try {
    migrate(connection)
    return new SqliteStore(connection)
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * A file as it lies there, for reading alone: where its folder cannot be
 * written or the disk is full, SQLite cannot make what it needs beside a file.
 * Undefined where that would not show everything: a write-ahead log holds more.
 */
export function openFrozen(path: string): LedgerKeeper | undefined {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined
  const connection = new Connection(path, { frozen: true })
  if (isCurrent(connection)) return new SqliteStore(connection)
  connection.close()
  return undefined
}

/**
 * Somebody else's file, for reading alone: as it lies there, without its log.
 * Undefined for one that has other tables, views or triggers than ours, which
 * could make a read do anything.
 */
export function openForeign(path: string): LedgerKeeper | undefined {
  try {
    const connection = new Connection(path, { frozen: true })
    if (isCurrent(connection) && hasOurSchema(connection)) return new SqliteStore(connection)
    connection.close()
  } catch (error) {
    // No database, or a newer one: there is nothing to be read.
    if (!(error instanceof Problem)) throw error
  }
  return undefined
}

class SqliteStore implements LedgerKeeper {
  private readonly connection: Connection
  private readonly rows: Rows

  constructor(connection: Connection) {
    this.connection = connection
    this.rows = new Rows(connection)
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    return this.connection.together(() => this.rows.insert(kind, drafts, note))
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    return this.rows.find(kind, query)
  }

  async texts(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Texts>> {
    return this.rows.texts(kind, ids)
  }

  async names(kind: Kind, field: string, where: Readonly<Record<string, string>>): Promise<string[]> {
    return this.rows.names(kind, field, where)
  }

  async activity(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.rows.activity(kind, ids)
  }

  async unreadable(): Promise<Unreadable[]> {
    return []
  }

  async remarks(): Promise<Unreadable[]> {
    return []
  }

  async warnings(): Promise<Unreadable[]> {
    return []
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    return this.rows.count(kind, query)
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    return this.connection.together(() => this.rows.save(kind, change, note))
  }

  async saveSteps<T extends Item>(kind: Kind<T>, steps: readonly [Step, ...Step[]], last?: ClaimStep): Promise<T> {
    return this.connection.together(() => this.rows.saveSteps(kind, steps, last))
  }

  async saveAll<T extends Item>(kind: Kind<T>, changes: readonly Change[], note: Note): Promise<(T | undefined)[]> {
    return this.connection.together(() => this.rows.saveAll(kind, changes, note))
  }

  async takeAll<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T[]> {
    return this.connection.together(() => this.rows.takeAll(kind, query, claim, note))
  }

  async take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined> {
    return this.connection.together(() => this.rows.take(kind, query, claim, note))
  }

  async renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T> {
    return this.connection.together(() => this.rows.renew(kind, id, token, leaseMs))
  }

  async lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]> {
    return this.rows.lapsed(kind, limit)
  }

  async load(kind: Kind, items: readonly Kept[]): Promise<void> {
    this.connection.together(() => this.rows.load(kind, items))
  }

  async remove(kind: Kind, where: Readonly<Record<string, string>>, note: Note): Promise<Removed> {
    return this.connection.together(() => this.rows.remove(kind, where, note))
  }

  async recover(): Promise<Recovered[]> {
    return []
  }

  async events(query: EventQuery): Promise<Event[]> {
    return this.rows.events(query)
  }

  async changed(seq: number, ms: number, signal?: AbortSignal): Promise<void> {
    const ready = () => this.connection.all('SELECT 1 FROM events WHERE seq > ? LIMIT 1', [seq]).length > 0
    const lookMs = this.connection.path === ':memory:' ? 20 : 1000
    await wake(`${this.connection.path}-wal`, ready, { ms, lookMs, signal })
  }

  async inspect(): Promise<Finding[]> {
    const complaints = this.connection.all('PRAGMA quick_check(5)').map(row => String(row['quick_check']))
    const sound = complaints.length === 1 && complaints[0] === 'ok'
    return [
      { check: 'database', ok: true, detail: `SQLite ${process.versions['sqlite']}, ${this.connection.path}` },
      { check: 'integrity', ok: sound, detail: sound ? 'every page is sound' : complaints.join('; ') },
    ]
  }

  async ledger(): Promise<Ledger> {
    const { SqliteLedger } = await import('./ledger.ts')
    return new SqliteLedger(this.connection, this.rows)
  }

  async close(): Promise<void> {
    this.connection.close()
  }
}
