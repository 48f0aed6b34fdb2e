import type { Lifecycle } from './lifecycle.ts'

/** What every item has, whatever its kind. */
export interface Item {
  readonly id: string
  readonly title: string
  readonly status: string
  /** Whose it is while it is being worked on. */
  readonly owner: string | null
  /** Counts the claims; a report that carries an older number comes from someone who lost the item. */
  readonly token: number
  /** Until when the claim holds without being renewed; null for a claim without a lease. */
  readonly leaseUntil: string | null
  /** At most one item of a kind holds an identity at a time; null where adding twice makes two. */
  readonly identity: string | null
  /** Counts the writes; a change names the revision it was decided on. */
  readonly revision: number
}

export type FieldType = 'text' | 'integer' | 'json'

/**
 * What an item is. An engine is handed a kind and keeps it: it takes from here
 * the table and its columns, and nothing else is known to it by name.
 */
export interface Kind<T extends Item = Item> {
  readonly name: string
  readonly table: string
  readonly lifecycle: Lifecycle
  /** The kind's own columns, beside those of `Item`. */
  readonly fields: Readonly<Record<string, FieldType>>
  /** The fields whose values together name the list an item stands in. */
  readonly list: readonly string[]
  /** The field that holds an item's place in its list, counted from 0 without gaps; absent where lists are in order of arrival. */
  readonly place?: string
  /** For fields that are not simply sent with a move: what to do when one is missing. */
  readonly hints?: Readonly<Record<string, string>>
  /** Only for the type checker: which items come out. */
  readonly item?: T
}

/** An item about to be added. */
export interface Draft {
  readonly id: string
  readonly title: string
  readonly status: string
  /** Adding an identity that is held gives back the item that holds it. */
  readonly identity?: string | undefined
  /** Where it goes in its list, counted from 0; what stood there moves back. At the end when absent. */
  readonly at?: number | undefined
  readonly fields: Readonly<Record<string, unknown>>
}
