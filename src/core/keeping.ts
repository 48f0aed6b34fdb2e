import type { Event } from './event.ts'
import type { Draft, FieldType, Item, Kind } from './kind.ts'
import { type Fields, phaseOf } from './lifecycle.ts'
import { Problem } from './problem.ts'
import type { Change, Kept } from './store.ts'

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

/** The statuses in which an item is somebody's: only there a claim can be renewed. */
export function activeStatuses(kind: Kind): string[] {
  return Object.keys(kind.lifecycle.statuses).filter(status => phaseOf(kind.lifecycle, status) === 'active')
}

/** The values that name an item's list. */
export function listOf(kind: Kind, fields: Fields): (string | number | null)[] {
  return kind.list.map(field => stored(kind, field, fields[field]))
}

/** The same as one text, which names the list where its last number is kept. */
export function listKey(kind: Kind, fields: Fields): string {
  return JSON.stringify(listOf(kind, fields))
}

/** Holds a condition to fields that name lists, so that it is true of whole lists only. */
export function ofLists(kind: Kind, fields: readonly string[]): void {
  const other = fields.find(field => !kind.list.includes(field))
  if (other !== undefined) throw new Error(`${kind.name}: ${other} names no list`)
}

export type Named = Draft & { readonly id: string }

/** A draft as it is added: with the id it brings, or with what the next number of its list gives it. */
export function named(kind: Kind, draft: Draft, next: () => number): Named {
  if (draft.id !== undefined) return { ...draft, id: draft.id }
  if (!kind.numbers) throw new Error(`A ${kind.name} needs an id`)
  const { id, fields } = kind.numbers.give(draft, next())
  return { ...draft, id, fields: { ...draft.fields, ...fields } }
}

/** The same draft once the ids of its batch are given: they stand in the place of `#1`, `#2`, …, and in its texts. */
export function referring(kind: Kind, draft: Named, ids: readonly string[]): Named {
  const fields = { ...draft.fields, ...meant(kind, draft.fields, ids) }
  const { id, texts, compose } = draft
  return { ...draft, fields, texts: compose ? { ...texts, ...compose({ id, fields }) } : texts }
}

function meant({ waits }: Kind, fields: Fields, ids: readonly string[]): Fields {
  const names = waits && fields[waits.on]
  if (!waits || !Array.isArray(names)) return {}
  const known = (name: string) => (name.startsWith('#') ? (ids[Number(name.slice(1)) - 1] ?? name) : name)
  return { [waits.on]: names.map(name => known(String(name))) }
}

/** The number that an item has taken in its list; 0 for none. */
export function numberOf(kind: Kind, fields: Fields): number {
  const number = kind.numbers?.of(fields) ?? 0
  return Number.isSafeInteger(number) ? number : 0
}

/** The row of an item that another store kept. Leases are measured by the clock of the store that gave them. */
export function rowOf({ id, token, fields, history }: Kept): Fields {
  return { ...fields, id, token, revision: Math.max(1, history.length), leaseUntil: null }
}

/** What happened to an item that another store kept. Which claims there were is not told, only the last one's token. */
export function pastOf(kind: Kind, { id, token, fields, history }: Kept): Omit<Event, 'seq'>[] {
  const title = String(fields['title'])
  return history.map((happened, index) => ({
    ...happened,
    kind: kind.name,
    id,
    title,
    revision: index + 1,
    token: index === history.length - 1 ? token : 0,
  }))
}

/** The values that come a second time. */
export function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>()
  return values.filter(value => seen.size === seen.add(value).size)
}

/** Why items of another store cannot be added: these are there already, by id or by identity. */
export function alreadyThere(kind: Kind, ids: readonly string[]): Problem {
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : ''
  return new Problem(
    'move_refused',
    `${kind.name} ${ids.slice(0, 5).join(', ')}${more}: there already; nothing was added`,
    'Leave out what is there, or remove its lists first.',
    { kind: kind.name, ids },
  )
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
    const fact = token === item.token ? `it is ${item.status}` : `token ${token} is not that of its claim`
    return new Problem(
      'lease_lost',
      `${id} is no longer yours: ${fact}`,
      'Stop working on it and discard what you have; claim something else.',
      { id },
    )
  }
  return new Problem('changed_meanwhile', `${id} was changed by someone else`, 'Read it again and decide anew.', { id })
}

/** Whether an item is as a change supposes. */
export function stands(item: Item, { revision, token, given = {} }: Change): boolean {
  const fields: Fields = { ...item }
  return (
    (revision === undefined || revision === item.revision) &&
    (token === undefined || token === item.token) &&
    Object.entries(given).every(([field, value]) => [value].flat().includes(fields[field] as string))
  )
}

/** Takes it that a change could not be made because the item is not as it supposes; everything else stays a failure. */
export function unlessTooLate(error: unknown): undefined {
  const tooLate = error instanceof Problem && ['changed_meanwhile', 'lease_lost', 'not_found'].includes(error.code)
  if (!tooLate) throw error
}
