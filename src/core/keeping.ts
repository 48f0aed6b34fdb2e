import type { FieldType, Item, Kind } from './kind.ts'
import { Problem } from './problem.ts'

/** What engines with tables share: how a kind's fields become columns, and what is said when a write finds no row. */

/** The columns that every kind's table has. How an engine writes `leaseUntil` is its own affair. */
const COMMON: Readonly<Record<keyof Item, FieldType>> = {
  id: 'text',
  title: 'text',
  status: 'text',
  owner: 'text',
  token: 'integer',
  leaseUntil: 'text',
  identity: 'text',
  revision: 'integer',
}

const columns = new WeakMap<Kind, readonly string[]>()

export function columnsOf(kind: Kind): readonly string[] {
  let names = columns.get(kind)
  if (!names) columns.set(kind, (names = [...Object.keys(COMMON), ...Object.keys(kind.fields)]))
  return names
}

/** A field's type, which it has only if it is one: names of columns come from nowhere else. */
export function typeOf(kind: Kind, field: string): FieldType {
  const type = Object.hasOwn(COMMON, field) ? COMMON[field as keyof Item] : kind.fields[field]
  if (!type) throw new Error(`${kind.name} has no field ${field}`)
  return type
}

export function stored(kind: Kind, field: string, value: unknown): string | number | null {
  if (value === null || value === undefined) return null
  return typeOf(kind, field) === 'json' ? JSON.stringify(value) : (value as string | number)
}

/** A status as a literal in a statement: it comes from the lifecycle, and is held to that here. */
export function literal(kind: Kind, status: string): string {
  if (!Object.hasOwn(kind.lifecycle.statuses, status)) throw new Error(`${kind.name} has no status ${status}`)
  return `'${status}'`
}

export function whole(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 0) throw new Error(`A limit must be a whole number, not ${limit}`)
  return limit
}

/** Why a write changed nothing, given how the item stands now. */
export function whyNot(
  kind: Kind,
  item: Item | undefined,
  { id, token, renewing }: { id: string; token?: number | undefined; renewing?: boolean },
): Problem {
  if (!item) {
    return new Problem('not_found', `There is no ${kind.name} ${id}`, 'List what is there and use an id from it.', {
      id,
    })
  }
  if (renewing || (token !== undefined && token !== item.token)) {
    return new Problem(
      'lease_lost',
      `${id} is no longer yours: its token is ${item.token}, yours is ${token}`,
      'Stop working on it and discard what you have; claim something else.',
      { id, token: item.token },
    )
  }
  return new Problem('changed_meanwhile', `${id} was changed by someone else`, 'Read it again and decide anew.', { id })
}
