import type { Fields, Lifecycle } from './lifecycle.ts'

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
  /** For kinds whose items are numbered: one after the other in each list, and no number twice, whatever is deleted. */
  readonly numbers?: Numbers
  /** The id of an item with these fields, for kinds whose items are found in files. */
  idOf?(item: Fields): string
  /** The fields that say which of two items comes first; in order of arrival where absent. */
  readonly order?: readonly string[]
  /** For kinds whose items wait for one another. */
  readonly waits?: Waits
  /** How an item is written as a file, for engines that keep it as one. */
  readonly file?: FileForm
  /** How an item is written as a directory, for engines that keep it as one. */
  readonly directory?: DirectoryForm
  /** What to do instead of moving an item that is final. */
  readonly afterwards?: string
  /** For fields that are not simply sent with a move: what to do when one is missing. */
  readonly hints?: Readonly<Record<string, string>>
  /** Only for the type checker: which items come out. */
  readonly item?: T
}

export interface Numbers {
  /** What a draft gets with its number: the id, and the fields that come of it. */
  give(draft: Draft, number: number): { readonly id: string; readonly fields: Fields }
  /** The number an item has. */
  of(item: Fields): number
}

/**
 * Which fields tell what an item waits for. An engine counts it, in the
 * transaction of whatever changes it: what is claimed next is found without
 * asking for the state of anything else.
 */
export interface Waits {
  /** Lists the ids of the items it waits for; `#2` is the second draft of the same insertion. */
  readonly on: string
  /** Names the item it is a part of, which waits for it; empty for none. */
  readonly parent: string
  /** By id, why it goes on without some of them. */
  readonly without: string
  /** Kept by the engine: how many of them are open, or not there yet. */
  readonly blockers: string
  /** Kept by the engine: how many parts it has. */
  readonly children: string
  /** The statuses in which nobody waits for an item any longer. */
  readonly until: readonly string[]
}

/** An item about to be added. */
export interface Draft {
  /** Absent where the kind numbers its items: the engine gives one. */
  readonly id?: string | undefined
  readonly title: string
  readonly status: string
  /** Adding an identity that is held gives back the item that holds it. */
  readonly identity?: string | undefined
  /** Where it goes in its list, counted from 0; what stood there moves back. At the end when absent. */
  readonly at?: number | undefined
  readonly fields: Fields
  /** Longer texts that are kept with the item, by name. */
  readonly texts?: Texts | undefined
  /** More of them, which tell its id or those of others of its batch: made when those are given. */
  readonly compose?: ((own: { readonly id: string; readonly fields: Fields }) => Texts) | undefined
}

export type Texts = Readonly<Record<string, string>>

/** One move in the history that an item's file keeps. */
export interface Happening {
  /** ISO time, UTC. */
  readonly at: string
  /** null for the first: the item was created. */
  readonly from: string | null
  readonly to: string
  readonly by: string
  readonly why: string | null
}

/** What stands in a file: the fields (`Item`'s `title`, `status`, `owner` and `identity` among them), the texts, the history. */
export interface Content {
  readonly fields: Fields
  readonly texts: Texts
  readonly history: readonly Happening[]
  /** The last of the history, where that is known without reading the rest. */
  readonly last?: Happening | undefined
}

/** Why a file could not be read, and where. */
export interface Complaint {
  readonly line: number
  readonly message: string
}

/** How an item is written as one file. Pure: where files lie and how they are kept is the engine's affair. */
export interface FileForm {
  /** The folders that lead to a list, below the folder of them all: a word, or the name of a list field in braces. */
  readonly folders: readonly string[]
  /** The field that holds the file's own name; it never changes. */
  readonly name: string
  /** Whether the file tells what happened to its item; where it does not, the log does. */
  readonly history: boolean
  /** Whether a folder that someone made can be the value of a list field. */
  admits(field: string, value: string): boolean
  /** Whether a file of this name is meant to be an item. */
  isItem(name: string): boolean
  /** The names of files of our own that lie among the items and tell of them: they go where those go. */
  readonly beside?: readonly string[]
  /** What stands in a file of this name in this list. */
  read(text: string, name: string, list: Readonly<Record<string, string>>): Content | Complaint
  /** What is passed over in a file that can be read. */
  remarks?(text: string, name: string): Complaint[]
  /** The whole text of a file that has never been written. */
  write(content: Content): string
  /**
   * The text with some fields or a text changed and more moves in its history, and every byte
   * that is none of ours as it was. Throws a `Problem` where that cannot be done.
   */
  edit(
    text: string,
    change: { readonly fields: Fields; readonly texts?: Texts | undefined; readonly happened?: readonly Happening[] },
  ): string
}

/** A file in an item's directory. */
export interface Entry {
  /** Below the directory, with slashes. */
  readonly name: string
  readonly size: number
  /** Anything else, a folder or a link say, is no file of ours. */
  readonly isFile: boolean
  /** When it was written, in milliseconds. */
  readonly written: number
}

/** What the files of a directory say beside the one that defines its item. */
export interface Evidence {
  readonly fields: Fields
  /** What is wrong with them; nothing that keeps the item from being one. */
  readonly complaints: readonly string[]
  /** Empty files that tell of a claim: they go when the item is given back. */
  readonly claims: readonly string[]
  /** Empty files that tell that it is done, or dropped: they go when it is not. */
  readonly ends: readonly string[]
}

/** Where an item belongs that does not lie there, and why. */
export interface Verdict {
  readonly to: string
  readonly why: string
  /** Whether its claimant may be about to say more: it holds only once the grace period is over. */
  readonly isEarly?: boolean
}

/**
 * How an item is written as a directory that lies in a folder named after its
 * status. Its texts are files in it, each under its own name but for the one
 * that defines the item. Pure: where they lie and how they are moved is the
 * engine's affair.
 */
export interface DirectoryForm {
  /** The statuses whose folders are there from the beginning; others are made when first needed. */
  readonly folders: readonly string[]
  /** The text that defines an item. */
  readonly definition: string
  /** How long an item that was moved and has no evidence of a claim yet is left alone, in milliseconds. */
  readonly graceMs: number
  /** The name of an item's directory; it never changes. */
  name(item: Fields): string
  /** What a directory's name tells: the id, and fields. A complaint where it cannot be an item. */
  named(name: string): { readonly id: string; readonly fields: Fields } | Complaint
  /** What the definition says: `title` and fields, and what in it means nothing though the item can be read. */
  read(text: string, name: string): { readonly fields: Fields; readonly remark?: Complaint | undefined } | Complaint
  /** What the other files say, given a way to read one. */
  evidence(id: string, entries: readonly Entry[], text: (name: string) => string | undefined): Evidence
  /** A text that counts only as we wrote it, and the field that is read from it. */
  readonly sealed?: { readonly text: string; readonly field: string }
  /** The empty file that tells that an item came to a status; undefined where there is none for it. */
  flag(id: string, status: string, at: string): string | undefined
  /** Where an item belongs by what its files say; undefined where it lies right. `claimed`: somebody holds a lease. */
  verdict(
    id: string,
    status: string,
    entries: readonly Entry[],
    text: (name: string) => string | undefined,
    claimed: boolean,
  ): Verdict | undefined
}
