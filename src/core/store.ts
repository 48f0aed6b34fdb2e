import type { Event, Note } from './event.ts'
import type { Content, Draft, Item, Kind, Texts } from './kind.ts'
import type { Fields } from './lifecycle.ts'

export type Where = Readonly<Record<string, string | number | null | readonly (string | number)[]>>

export interface Query {
  /** Fields that must have exactly this value, or one of these; null: that must be empty. */
  readonly where?: Where
  readonly status?: readonly string[]
  /** Only what comes after the item with this id, in the order of the answer. */
  readonly after?: string | undefined
  readonly limit?: number
  /** Last first. */
  readonly newest?: boolean
  /** Only these fields are read, and `id`; the others are absent. */
  readonly fields?: readonly string[] | undefined
}

/** One decided change of one item. */
export interface Change {
  readonly id: string
  /** The revision it was decided on; absent where `given` is all that it was decided on. */
  readonly revision?: number | undefined
  /** What must be so for it to be made. */
  readonly given?: Where | undefined
  /** The status the item had when it was decided. */
  readonly from: string
  /** Given by a claimant: must be the current one. */
  readonly token?: number | undefined
  /** Only if the claim's lease has run out, by the engine's own clock: its owner may renew it while this is decided. */
  readonly lapsed?: boolean | undefined
  /** What changes, `status` included when the item moves. */
  readonly fields: Fields
  /** Texts that are kept from now on, by name; others stay as they are. */
  readonly texts?: Texts | undefined
}

/** What a claim does to the item it gets. */
export interface Claim {
  readonly owner: string
  readonly fields: Fields
  /** How long the claim holds without being renewed; for ever when absent. */
  readonly leaseMs?: number | undefined
  /**
   * Whether the claimant judges who says that the item is done. Where other
   * programs move items, what they call done stays the claimant's, and is waited
   * for, until it reports or its claim has run out.
   */
  readonly guarded?: boolean | undefined
}

/** One of several changes that are written together, with its event. */
export interface Step {
  readonly change: Change
  readonly note: Note
}

/** A claim with its event. */
export interface ClaimStep {
  readonly claim: Claim
  readonly note: Note
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
  /** Only what happened to one item. */
  readonly of?: { readonly kind: Kind; readonly id: string } | undefined
}

/** An item as another store kept it: its fields, its texts, and what happened to it. */
export interface Kept extends Content {
  readonly id: string
  readonly token: number
}

/** A file that is meant to be an item and cannot be read as one, or has something in it that means nothing. */
export interface Unreadable {
  readonly file: string
  readonly line: number
  readonly message: string
}

/** What is to be recovered. */
export interface Recovery {
  /** Only this item. */
  readonly id?: string | undefined
  /** How long what nobody says to have claimed is left alone after it was moved to where it lies; the kind's own grace period when absent. */
  readonly graceMs?: number | undefined
}

/** Something that was put right. */
export interface Recovered {
  readonly id: string
  readonly from: string
  readonly to: string
  /** What was found, and what was done about it. */
  readonly what: string
  /** What was wrong with the item itself, where that was restored. */
  readonly damage?: string | undefined
}

export interface Removed {
  readonly count: number
  readonly to: string | null
}

/** What an engine found when it looked at its own health. */
export interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  /** What can be done about it, where that is not to restore a backup. */
  readonly hint?: string
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
  /** The texts kept with items, by id and name; an item without any is absent. `all`: also those that only whoever worked on it knows. */
  texts(kind: Kind, ids: readonly string[], all?: boolean): Promise<ReadonlyMap<string, Texts>>
  /** The values that one of the kind's list fields has, in the order in which the lists began. */
  names(kind: Kind, field: string, where: Readonly<Record<string, string>>): Promise<string[]>
  /** When each item was last written, by whomever. */
  activity(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** What the last look at such items could not read; an engine that keeps no files has nothing to say. */
  unreadable(kind: Kind, where: Readonly<Record<string, string>>): Promise<Unreadable[]>
  /** What is odd in the files of these items, or of all that are open: they are read as items all the same. */
  remarks(kind: Kind, ids?: readonly string[]): Promise<Unreadable[]>
  /**
   * What was done although it could not be written down everywhere, or is in the way of nothing but itself: everything
   * since this was last asked. An engine that writes everything at once has nothing to say.
   */
  warnings(): Promise<Unreadable[]>
  /** How many matching items stand in each status; a status without items is absent. */
  count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>>
  /**
   * Writes item and event together, or neither. Throws `changed_meanwhile` if
   * the revision is stale, `lease_lost` if the token is, `not_found`.
   */
  save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T>
  /** Makes several changes in one transaction, each if it can be made: undefined in its place where it cannot. */
  saveAll<T extends Item>(kind: Kind<T>, changes: readonly Change[], note: Note): Promise<(T | undefined)[]>
  /**
   * Changes one item step by step in one write, each step with its event, and with a claim gives it to a caller in the
   * end: all of it or nothing. Throws as `save` does. For kinds that are not kept as directories.
   */
  saveSteps<T extends Item>(kind: Kind<T>, steps: readonly [Step, ...Step[]], last?: ClaimStep): Promise<T>
  /** Gives the first match to exactly one caller, with a new token; undefined when nothing is left. */
  take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined>
  /** The same for as many as the limit says, in one transaction. */
  takeAll<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T[]>
  /** Lets a claim hold `leaseMs` from now. Throws `lease_lost` when the token is no longer the current one. */
  renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T>
  /** Items whose lease has run out by the engine's own clock, the longest overdue first. */
  lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]>
  /** Adds items as another store kept them, with their history, all of them or none. None of their ids may be taken. */
  load(kind: Kind, items: readonly Kept[]): Promise<void>
  /** Takes whole lists out of the store, and says how many items that were and, if there is such a place, where they lie now. */
  remove(kind: Kind, where: Readonly<Record<string, string>>, note: Note): Promise<Removed>
  /** Finishes or undoes what others began and did not end, and says what it did itself. */
  recover(kind: Kind, note: Note, only?: Recovery): Promise<Recovered[]>
  events(query: EventQuery): Promise<Event[]>
  /** Resolves when there may be events after `seq`, at the latest after `ms`. */
  changed(seq: number, ms: number, signal?: AbortSignal): Promise<void>
  /** Looks at its own health; with `mend` puts right what is safe to. */
  inspect(mend?: boolean): Promise<Finding[]>
  close(): Promise<void>
}
