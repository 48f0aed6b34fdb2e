import type { TaskSection } from '../record.ts'
import type { KeyName } from './keys.ts'

/** A section while it is read. */
export interface Draft extends TaskSection {
  status: TaskSection['status']
  claimed: string | null
  completed: string | null
  readonly subtasks: { text: string; readonly done: boolean }[]
  files: string[]
  ward: string | null
  readonly decisions: string[]
  failure: string | null
}

/** Where the parts of a section stand, for whoever changes it. */
export class Place {
  /** Where its heading ends, its last line, and the last line before its first subsection. */
  readonly heading: number
  end = 0
  lead = 0
  readonly keys: KeyPlace[] = []
  /** For each of its check boxes, where the sign stands that says whether it is done. */
  readonly signs: number[] = []
  /** The item of the last box that is not among decisions. */
  list: ItemPlace | undefined
  /** Where its last decisions end, and the item that is the last of them. */
  decisions: { end: number; item: ItemPlace | undefined } | undefined
  /** Where the heading of the reason of a failure begins and ends, and where the reason does. */
  failure: { readonly start: number; readonly heading: number; end: number } | undefined

  constructor(heading: number) {
    this.heading = heading
  }
}

export interface KeyPlace {
  readonly name: KeyName
  /** Where its line begins, its name and its value, and where value and line end. */
  readonly start: number
  readonly word: number
  readonly value: number
  readonly valueEnd: number
  readonly end: number
  /** Where the list ends that stands below it instead of a value. */
  listEnd: number
}

/** An outermost item of a list: where its line begins, its marker and its text, and where its last line ends. */
export interface ItemPlace {
  readonly start: number
  readonly marker: number
  readonly from: number
  end: number
}
