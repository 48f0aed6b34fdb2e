import { literal, typeOf } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Query } from '../../core/store.ts'
import type { Value } from './connection.ts'

export interface Statement {
  readonly sql: string
  readonly values: readonly Value[]
}

/** The values of a statement, numbered in the order they are put into its text. */
export class Bound {
  readonly values: Value[] = []

  add(value: Value): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** What comes first decides: the fields a kind names, or the order of arrival. */
export function orderOf(kind: Kind): string[] {
  return (kind.order ?? [...(kind.place ? [kind.place] : []), 'n']).map(name => `"${name}"`)
}

export function conditions(kind: Kind, query: Pick<Query, 'where' | 'status'>, bound: Bound): string {
  const parts = Object.entries(query.where ?? {}).map(([field, value]) =>
    value === null
      ? `${column(kind, field)} IS NULL`
      : typeof value === 'object'
        ? `${column(kind, field)} = ANY (${bound.add(value)}::${arrayType(kind, field)})`
        : `${column(kind, field)} = ${bound.add(value)}`,
  )
  if (query.status) parts.push(`status IN (${query.status.map(status => literal(kind, status)).join(', ')})`)
  return parts.length > 0 ? parts.join(' AND ') : 'TRUE'
}

/** A column's name, once it is sure to be one. */
export function column(kind: Kind, field: string): string {
  typeOf(kind, field)
  return `"${field}"`
}

export function arrayType(kind: Kind, field: string): string {
  return `${baseType(kind, field)}[]`
}

export function baseType(kind: Kind, field: string): string {
  if (field === 'leaseUntil') return 'timestamptz'
  return typeOf(kind, field) === 'integer' ? 'bigint' : 'text'
}

/** A name of ours as a text in a statement. */
export function literalOf(name: string): string {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`${name} is not a name of ours`)
  return `'${name}'`
}
