import type { Event, Note } from './event.ts'
import type { Draft, Item, Kind } from './kind.ts'
import type { Fields } from './lifecycle.ts'

export interface Query {
  /** Fields that must have exactly this value. */
  readonly where?: Readonly<Record<string, string | number>>
  readonly status?: readonly string[]
  /** Only what comes after the item with this id, in the order of the answer. */
  readonly after?: string | undefined
  readonly limit?: number
  /** Last first. */
  readonly newest?: boolean
}

/** One decided change of one item. */
export interface Change {
  readonly id: string
  /** The revision it was decided on, and the status the item had there. */
  readonly revision: number
  readonly from: string
  /** Given by a claimant: must be the current one. */
  readonly token?: number | undefined
  /** What changes, `status` included when the item moves. */
  readonly fields: Fields
}

/** What a claim does to the item it gets. */
export interface Claim {
  readonly owner: string
  readonly fields: Fields
  /** How long the claim holds without being renewed; for ever when absent. */
  readonly leaseMs?: number | undefined
}

export interface Added<T extends Item> {
  readonly item: T
  /** False when an item of that identity was there already: it is returned as it stands. */
  readonly created: boolean
}

export interface EventQuery {
  /** Only what happened after this number; from the beginning when absent. */
  readonly after?: number
  /** At most so many, the oldest first. */
  readonly limit?: number
  /** Instead: the newest so many, in order. */
  readonly last?: number
}

/** What an engine found when it looked at its own health. */
export interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
}

/**
 * Where items live. An engine keeps what it is given and decides nothing:
 * lifecycles are judged before it is called. What it owes its callers is in
 * test/conformance.ts, which every engine runs.
 */
export interface Store {
  /** Adds drafts in order, all of them or none. */
  insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]>
  find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]>
  /** How many matching items stand in each status; a status without items is absent. */
  count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>>
  /**
   * Writes item and event together, or neither. Throws `changed_meanwhile` if
   * the revision is stale, `lease_lost` if the token is, `not_found`.
   */
  save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T>
  /** Gives the first match to exactly one caller, with a new token; undefined when nothing is left. */
  take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined>
  /** Lets a claim hold `leaseMs` from now. Throws `lease_lost` when the token is no longer the current one. */
  renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T>
  /** Items whose lease has run out by the engine's own clock, the longest overdue first. */
  lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]>
  events(query: EventQuery): Promise<Event[]>
  /** Resolves when there may be events after `seq`, at the latest after `ms`. */
  changed(seq: number, ms: number, signal?: AbortSignal): Promise<void>
  inspect(): Promise<Finding[]>
  close(): Promise<void>
}
