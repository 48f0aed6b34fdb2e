import type { KeyLine, KeyName } from './keys.ts'

/** Where the parts of a section stand, for whoever changes it. */
export interface Place {
  /** Where its heading ends, its last line, and the last line before its first subsection. */
  readonly heading: number
  end: number
  lead: number
  readonly keys: KeyPlace[]
  /** For each of its check boxes, where the sign stands that says whether it is done. */
  readonly signs: number[]
  /** The item of the last box that is not among decisions. */
  list: ItemPlace | undefined
  /** Where its last decisions end, and the item that is the last of them. */
  decisions: { end: number; item: ItemPlace | undefined } | undefined
  /** Where the heading of the reason of a failure begins and ends, and where the reason does. */
  failure: { readonly start: number; readonly heading: number; end: number } | undefined
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

/** An outermost item of a list: where its line begins and its marker, and where its last line ends. */
export interface ItemPlace {
  readonly start: number
  readonly marker: number
  end: number
}

interface Line {
  readonly start: number
  readonly end: number
}

/** Notes where things stand while a text is read. */
export class Places {
  readonly all: Place[] = []
  private place: Place | undefined
  private item: ItemPlace | undefined

  open(heading: number): void {
    const none = { list: undefined, decisions: undefined, failure: undefined }
    this.place = { heading, end: heading, lead: 0, keys: [], signs: [], ...none }
    this.all.push(this.place)
  }

  key({ name, word, value, valueEnd }: KeyLine, { start, end }: Line): void {
    this.place!.keys.push({ name, start, word, value, valueEnd, end, listEnd: end })
  }

  /** A list below the last key goes on up to here. */
  listed(end: number): void {
    this.place!.keys.at(-1)!.listEnd = end
  }

  outer({ start, marker, end }: Line & { readonly marker: number }): void {
    this.item = { start, marker, end }
  }

  box(sign: number, decided: boolean): void {
    this.place!.signs.push(sign)
    if (!decided) this.place!.list = this.item
  }

  decisions(end: number): void {
    if (this.place) this.place.decisions = { end, item: undefined }
  }

  endDecisions(end: number): void {
    if (this.place) this.place.decisions = { end, item: this.item }
  }

  failure({ start, end }: Line): void {
    this.place!.failure = { start, heading: end, end }
  }

  endFailure(end: number): void {
    this.place!.failure!.end = end
  }

  endItem(end: number): void {
    if (this.item) this.item.end = end
    this.item = undefined
  }

  endLead(end: number): void {
    if (this.place && this.place.lead === 0) this.place.lead = end
  }

  end(end: number): void {
    if (this.place) this.place.end = end
    this.place = undefined
  }
}
