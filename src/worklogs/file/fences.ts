/**
 * Where fenced code ends. A fence that nothing closes counts as text, though
 * markdown takes it to go on to the end: it would hide every task that follows.
 * In an item of a list it ends with the item, as nothing else is hidden there.
 */
export class Fences {
  private readonly text: string
  private closings: Closings | undefined
  /** Where the next comment ends; -1 when no more do. */
  private comment = 0

  constructor(text: string) {
    this.text = text
  }

  /** Where the last line of the code ends whose first one is given; -1 where none begins. */
  endOf(first: number, end: number, base: number): number {
    const code = this.text.charCodeAt(first)
    let at = first
    while (this.text.charCodeAt(at) === code) at++
    const length = at - first
    if (length < 3) return -1
    if (code === TICK) {
      const tick = this.text.indexOf('`', at)
      if (tick >= 0 && tick < end) return -1
    }
    if (base > 0) return this.endInside(end, base, (start, to) => this.isClosing(start, to, code, length))
    this.closings ??= new Closings(this.text, end)
    return this.closings.after(end, code === TICK, length)
  }

  /** Where the last line of the comment ends that begins here; -1 where nothing closes it. */
  endOfComment(first: number, end: number, base: number): number {
    // What was found for a comment further up is found again, without a search, until it lies behind.
    if (this.comment >= 0 && this.comment < first + 2) this.comment = this.text.indexOf('-->', first + 2)
    const close = this.comment
    if (close < 0) return -1
    if (close <= end || base === 0) return this.lineEnd(close)
    return this.endInside(end, base, (_, to) => to >= close)
  }

  private lineEnd(at: number): number {
    const newline = this.text.indexOf('\n', at)
    return newline < 0 ? this.text.length : newline
  }

  private endInside(from: number, base: number, closes: (start: number, end: number) => boolean): number {
    let last = from
    for (let start = from + 1; start < this.text.length; ) {
      const end = this.lineEnd(start)
      let at = start
      let column = 0
      for (; at < end; at++) {
        const each = this.text.charCodeAt(at)
        if (each === SPACE) column++
        else if (each === TAB) column += 4 - (column % 4)
        else break
      }
      const blank = at === end || this.text.charCodeAt(at) === CR
      if (!blank && column < base) return last
      if (!blank) last = end
      if (column - base < 4 && closes(at, end)) return end
      start = end + 1
    }
    return last
  }

  private isClosing(first: number, end: number, code: number, length: number): boolean {
    let at = first
    while (this.text.charCodeAt(at) === code) at++
    return at - first >= length && this.text.slice(at, end).trim() === ''
  }
}

const TAB = 9
const CR = 13
const SPACE = 32
const TICK = 96
const CLOSING = /\n {0,3}(`{3,}|~{3,})[ \t\r]*(?=\n|$)/g

/** Every line that can close a fence, found once: to search for each fence anew would take the longer the more are never closed. */
class Closings {
  private readonly ends: number[] = []
  private readonly ticks: boolean[] = []
  private readonly lengths: number[] = []
  /** For each, the longest of its sort from there on. */
  private readonly longest: { readonly ticks: number[]; readonly tildes: number[] } = { ticks: [], tildes: [] }
  private next = 0

  constructor(text: string, from: number) {
    CLOSING.lastIndex = from
    for (let found = CLOSING.exec(text); found; found = CLOSING.exec(text)) {
      this.ends.push(CLOSING.lastIndex)
      this.ticks.push(found[1]![0] === '`')
      this.lengths.push(found[1]!.length)
    }
    let ticks = 0
    let tildes = 0
    for (let n = this.ends.length - 1; n >= 0; n--) {
      if (this.ticks[n]) ticks = Math.max(ticks, this.lengths[n]!)
      else tildes = Math.max(tildes, this.lengths[n]!)
      this.longest.ticks[n] = ticks
      this.longest.tildes[n] = tildes
    }
  }

  after(from: number, tick: boolean, length: number): number {
    while (this.next < this.ends.length && this.ends[this.next]! <= from) this.next++
    const longest = (tick ? this.longest.ticks : this.longest.tildes)[this.next] ?? 0
    if (longest < length) return -1
    while (this.ticks[this.next] !== tick || this.lengths[this.next]! < length) this.next++
    return this.ends[this.next]!
  }
}
