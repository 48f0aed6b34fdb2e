import type { Note } from '../../core/event.ts'
import { columnsOf, literal, stored, typeOf, whole } from '../../core/keeping.ts'
import type { Item, Kind } from '../../core/kind.ts'
import { phaseOf } from '../../core/lifecycle.ts'
import type { Change, Claim, Query } from '../../core/store.ts'
import type { Row, Value } from './connection.ts'
import { lockFor } from './lock.ts'

export interface Statement {
  readonly sql: string
  readonly values: readonly Value[]
}

/** A row as it comes from `Statements.shown` is an item as it stands. */
export function itemOf<T extends Item>(_kind: Kind<T>, row: Row): T {
  return row as unknown as T
}

/**
 * The text of every statement about items. The schema is named in each: behind
 * a connection pooler no setting outlives a transaction. Statuses are literals,
 * as a plan for all statuses could not rely on any.
 */
export class Statements {
  readonly events: string
  readonly channel: string
  private readonly schema: string
  private readonly feed: string
  private readonly columns = new WeakMap<Kind, string>()

  constructor(schema: string) {
    this.schema = schema
    this.events = `"${schema}".events`
    this.channel = `punchlist_${schema}`
    this.feed = lockFor('feed', schema)
  }

  /** Held by whoever gives out numbers to events, shared with all others who do. */
  get sharingFeed(): string {
    return `pg_advisory_xact_lock_shared(${this.feed})`
  }

  /** Had only while nobody gives out numbers. */
  get closingFeed(): string {
    return `pg_advisory_xact_lock(${this.feed})`
  }

  table(kind: Kind): string {
    return `"${this.schema}"."${kind.table}"`
  }

  /** What an item's columns are read as. */
  shown(kind: Kind): string {
    let columns = this.columns.get(kind)
    if (columns === undefined) {
      columns = columnsOf(kind)
        .map(name => (name === 'leaseUntil' ? `${LEASE} AS "leaseUntil"` : `"${name}"`))
        .join(', ')
      this.columns.set(kind, columns)
    }
    return columns
  }

  find(kind: Kind, query: Query): Statement {
    const bound = new Bound()
    return { sql: this.selection(kind, this.shown(kind), query, bound), values: bound.values }
  }

  count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Statement {
    const bound = new Bound()
    const sql = `SELECT status, count(*)::int AS n FROM ${this.table(kind)} WHERE ${conditions(kind, query, bound)} GROUP BY status`
    return { sql, values: bound.values }
  }

  lapsed(kind: Kind, limit: number): Statement {
    const sql = `SELECT ${this.shown(kind)} FROM ${this.table(kind)} WHERE "leaseUntil" < now() ORDER BY "leaseUntil" LIMIT $1`
    return { sql, values: [whole(limit)] }
  }

  renew(kind: Kind, id: string, token: number, leaseMs: number): Statement {
    // Only a claim that has a lease can be renewed: whoever closed or gave back the item has ended it.
    const sql = `UPDATE ${this.table(kind)} SET "leaseUntil" = ${lease('$1')}
      WHERE id = $2 AND token = $3 AND "leaseUntil" IS NOT NULL RETURNING ${this.shown(kind)}`
    return { sql, values: [leaseMs, id, token] }
  }

  save(kind: Kind, change: Change, note: Note, mark: string): Statement {
    const bound = new Bound()
    const assigned = assignments(kind, change.fields, bound)
    const token = change.token === undefined ? '' : `AND token = ${bound.add(change.token)}`
    const sql = `WITH u AS (
        UPDATE ${this.table(kind)} SET ${assigned}revision = revision + 1
        WHERE id = ${bound.add(change.id)} AND revision = ${bound.add(change.revision)} ${token} RETURNING *
      ), ${this.telling(kind, note, `${bound.add(change.from)}::text`, mark, wakes(kind, change.from, change.fields['status']), bound)}
      SELECT ${this.shown(kind)} FROM u`
    return { sql, values: bound.values }
  }

  /** `wait`: for whoever holds a matching row at the moment, instead of passing it over. */
  take(kind: Kind, query: Query, claim: Claim, note: Note, mark: string, wait: boolean): Statement {
    const bound = new Bound()
    const { owner: _owner, leaseUntil: _leaseUntil, ...fields } = claim.fields
    const { limit: _limit, ...matching } = query
    const first = this.selection(kind, 'id, status', matching, bound)
    const sql = `WITH c AS MATERIALIZED (${first} LIMIT 1 FOR UPDATE${wait ? '' : ' SKIP LOCKED'}),
      u AS (
        UPDATE ${this.table(kind)} AS t SET ${assignments(kind, fields, bound)}
          owner = ${bound.add(claim.owner)}, "leaseUntil" = ${lease(bound.add(claim.leaseMs ?? null))},
          token = t.token + 1, revision = t.revision + 1
        FROM c WHERE t.id = c.id RETURNING t.*, c.status AS ${BEFORE}
      ), ${this.telling(kind, note, BEFORE, mark, wakes(kind, undefined, fields['status']), bound)}
      SELECT ${this.shown(kind)} FROM u`
    return { sql, values: bound.values }
  }

  /** The event of the one row in `u`: its number is drawn only once the feed is shared (see feed.ts). */
  private telling(kind: Kind, note: Note, from: string, mark: string, wake: boolean, bound: Bound): string {
    const text = (value: string | null) => `${bound.add(value)}::text`
    return `g AS MATERIALIZED (SELECT id, title, status, revision, token${from === BEFORE ? `, ${BEFORE}` : ''}, ${this.sharingFeed}${wake ? `, pg_notify('${this.channel}', '')` : ''} FROM u),
      e AS (
        INSERT INTO ${this.events} (at, kind, id, title, "from", "to", by, why, revision, token, mark)
        SELECT ${text(note.at)}, ${text(kind.name)}, id, title, ${from}, status, ${text(note.by)}, ${text(note.why ?? null)},
          revision, token, ${bound.add(mark)}::uuid FROM g
      )`
  }

  private selection(kind: Kind, columns: string, query: Query, bound: Bound): string {
    const where = conditions(kind, query, bound)
    const way = query.newest ? 'DESC' : 'ASC'
    const order = [...(kind.place ? [kind.place] : []), 'n'].map(name => `"${name}"`)
    const after =
      query.after === undefined
        ? ''
        : `AND (${order.join(', ')}) ${query.newest ? '<' : '>'} (SELECT ${order.join(', ')} FROM ${this.table(kind)} WHERE id = ${bound.add(query.after)})`
    const limit = query.limit === undefined ? '' : `LIMIT ${bound.add(whole(query.limit))}`
    return `SELECT ${columns} FROM ${this.table(kind)} WHERE ${where} ${after}
      ORDER BY ${order.map(name => `${name} ${way}`).join(', ')} ${limit}`
  }
}

/**
 * Whether a write makes something claimable. Only that is worth a notice: at
 * commit every notice waits for a lock that all of the server's notices share.
 */
export function wakes(kind: Kind, from: string | undefined, to: unknown): boolean {
  return typeof to === 'string' && from !== to && phaseOf(kind.lifecycle, to) === 'waiting'
}

const LEASE = `to_char("leaseUntil" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** So many milliseconds from when the row was had, by the server's clock; none for null. */
function lease(ms: string): string {
  return `clock_timestamp() + ${ms}::double precision * interval '1 millisecond'`
}

/** What a claimed item's status was, beside its columns. */
const BEFORE = '"statusBefore"'

class Bound {
  readonly values: Value[] = []

  add(value: Value): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

function assignments(kind: Kind, fields: Readonly<Record<string, unknown>>, bound: Bound): string {
  return Object.entries(fields)
    .map(([field, value]) => `${column(kind, field)} = ${bound.add(stored(kind, field, value))}, `)
    .join('')
}

function conditions(kind: Kind, query: Query, bound: Bound): string {
  const parts = Object.entries(query.where ?? {}).map(
    ([field, value]) => `${column(kind, field)} = ${bound.add(value)}`,
  )
  if (query.status) parts.push(`status IN (${query.status.map(status => literal(kind, status)).join(', ')})`)
  return parts.length > 0 ? parts.join(' AND ') : 'TRUE'
}

/** A column's name, once it is sure to be one. */
function column(kind: Kind, field: string): string {
  typeOf(kind, field)
  return `"${field}"`
}
