import { activeStatuses, columnsOf, whole } from '../../core/keeping.ts'
import type { Item, Kind } from '../../core/kind.ts'
import { phaseOf } from '../../core/lifecycle.ts'
import type { Query } from '../../core/store.ts'
import { Bound, column, conditions, orderOf, type Statement } from './bound.ts'
import type { Row } from './connection.ts'
import { lockFor } from './lock.ts'

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
  readonly schema: string
  readonly events: string
  readonly channel: string
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

  /** Held by whoever adds items of a kind that wait for others, shared with all others who add some; or alone. */
  addingTo(kind: Kind, alone: boolean): string {
    return `pg_advisory_xact_lock${alone ? '' : '_shared'}(${lockFor('waits', this.schema, kind.table)})`
  }

  /** Had only while nobody gives out numbers. */
  get closingFeed(): string {
    return `pg_advisory_xact_lock(${this.feed})`
  }

  table(kind: Kind): string {
    return `"${this.schema}"."${kind.table}"`
  }

  /** What an item's columns are read as. */
  shown(kind: Kind, fields?: readonly string[]): string {
    if (fields) return ['id', ...fields].map(name => shownAs(kind, name)).join(', ')
    let columns = this.columns.get(kind)
    if (columns === undefined) {
      columns = columnsOf(kind)
        .map(name => shownAs(kind, name))
        .join(', ')
      this.columns.set(kind, columns)
    }
    return columns
  }

  find(kind: Kind, query: Query): Statement {
    const bound = new Bound()
    return { sql: this.selection(kind, this.shown(kind, query.fields), query, bound), values: bound.values }
  }

  count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Statement {
    const bound = new Bound()
    const sql = `SELECT status, count(*)::int AS n FROM ${this.table(kind)} WHERE ${conditions(kind, query, bound)} GROUP BY status`
    return { sql, values: bound.values }
  }

  /** When each of these items was last written. */
  activity(kind: Kind, ids: readonly string[]): Statement {
    const sql = `SELECT t.id, e.at FROM ${this.table(kind)} t CROSS JOIN LATERAL (
        SELECT at FROM ${this.events} WHERE kind = $1 AND id = t.id ORDER BY seq DESC LIMIT 1
      ) e WHERE t.id = ANY ($2::text[])`
    return { sql, values: [kind.name, ids] }
  }

  lapsed(kind: Kind, limit: number): Statement {
    const sql = `SELECT ${this.shown(kind)} FROM ${this.table(kind)} WHERE "leaseUntil" < now() ORDER BY "leaseUntil" LIMIT $1`
    return { sql, values: [whole(limit)] }
  }

  renew(kind: Kind, id: string, token: number, leaseMs: number): Statement {
    const bound = new Bound()
    // Only while it is worked on: whoever closed or gave back the item has ended the claim.
    const sql = `UPDATE ${this.table(kind)} SET "leaseUntil" = ${lease(bound.add(leaseMs))}
      WHERE ${conditions(kind, { where: { id, token }, status: activeStatuses(kind) }, bound)} RETURNING ${this.shown(kind)}`
    return { sql, values: bound.values }
  }

  selection(kind: Kind, columns: string, query: Query, bound: Bound): string {
    const where = conditions(kind, query, bound)
    const way = query.newest ? 'DESC' : 'ASC'
    const order = orderOf(kind)
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

function shownAs(kind: Kind, name: string): string {
  return name === 'leaseUntil' ? `${LEASE} AS "leaseUntil"` : column(kind, name)
}

const LEASE = `to_char("leaseUntil" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** So many milliseconds from when the row was had, by the server's clock; none for null. */
export function lease(ms: string): string {
  return `clock_timestamp() + ${ms}::double precision * interval '1 millisecond'`
}
