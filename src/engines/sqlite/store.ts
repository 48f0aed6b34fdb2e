import { statSync } from 'node:fs'
import type { Event, Note } from '../../core/event.ts'
import { columnsOf, stored, whole, whyNot } from '../../core/keeping.ts'
import type { Draft, Item, Kind } from '../../core/kind.ts'
import type { Added, Change, Claim, EventQuery, Finding, Query, Store } from '../../core/store.ts'
import { LeaseClock } from './clock.ts'
import { Connection, type ConnectionOptions, type Value } from './connection.ts'
import { isCurrent, migrate } from './migrate.ts'
import * as statements from './statements.ts'
import { wake } from './wake.ts'

/** Opens a database file, making it when it is not there; `:memory:` for one that goes with the process. */
export function openSqliteStore(path: string, options: ConnectionOptions = {}): Store {
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
export function openFrozen(path: string): Store | undefined {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined
  const connection = new Connection(path, { frozen: true })
  if (isCurrent(connection)) return new SqliteStore(connection)
  connection.close()
  return undefined
}

class SqliteStore implements Store {
  private readonly connection: Connection
  private readonly clock: LeaseClock

  constructor(connection: Connection) {
    this.connection = connection
    this.clock = new LeaseClock(connection)
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    const columns = columnsOf(kind)
    return this.connection.together(() => {
      const ends = new Map<string, number>()
      const added = drafts.map((draft): Added<T> => {
        const held =
          draft.identity === undefined ? undefined : this.rowsOf(kind, { where: { identity: draft.identity } })[0]
        if (held) return { item: held, created: false }
        const fresh = { id: draft.id, title: draft.title, status: draft.status, token: 0, revision: 1 }
        const given: Record<string, unknown> = { ...draft.fields, ...fresh, identity: draft.identity }
        if (kind.place) given[kind.place] = this.makeRoom(kind, kind.place, draft, ends)
        const values = columns.map(name => stored(kind, name, given[name]))
        this.connection.run(statements.insert(kind), values)
        this.record(kind, fresh, null, note)
        return { item: this.item(kind, values), created: true }
      })
      if (drafts.every(({ at }) => at === undefined)) return added
      // A later draft has moved earlier ones along.
      return added.map(({ item, created }) => ({ item: this.rowsOf(kind, { where: { id: item.id } })[0]!, created }))
    })
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    return this.rowsOf(kind, query)
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    const rows = this.connection.all(statements.count(kind, query), statements.valuesOf(query))
    return Object.fromEntries(rows.map(row => [String(row['status']), Number(row['n'])]))
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    const { id, revision, token, fields } = change
    const changed = Object.keys(fields)
    const values = [...changed.map(field => stored(kind, field, fields[field])), id, revision]
    return this.connection.together(() => {
      const sql = statements.save(kind, changed, token !== undefined)
      const [row] = this.connection.lists(sql, token === undefined ? values : [...values, token])
      if (!row) throw whyNot(kind, this.rowsOf(kind, { where: { id } })[0], change)
      const item = this.item(kind, row)
      this.record(kind, item, change.from, note)
      return item
    })
  }

  async take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined> {
    const until = claim.leaseMs === undefined ? null : this.clock.now() + claim.leaseMs
    const wanted = { ...query, limit: 1 }
    const changed = Object.keys(claim.fields)
    return this.connection.together(() => {
      const [first] = this.connection.all(
        statements.find(kind, wanted, 'rowid AS row, status'),
        statements.valuesOf(wanted),
      )
      if (!first) return undefined
      const values = [
        ...changed.map(field => stored(kind, field, claim.fields[field])),
        claim.owner,
        until,
        first['row']!,
      ]
      const [row] = this.connection.lists(statements.take(kind, changed), values)
      const item = this.item(kind, row!)
      this.record(kind, item, String(first['status']), note)
      return item
    })
  }

  async renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T> {
    const until = this.clock.now() + leaseMs
    return this.connection.together(() => {
      const [row] = this.connection.lists(statements.renew(kind), [until, id, token])
      if (!row) throw whyNot(kind, this.rowsOf(kind, { where: { id } })[0], { id, token, renewing: true })
      return this.item(kind, row)
    })
  }

  async lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]> {
    return this.connection.lists(statements.lapsed(kind, limit), [this.clock.now()]).map(row => this.item(kind, row))
  }

  async events({ after = 0, limit, last }: EventQuery): Promise<Event[]> {
    const bound = limit === undefined ? '' : `LIMIT ${whole(limit)}`
    const rows =
      last === undefined
        ? this.connection.all(`SELECT * FROM events WHERE seq > ? ORDER BY seq ${bound}`, [after])
        : this.connection
            .all(`SELECT * FROM events WHERE seq > ? ORDER BY seq DESC LIMIT ${whole(last)}`, [after])
            .toReversed()
    return rows.map(row => ({ ...row }) as unknown as Event)
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

  async close(): Promise<void> {
    this.connection.close()
  }

  private rowsOf<T extends Item>(kind: Kind<T>, query: Query): T[] {
    const rows = this.connection.lists(statements.find(kind, query), statements.valuesOf(query))
    return rows.map(row => this.item(kind, row))
  }

  /** An item from the values of its columns, in their order. */
  private item<T extends Item>(kind: Kind<T>, row: readonly Value[]): T {
    const item: Record<string, unknown> = {}
    columnsOf(kind).forEach((name, index) => {
      const value = row[index]!
      if (value !== null && kind.fields[name] === 'json') item[name] = JSON.parse(String(value))
      else if (value !== null && name === 'leaseUntil') item[name] = this.clock.wall(Number(value))
      else item[name] = value
    })
    return item as unknown as T
  }

  /** The place a draft gets in its list; what stands there or behind moves back by one. */
  private makeRoom(kind: Kind, place: string, draft: Draft, ends: Map<string, number>): number {
    const names = kind.list.map(field => stored(kind, field, draft.fields[field]))
    const key = JSON.stringify(names)
    let end = ends.get(key)
    if (end === undefined) {
      const [row] = this.connection.all(statements.lastPlace(kind, place), names)
      end = row?.['last'] === null || row === undefined ? 0 : Number(row['last']) + 1
    }
    ends.set(key, end + 1)
    const at = Math.min(draft.at ?? end, end)
    if (at < end) this.connection.run(statements.moveBack(kind, place), [...names, at])
    return at
  }

  private record(
    kind: Kind,
    item: Pick<Item, 'id' | 'title' | 'status' | 'revision' | 'token'>,
    from: string | null,
    note: Note,
  ): void {
    this.connection.run(
      'INSERT INTO events (at, kind, id, title, "from", "to", by, why, revision, token) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        note.at,
        kind.name,
        item.id,
        item.title,
        from,
        item.status,
        note.by,
        note.why ?? null,
        item.revision,
        item.token,
      ],
    )
  }
}
