import type { Kind } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { isActive } from './desk.ts'
import { formOf } from './reading.ts'

/** An empty file that tells what a field of its item tells. */
export interface Implied {
  readonly name: string
  readonly field: string
}

/** The flags of an item that follow from its fields: that it was claimed, and how it ended. */
export function impliedFlags(kind: Kind, item: Fields): Implied[] {
  return Object.entries(kind.lifecycle.statuses).flatMap(([status, { stamps = [] }]) => {
    const [field] = stamps
    const at = field === undefined ? undefined : item[field]
    if (typeof at !== 'string' || (status !== item['status'] && !isActive(kind, status))) return []
    const name = formOf(kind).flag(String(item['id']), status, at)
    return name === undefined ? [] : [{ name, field: field! }]
  })
}
