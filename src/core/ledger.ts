import type { Note } from './event.ts'
import type { Complaint, Item, Kind } from './kind.ts'
import type { Fields } from './lifecycle.ts'
import type { Change, Claim, Kept, Query, Store } from './store.ts'

/** What the file system said of a file when it was last read. */
export interface Stamp {
  readonly name: string
  /** Which file it is and how long, in one number. */
  readonly node: number
  /** When it was changed, in milliseconds; negative where it was read so soon after that that another change might not show. */
  readonly changed: number
}

/** The stamps of many files: a list of thousands is compared at every look, and one string is read faster than thousands. */
export interface Stamps {
  /** One line each. */
  readonly names: string
  /** What `Stamp` calls `node` and `changed`, in the same order. */
  readonly numbers: readonly (readonly [node: number, changed: number])[]
}

/** A file as it was when it was last read. */
export interface Seen extends Stamp {
  /** Below the folder of them all, with slashes. */
  readonly folder: string
  /** The id of the item it holds; null when it could not be read. */
  readonly item: string | null
  /** When its content was written, in milliseconds. */
  readonly written: number
  readonly complaint: Complaint | null
}

/** An item found in a file. A `token` among its fields counts; otherwise it is the one after the last that was heard of. */
export interface Discovery {
  readonly id: string
  readonly fields: Fields
  readonly file: Seen
  readonly note: Note
  /** For one that is claimed: what is left of its lease. */
  readonly leaseMs?: number | undefined
}

/**
 * What an engine that keeps items in files remembers of them: how each file
 * stood when it was last read, and what does not stand in files: tokens,
 * leases, numbers and the log. The files are the truth; this follows them.
 * Nothing here waits: an engine does several of these things in one transaction.
 */
export interface Ledger {
  /** Does `work` in one transaction. What is `derived` from the files can be had again, and need not survive a power cut. */
  together<T>(work: () => T, derived?: boolean): T
  /** Differs from what it was before once another process has written. */
  version(): number
  find<T extends Item>(kind: Kind<T>, query: Query): T[]
  /** The first matches, as a claim would get them; one field of `where` may have several values. */
  first<T extends Item>(kind: Kind<T>, query: Query): T[]
  count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Record<string, number>
  /** The values that one of the kind's list fields has among the items that were seen. */
  names(kind: Kind, field: string, where: Readonly<Record<string, string>>): string[]
  save<T extends Item>(kind: Kind<T>, change: Change, note: Note): T
  take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): T | undefined
  renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): T
  lapsed<T extends Item>(kind: Kind<T>, limit: number): T[]
  load(kind: Kind, items: readonly Kept[]): void
  /** Whether anything has ever happened to an item of a kind. */
  hasHeardOf(kind: Kind): boolean
  /** Adds what was found in files that are new, each with its event; `unheard` where nothing can be known of any of them. */
  discover(kind: Kind, found: readonly Discovery[], unheard?: boolean): void
  /** Counts a change of an item's file that changes none of its fields. */
  touch(kind: Kind, id: string): void
  /** Takes an item out whose file is gone. */
  drop(kind: Kind, item: Item, note: Note): void
  /** The folders in which items of a kind were seen, or those of them that lie in one. */
  folders(kind: Kind, inside?: string): string[]
  files(folder: string): Seen[]
  file(folder: string, name: string): Seen | undefined
  /** Of all files in a folder, in the order of their names, only what is compared at every look. */
  stamps(folder: string): Stamps
  /** Those of them that could not be read. */
  complaints(folder: string): Seen[]
  fileOf(kind: Kind, item: string): Seen | undefined
  remember(kind: Kind, files: readonly Seen[]): void
  forget(folder: string, name: string): void
  /** The highest number that was ever given in a list; 0 for none. */
  lastNumber(kind: Kind, list: Fields): number
  raiseNumber(kind: Kind, list: Fields, number: number): void
}

/** A store that can also keep a ledger, in the same transactions as everything else. */
export interface LedgerKeeper extends Store {
  ledger(): Promise<Ledger>
}
