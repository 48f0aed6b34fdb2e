import { activeStatuses, columnsOf, literal, typeOf, whole } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import { openStatuses } from '../../core/lifecycle.ts'
import type { Query } from '../../core/store.ts'

/**
 * The text of every statement about items. Limits and statuses are literals:
 * SQLite prepares a statement with a bound LIMIT anew on every call, and cannot
 * use a partial index for a bound status. Each text is made once for its shape;
 * making it every time cost as much as running it.
 */

export function find(kind: Kind, query: Query, columns = wanted(kind, query.fields)): string {
  // What is open is little, and sorted; what is finished is much, and read in order from an index. Without the plus
  // SQLite would read that index for both, and pass everything that is finished to find what is open.
  const open = query.status?.every(name => openStatuses(kind.lifecycle).includes(name))
  return selection(kind, query, columns, kind.order && open ? '+' : '')
}

/** The first matches, which an index of its own gives in order; behind the columns comes what they are ordered by. */
export function first(kind: Kind, query: Query, columns = named(kind)): string {
  return selection(kind, query, [columns, ...orderOf(kind)].join(', '), '')
}

function selection(kind: Kind, query: Query, columns: string, sorted: string): string {
  const { where = {}, status, after, limit, newest = false } = query
  const shape = ['find', columns, shapeOf(where), status, after !== undefined, limit, newest, sorted]
  return once(kind, shape, () => {
    const order = orderOf(kind)
    const tuple = order.join(', ')
    const beyond =
      after === undefined
        ? ''
        : `AND (${tuple}) ${newest ? '<' : '>'} (SELECT ${tuple} FROM ${kind.table} WHERE id = ?)`
    return `SELECT ${columns} FROM ${kind.table} WHERE ${conditions(kind, query)} ${beyond}
      ORDER BY ${order.map(name => `${sorted}${name} ${newest ? 'DESC' : 'ASC'}`).join(', ')}
      ${limit === undefined ? '' : `LIMIT ${whole(limit)}`}`
  })
}

/** The values of a query's text, in order. */
export function valuesOf({ where = {}, after }: Query): (string | number)[] {
  const values = Object.values(where)
    .flat()
    .filter(value => value !== null)
  return after === undefined ? values : [...values, after]
}

interface Matching {
  readonly where?: Query['where'] | undefined
  readonly status?: Query['status'] | undefined
}

export function count(kind: Kind, query: Matching): string {
  return once(
    kind,
    ['count', shapeOf(query.where), query.status],
    () => `SELECT status, count(*) AS n FROM ${kind.table} WHERE ${conditions(kind, query)} GROUP BY status`,
  )
}

export function insert(kind: Kind): string {
  const marks = () => columnsOf(kind).map(() => '?')
  return once(kind, ['insert'], () => `INSERT INTO ${kind.table} (${named(kind)}) VALUES (${marks().join(', ')})`)
}

/** `where` names the item, and what else must be so. */
export function save(kind: Kind, fields: readonly string[], where: Query['where'], overdue = false): string {
  return once(
    kind,
    ['save', fields, shapeOf(where), overdue],
    () => `UPDATE ${kind.table} SET ${assigned(kind, fields)} revision = revision + 1
      WHERE ${conditions(kind, { where })} ${overdue ? 'AND leaseUntil < ?' : ''} RETURNING ${named(kind)}`,
  )
}

/** The same change of several items, each named in one value with its token; `where` is what else must be so. */
export function saveAll(kind: Kind, fields: readonly string[], where: Query['where']): string {
  return once(
    kind,
    ['save all', fields, shapeOf(where)],
    () => `UPDATE ${kind.table} SET ${assigned(kind, fields)} revision = revision + 1 FROM json_each(?) AS given
      WHERE ${kind.table}.id = given.value ->> 0 AND token = given.value ->> 1 AND ${conditions(kind, { where })}
      RETURNING ${named(kind)}`,
  )
}

/** Of one row, or of `several` that are named in one value; which row it was comes behind the columns. */
export function take(kind: Kind, fields: readonly string[], several: boolean): string {
  return once(
    kind,
    ['take', fields, several],
    () => `UPDATE ${kind.table} SET ${assigned(kind, fields)} owner = ?, leaseUntil = ?, token = token + 1, revision = revision + 1
      WHERE rowid ${several ? 'IN (SELECT value FROM json_each(?))' : '= ?'} RETURNING ${named(kind)}, rowid`,
  )
}

/** What says which of two items comes first. */
function orderOf(kind: Kind): readonly string[] {
  return kind.order ?? [...(kind.place ? [kind.place] : []), 'rowid']
}

/** Only while it is worked on: whoever closed or gave back the item has ended the claim. */
export function renew(kind: Kind): string {
  return `UPDATE ${kind.table} SET leaseUntil = ? WHERE id = ? AND token = ?
    AND ${conditions(kind, { status: activeStatuses(kind) })} RETURNING ${named(kind)}`
}

export function lapsed(kind: Kind, limit: number): string {
  return once(
    kind,
    ['lapsed', limit],
    () => `SELECT ${named(kind)} FROM ${kind.table} WHERE leaseUntil IS NOT NULL AND leaseUntil < ?
      AND ${conditions(kind, { status: activeStatuses(kind) })} ORDER BY leaseUntil LIMIT ${whole(limit)}`,
  )
}

/** The values of one field, in the order in which the first item of each was added. */
export function names(kind: Kind, field: string, where: Query['where']): string {
  return `SELECT ${column(kind, field)} FROM ${kind.table} WHERE ${conditions(kind, { where })}
    GROUP BY ${field} ORDER BY min(rowid)`
}

export function remove(kind: Kind, where: Query['where']): string {
  return `DELETE FROM ${kind.table} WHERE ${conditions(kind, { where })}`
}

/**
 * One look per status, because the index of a list is by status first: a plain
 * max would read the whole list, and an index by place alone would tempt SQLite
 * to find what is open by reading past everything that is finished.
 */
export function lastPlace(kind: Kind, place: string): string {
  return once(kind, ['last place'], () => {
    const list = kind.list.map((field, index) => `${field} = ?${index + 1}`).join(' AND ')
    const looks = Object.keys(kind.lifecycle.statuses).map(
      status => `SELECT max(${place}) AS last FROM ${kind.table} WHERE ${list} AND status = ${literal(kind, status)}`,
    )
    return `SELECT max(last) AS last FROM (${looks.join(' UNION ALL ')})`
  })
}

export function moveBack(kind: Kind, place: string): string {
  return `UPDATE ${kind.table} SET ${place} = ${place} + 1 WHERE ${listOf(kind)} AND ${place} >= ?`
}

const texts = new WeakMap<Kind, Map<string, string>>()

function once(kind: Kind, shape: readonly unknown[], make: () => string): string {
  const key = shape.join(' ')
  let made = texts.get(kind)
  if (!made) texts.set(kind, (made = new Map()))
  let text = made.get(key)
  // A caller's odd limits are not kept for ever.
  if (made.size > 256) made.clear()
  if (text === undefined) made.set(key, (text = make()))
  return text
}

function wanted(kind: Kind, fields: Query['fields']): string {
  return fields ? ['id', ...fields.map(field => column(kind, field))].join(', ') : named(kind)
}

function named(kind: Kind): string {
  return once(kind, ['columns'], () => columnsOf(kind).join(', '))
}

function conditions(kind: Kind, { where = {}, status }: Matching): string {
  const parts = Object.entries(where).map(([field, value]) =>
    Array.isArray(value)
      ? `${column(kind, field)} IN (${value.map(() => '?').join(', ')})`
      : `${column(kind, field)} ${value === null ? 'IS NULL' : '= ?'}`,
  )
  // A single one as an equation: a partial index is not recognised in a list of one.
  if (status?.length === 1) parts.push(`status = ${literal(kind, status[0]!)}`)
  else if (status) parts.push(`status IN (${status.map(name => literal(kind, name)).join(', ')})`)
  return parts.length > 0 ? parts.join(' AND ') : 'TRUE'
}

/** What of a condition is in its text: the fields, and how many values each may have. */
function shapeOf(where: Query['where'] = {}): string[] {
  return Object.entries(where).map(([field, value]) =>
    Array.isArray(value) ? `${field}*${value.length}` : value === null ? `${field}!` : field,
  )
}

function assigned(kind: Kind, fields: readonly string[]): string {
  return fields.map(field => `${column(kind, field)} = ?, `).join('')
}

function listOf(kind: Kind): string {
  return kind.list.map(field => `${field} = ?`).join(' AND ')
}

/** A column's name, once it is sure to be one: everything else in a statement is a bound value. */
function column(kind: Kind, field: string): string {
  typeOf(kind, field)
  return field
}
