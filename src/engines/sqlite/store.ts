import type { Event, Note } from '../../core/event.ts'
import { columnsOf, literal, stored, typeOf, whole, whyNot } from '../../core/keeping.ts'
import type { Draft, Item, Kind } from '../../core/kind.ts'
import type { Added, Change, Claim, EventQuery, Finding, Query, Store } from '../../core/store.ts'
import { LeaseClock } from './clock.ts'
import { Connection, type ConnectionOptions, type Row } from './connection.ts'
import { migrate } from './migrate.ts'
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

class SqliteStore implements Store {
  private readonly connection: Connection
  private readonly clock: LeaseClock

  constructor(connection: Connection) {
    this.connection = connection
    this.clock = new LeaseClock(connection)
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    const columns = columnsOf(kind)
    const sql = `INSERT INTO ${kind.table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
    return this.connection.together(() => {
      const ends = new Map<string, number>()
      const ids = drafts.map(draft => {
        const held = draft.identity === undefined ? undefined : this.holder(kind, draft.identity)
        if (held) return { id: held, created: false }
        const row: Record<string, unknown> = {
          ...draft.fields,
          id: draft.id,
          title: draft.title,
          status: draft.status,
          identity: draft.identity ?? null,
          token: 0,
          revision: 1,
        }
        if (kind.place) row[kind.place] = this.makeRoom(kind, kind.place, draft, ends)
        this.connection.run(
          sql,
          columns.map(name => stored(kind, name, row[name])),
        )
        this.record(kind, { id: draft.id, title: draft.title, status: draft.status, revision: 1, token: 0 }, null, note)
        return { id: draft.id, created: true }
      })
      // Read back at the end: a later draft may have moved an earlier one along.
      return ids.map(({ id, created }) => ({ item: this.rowsOf(kind, { where: { id } })[0]!, created }))
    })
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    return this.rowsOf(kind, query)
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    const { sql, values } = conditions(kind, query)
    const rows = this.connection.all(
      `SELECT status, count(*) AS n FROM ${kind.table} WHERE ${sql} GROUP BY status`,
      values,
    )
    return Object.fromEntries(rows.map(row => [String(row['status']), Number(row['n'])]))
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    const changed = Object.keys(change.fields)
    const sql = `UPDATE ${kind.table} SET ${[...changed.map(field => `${column(kind, field)} = ?`), 'revision = revision + 1'].join(', ')}
      WHERE id = ? AND revision = ?${change.token === undefined ? '' : ' AND token = ?'} RETURNING ${columnsOf(kind).join(', ')}`
    const values = [
      ...changed.map(field => stored(kind, field, change.fields[field])),
      change.id,
      change.revision,
      ...(change.token === undefined ? [] : [change.token]),
    ]
    return this.connection.together(() => {
      const [row] = this.connection.all(sql, values)
      if (!row) throw whyNot(kind, this.rowsOf(kind, { where: { id: change.id } })[0], change)
      const item = this.item(kind, row)
      this.record(kind, item, change.from, note)
      return item
    })
  }

  async take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined> {
    const until = claim.leaseMs === undefined ? null : this.clock.now() + claim.leaseMs
    const { sql, values } = selection(kind, 'rowid AS row, status', { ...query, limit: 1 })
    const changed = Object.keys(claim.fields)
    const update = `UPDATE ${kind.table} SET ${changed.map(field => `${column(kind, field)} = ?, `).join('')}
      owner = ?, leaseUntil = ?, token = token + 1, revision = revision + 1
      WHERE rowid = ? RETURNING ${columnsOf(kind).join(', ')}`
    return this.connection.together(() => {
      const [first] = this.connection.all(sql, values)
      if (!first) return undefined
      const [row] = this.connection.all(update, [
        ...changed.map(field => stored(kind, field, claim.fields[field])),
        claim.owner,
        until,
        first['row']!,
      ])
      const item = this.item(kind, row!)
      this.record(kind, item, String(first['status']), note)
      return item
    })
  }

  async renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T> {
    const until = this.clock.now() + leaseMs
    // Only a claim that has a lease can be renewed: whoever closed or gave back the item has ended it.
    const sql = `UPDATE ${kind.table} SET leaseUntil = ? WHERE id = ? AND token = ? AND leaseUntil IS NOT NULL
      RETURNING ${columnsOf(kind).join(', ')}`
    return this.connection.together(() => {
      const [row] = this.connection.all(sql, [until, id, token])
      if (!row) throw whyNot(kind, this.rowsOf(kind, { where: { id } })[0], { id, token, renewing: true })
      return this.item(kind, row)
    })
  }

  async lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]> {
    const sql = `SELECT ${columnsOf(kind).join(', ')} FROM ${kind.table}
      WHERE leaseUntil IS NOT NULL AND leaseUntil < ? ORDER BY leaseUntil LIMIT ${whole(limit)}`
    return this.connection.all(sql, [this.clock.now()]).map(row => this.item(kind, row))
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
    const { sql, values } = selection(kind, columnsOf(kind).join(', '), query)
    return this.connection.all(sql, values).map(row => this.item(kind, row))
  }

  private item<T extends Item>(kind: Kind<T>, row: Row): T {
    const item: Record<string, unknown> = { ...row }
    for (const field in kind.fields) {
      if (kind.fields[field] === 'json' && row[field] !== null) item[field] = JSON.parse(String(row[field]))
    }
    if (row['leaseUntil'] !== null) item['leaseUntil'] = this.clock.wall(Number(row['leaseUntil']))
    return item as unknown as T
  }

  private holder(kind: Kind, identity: string): string | undefined {
    const [row] = this.connection.all(`SELECT id FROM ${kind.table} WHERE identity = ?`, [identity])
    return row && String(row['id'])
  }

  /** The place a draft gets in its list; what stands there or behind moves back by one. */
  private makeRoom(kind: Kind, place: string, draft: Draft, ends: Map<string, number>): number {
    const names = kind.list.map(field => stored(kind, field, draft.fields[field]))
    const list = kind.list.map(field => `${field} = ?`).join(' AND ')
    const key = JSON.stringify(names)
    let end = ends.get(key)
    if (end === undefined) {
      const [row] = this.connection.all(`SELECT max(${place}) AS last FROM ${kind.table} WHERE ${list}`, names)
      end = row?.['last'] === null || row === undefined ? 0 : Number(row['last']) + 1
    }
    ends.set(key, end + 1)
    const at = Math.min(draft.at ?? end, end)
    if (at < end) {
      this.connection.run(`UPDATE ${kind.table} SET ${place} = ${place} + 1 WHERE ${list} AND ${place} >= ?`, [
        ...names,
        at,
      ])
    }
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

/** A column's name, once it is sure to be one: everything else in a statement is a bound value. */
function column(kind: Kind, field: string): string {
  typeOf(kind, field)
  return field
}

function selection(kind: Kind, columns: string, query: Query): { sql: string; values: (string | number)[] } {
  const { sql, values } = conditions(kind, query)
  const way = query.newest ? 'DESC' : 'ASC'
  const order = [...(kind.place ? [kind.place] : []), 'rowid']
  const after =
    query.after === undefined
      ? ''
      : `AND (${order.join(', ')}) ${query.newest ? '<' : '>'} (SELECT ${order.join(', ')} FROM ${kind.table} WHERE id = ?)`
  return {
    // Limit and statuses are literals: SQLite prepares a statement with a bound LIMIT anew on every call.
    sql: `SELECT ${columns} FROM ${kind.table} WHERE ${sql} ${after}
      ORDER BY ${order.map(name => `${name} ${way}`).join(', ')}${query.limit === undefined ? '' : ` LIMIT ${whole(query.limit)}`}`,
    values: query.after === undefined ? values : [...values, query.after],
  }
}

function conditions(kind: Kind, query: Query): { sql: string; values: (string | number)[] } {
  const where = Object.entries(query.where ?? {})
  const parts = where.map(([field]) => `${column(kind, field)} = ?`)
  if (query.status) parts.push(`status IN (${query.status.map(status => literal(kind, status)).join(', ')})`)
  return { sql: parts.length > 0 ? parts.join(' AND ') : 'TRUE', values: where.map(([, value]) => value) }
}
