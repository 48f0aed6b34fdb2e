import { Fences } from './fences.ts'
import { afterMarker, isGap, isMarker } from './markers.ts'

/**
 * Goes through markdown line by line and stops at those that say something: a
 * heading, an item of a list, text, a rule. What does not count it passes over:
 * fenced and indented code, comments, quotes. The fields tell of the line it
 * stopped at; nothing is made for a line, as there may be a hundred thousand.
 */
export class Blocks {
  kind: 'heading' | 'item' | 'text' | 'rule' = 'text'
  /** Where the line begins and ends, the line break not included. */
  start = 0
  end = 0
  /** Where its text begins: after the sign of a heading, the marker of an item. */
  from = 0
  /** Of a heading. */
  level = 0
  /** How many columns it is indented, and where the marker of an item begins. */
  indent = 0
  marker = 0
  /** Of an item: whether it is in no other. */
  outer = false
  /** Of text: whether it goes on with the line before, and whether it does so out of an item without being indented like it. */
  continues = false
  lazy = false
  /** The end of the last line before this one that is not blank. */
  before = 0
  /** The end of the last line before this one that is in an item and not blank. */
  inner = 0
  /** What was passed over, and whether it was fenced code. */
  readonly passed: { readonly start: number; readonly end: number; readonly fenced: boolean }[] = []

  private readonly text: string
  private readonly fences: Fences
  /** The columns where the text of the items begins that are open, outermost first, and how many are. */
  private readonly items: number[] = []
  private depth = 0
  /** Whether the line before can be gone on with: nothing, text, or a quote. */
  private open: 0 | 1 | 2 = 0
  private at = 0
  private last = 0
  private unruly = 0

  constructor(text: string) {
    this.text = text
    this.fences = new Fences(text)
  }

  /** Whether the line is in an item. */
  get inside(): boolean {
    return this.depth > 0
  }

  /** Goes on to the next line that counts; false at the end. */
  next(): boolean {
    const { text } = this
    let start = this.at
    while (start < text.length) {
      if (this.depth > 0) this.inner = this.last
      const newline = text.indexOf('\n', start)
      const end = newline < 0 ? text.length : newline
      this.at = end + 1
      if (start === end) {
        this.open = 0
        start++
        continue
      }
      this.start = start
      this.end = end
      const code = text.charCodeAt(start)
      const first = code === SPACE || code === TAB ? this.skipIndent(start) : start
      if (first === start) this.indent = 0
      if (first === end || (text.charCodeAt(first) === CR && text.slice(first, end).trim() === '')) {
        this.open = 0
      } else {
        this.before = this.last
        this.last = end
        if (this.look(first)) return true
      }
      start = this.at
    }
    if (this.depth > 0) this.inner = this.last
    this.before = this.last
    return false
  }

  /** Says that the line belongs to no item, though it could. */
  leave(): void {
    this.depth = 0
    this.continues = false
  }

  private skipIndent(start: number): number {
    let at = start
    let column = 0
    for (; at < this.end; at++) {
      const code = this.text.charCodeAt(at)
      if (code === SPACE) column++
      else if (code === TAB) column += 4 - (column % 4)
      else break
    }
    this.indent = column
    return at
  }

  private look(first: number): boolean {
    let { depth } = this
    while (depth > 0 && this.items[depth - 1]! > this.indent) depth--
    const code = this.text.charCodeAt(first)
    if (this.indent > 3 && this.indent - (depth > 0 ? this.items[depth - 1]! : 0) > 3) {
      // Markdown takes a marker that is indented this far for text; whoever wrote it below an item meant another.
      if (this.open === 1 && depth > 0 && isMarker(this.text, first, this.end)) return this.item(first, depth)
      return this.open === 0 ? this.pass(depth) : this.plain(first, depth)
    }
    switch (code) {
      case HASH:
        return (this.indent < 4 && this.heading(first)) || this.plain(first, depth)
      case DASH:
      case STAR:
      case LINE:
        if (this.isRule(first, code)) return this.rule(depth)
        break
      case TICK:
      case TILDE:
      case LESS:
        return this.opening(first, code, depth) ? this.pass(depth) : this.plain(first, depth)
      case QUOTE:
        this.pass(depth)
        this.open = 2
        return false
    }
    return code < COLON && isMarker(this.text, first, this.end) ? this.item(first, depth) : this.plain(first, depth)
  }

  private rule(depth: number): true {
    this.pass(depth)
    this.kind = 'rule'
    return true
  }

  private pass(depth: number): false {
    this.depth = depth
    this.open = 0
    return false
  }

  private heading(first: number): boolean {
    let at = first
    while (this.text.charCodeAt(at) === HASH) at++
    if (at - first > 6 || !isGap(this.text, at, this.end)) return false
    this.depth = 0
    this.open = 0
    this.kind = 'heading'
    this.level = at - first
    this.from = at
    return true
  }

  private plain(first: number, depth: number): boolean {
    if (this.open === 2) return false
    this.continues = this.open === 1
    this.lazy = this.continues && depth === 0 && this.depth > 0
    if (!this.continues) this.depth = depth
    this.open = 1
    this.kind = 'text'
    this.from = first
    return true
  }

  private item(first: number, depth: number): boolean {
    this.depth = depth
    this.outer = depth === 0
    this.marker = first
    let at = first
    let column = this.indent
    let code = this.text.charCodeAt(at)
    do {
      const marked = afterMarker(this.text, at)
      column += marked - at
      at = marked
      const edge = column
      for (; at < this.end; at++) {
        code = this.text.charCodeAt(at)
        if (code === SPACE) column++
        else if (code === TAB) column += 4 - (column % 4)
        else break
      }
      const empty = at === this.end || code === CR
      this.items[this.depth++] = empty || column - edge > 4 ? edge + 1 : column
      if (empty) code = 0
    } while (this.depth < DEEPEST && isMarker(this.text, at, this.end) && !this.isRule(at, code))
    this.kind = 'item'
    this.from = at
    this.open = code === 0 ? 0 : 1
    if (code === QUOTE || this.opening(at, code, this.depth)) {
      this.from = this.end
      this.open = code === QUOTE ? 2 : 0
    }
    return true
  }

  /** Passes over the fenced code or the comment that begins here, if one does and it ends somewhere. */
  private opening(first: number, code: number, depth: number): boolean {
    const base = depth > 0 ? this.items[depth - 1]! : 0
    let end = -1
    if (code === TICK || code === TILDE) end = this.fences.endOf(first, this.end, base)
    else if (code === LESS && this.text.startsWith('<!--', first)) end = this.fences.endOfComment(first, this.end, base)
    if (end < 0) return false
    this.passed.push({ start: this.start, end, fenced: code !== LESS })
    this.last = end
    this.at = end + 1
    return true
  }

  private isRule(first: number, code: number): boolean {
    // Up to here only one sign and spaces: what was no rule from further left is none from here either.
    if (first < this.unruly) return false
    let count = 0
    for (let at = first; at < this.end; at++) {
      const each = this.text.charCodeAt(at)
      if (each === code) count++
      else if (each !== SPACE && each !== TAB && each !== CR) {
        this.unruly = at
        return false
      }
    }
    return count > 2
  }
}

/** Lists in lists; whoever goes deeper wrote something else. */
const DEEPEST = 100
const TAB = 9
const CR = 13
const SPACE = 32
const HASH = 35
const STAR = 42
const DASH = 45
const COLON = 58
const LESS = 60
const QUOTE = 62
const LINE = 95
const TICK = 96
const TILDE = 126
