import { literal } from '../../core/keeping.ts'
import type { Item, Kind } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import type { Connection } from './connection.ts'

/**
 * What items of a kind wait for: one row in `waits` for each pair, and in each
 * item the count of those that are open. The count is kept, never looked up:
 * with a condition on other rows, a claim read past everything that was blocked.
 */

/** Whether a new item waits for something, or is waited for by the one it is a part of. */
export function isWired(kind: Kind, fields: Fields): boolean {
  const { waits } = kind
  if (!waits) return false
  const on = fields[waits.on]
  return (Array.isArray(on) && on.length > 0) || Boolean(fields[waits.parent])
}

/** The items that new ones are parts of. */
export function parentsOf({ waits }: Kind, drafts: readonly ({ readonly fields: Fields } | undefined)[]): Set<string> {
  const parents = waits ? drafts.map(draft => draft?.fields[waits.parent]) : []
  return new Set(parents.filter(parent => typeof parent === 'string' && parent !== '') as string[])
}

/** Whether a change of these fields changes what an item waits for. */
export function rewires({ waits }: Kind, fields: Fields): boolean {
  return waits !== undefined && [waits.on, waits.without].some(field => Object.hasOwn(fields, field))
}

/** Notes down what these items wait for and what they are parts of, and counts anew. Says whether there was anything to do. */
export function wire(connection: Connection, kind: Kind, ids: readonly string[]): boolean {
  const { waits, table } = kind
  if (!waits || ids.length === 0) return false
  const { on, parent, without, blockers, children } = waits
  const mine = [JSON.stringify(ids)]
  const among = 'IN (SELECT value FROM json_each(?))'
  const waived = (of: string, needs: string) =>
    `EXISTS (SELECT 1 FROM json_each(${of}.${without}) w WHERE w.key = ${needs})`
  connection.run(`DELETE FROM waits WHERE list = '${table}' AND item ${among}`, mine)
  connection.run(
    `INSERT OR IGNORE INTO waits (list, item, needs) SELECT '${table}', t.id, d.value
      FROM ${table} t, json_each(t.${on}) d WHERE t.id ${among} AND NOT ${waived('t', 'd.value')}`,
    mine,
  )
  for (const side of ['c.id', `c.${parent}`]) {
    connection.run(
      `INSERT OR IGNORE INTO waits (list, item, needs) SELECT '${table}', p.id, c.id
        FROM ${table} c JOIN ${table} p ON p.id = c.${parent} WHERE ${side} ${among} AND NOT ${waived('p', 'c.id')}`,
      mine,
    )
  }
  const met = waits.until.map(status => literal(kind, status)).join(', ')
  const affected = `id ${among} OR id IN (SELECT ${parent} FROM ${table} WHERE id ${among})
    OR id IN (SELECT item FROM waits WHERE list = '${table}' AND needs ${among})`
  const counted = `(SELECT count(*) FROM waits w LEFT JOIN ${table} d ON d.id = w.needs
    WHERE w.list = '${table}' AND w.item = ${table}.id AND coalesce(d.status, '') NOT IN (${met}))`
  const parts = `(SELECT count(*) FROM ${table} c WHERE c.${parent} = ${table}.id)`
  connection.run(
    // Those who are just being written have the revision of that write.
    `UPDATE ${table} SET ${blockers} = ${counted}, ${children} = ${parts}, revision = revision + (id NOT ${among})
      WHERE (${affected}) AND (${blockers}, ${children}) IS NOT (${counted}, ${parts})`,
    [...mine, ...mine, ...mine, ...mine],
  )
  return true
}

/** Those of some items that others wait for: hardly any, and to look costs a third of an update that finds nothing. */
export function awaited<T extends Item>(connection: Connection, kind: Kind, items: readonly T[]): readonly T[] {
  if (!kind.waits || items.length === 0) return []
  const [only] = items
  if (items.length === 1) {
    const look = `SELECT 1 FROM waits WHERE list = '${kind.table}' AND needs = ? LIMIT 1`
    return connection.lists(look, [only!.id]).length > 0 ? items : []
  }
  const sql = `SELECT DISTINCT needs FROM waits WHERE list = '${kind.table}' AND needs IN (SELECT value FROM json_each(?))`
  const needed = new Set(connection.lists(sql, [JSON.stringify(items.map(({ id }) => id))]).map(([id]) => id))
  return items.filter(({ id }) => needed.has(id))
}

type Freed = Pick<Item, 'id' | 'title' | 'status' | 'revision' | 'token'>

/** Counts down, or up again, what waits for an item that has moved; gives back those that wait for nothing more. */
export function countDown(connection: Connection, kind: Kind, id: string, from: string, to: string): Freed[] {
  const { until, blockers } = kind.waits!
  const step = Number(until.includes(from)) - Number(until.includes(to))
  if (step === 0) return []
  const rows = connection.all(
    `UPDATE ${kind.table} SET ${blockers} = ${blockers} + ${step}, revision = revision + 1
      WHERE id IN (SELECT item FROM waits WHERE list = '${kind.table}' AND needs = ?)
      RETURNING id, title, status, revision, token, ${blockers} AS left`,
    [id],
  )
  return rows.filter(({ left }) => left === 0 && step < 0) as unknown as Freed[]
}

/** Forgets an item that is gone, whose parent does not wait for it any longer; who depends on it does. */
export function unwire(connection: Connection, kind: Kind, id: string): void {
  const { waits, table } = kind
  if (!waits) return
  const parents = connection.lists(`SELECT ${waits.parent} FROM ${table} WHERE id = ?`, [id]).flat() as string[]
  connection.run(`DELETE FROM waits WHERE list = '${table}' AND item = ?`, [id])
  for (const parent of parents)
    connection.run(`DELETE FROM waits WHERE list = '${table}' AND item = ? AND needs = ?`, [parent, id])
}
