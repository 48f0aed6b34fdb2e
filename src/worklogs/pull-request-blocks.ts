/** A line of a markdown document. */
export interface Line {
  readonly start: number
  /** Its break not included. */
  readonly end: number
  readonly text: string
  /** Where the block begins that it stands in; undefined for text, which alone is read as markdown. */
  block: number | undefined
  inside: 'text' | 'code' | 'comment' | 'html'
}

export interface Blocks {
  readonly lines: readonly Line[]
  /** Where the first thing begins that nothing closes: it goes on to the end, though its lines count as text here. */
  readonly open: number | undefined
}

/** The lines of a document, and which of them are not read as markdown. */
export function blocksOf(body: string): Blocks {
  const lines = linesOf(body)
  const lists = new Lists()
  const endless = new Map<string, number>()
  let open: number | undefined
  for (let n = 0; n < lines.length; n++) {
    const { start, text } = lines[n]!
    const { rest, column } = lists.enter(text)
    const block = blockIn(rest, isParagraph(lines[n - 1]))
    if (!block) continue
    lists.leave(column)
    const last = lastLine(lines, n, block, lists.column, endless)
    if (last === undefined) open ??= start
    else for (const line of lines.slice(n, last + 1)) Object.assign(line, { block: start, inside: block.inside })
    n = last ?? n
  }
  const before = open === undefined ? lines : lines.filter(({ start }) => start < open)
  return { lines, open: openHtml(before) ?? open }
}

function linesOf(body: string): Line[] {
  const lines: Line[] = []
  let start = 0
  const add = (end: number) =>
    lines.push({ start, end, text: body.slice(start, end), block: undefined, inside: 'text' })
  for (const { index, 0: sign } of body.matchAll(/\r?\n/g)) {
    add(index)
    start = index + sign.length
  }
  add(body.length)
  return lines
}

/** In which items of lists a line stands: what begins in one ends with it. */
class Lists {
  /** Where the text of each begins, outermost first. */
  private readonly columns: number[] = []
  private afterBlank = true

  get column(): number {
    return this.columns.at(-1) ?? 0
  }

  /** What a line holds below all its items, and in which column; nothing for code that is indented. */
  enter(text: string): { rest: string; column: number } {
    let column = indentOf(text)
    let rest = text.trimStart()
    if (rest === '') {
      this.afterBlank = true
      return { rest, column }
    }
    const rule = isRule(rest)
    // Text that is not indented goes on with the item before it, unless a blank line comes between or it begins something else.
    if (this.afterBlank || rule || isHeading(rest) || rest.startsWith('>')) this.leave(column)
    this.afterBlank = false
    for (let item = ITEM.exec(rest); item && !rule && this.reaches(column); item = ITEM.exec(rest)) {
      this.leave(column)
      column += item[1]!.length + (/^(?: {1,4}|\t)(?=\S)/.exec(item[2]!) ? indentOf(item[2]!) : 1)
      this.columns.push(column)
      rest = rest.slice(item[0].length)
    }
    return this.reaches(column) ? { rest, column } : { rest: '', column }
  }

  /** Ends the items whose text begins further right. */
  leave(column: number): void {
    while (this.column > column) this.columns.pop()
  }

  private reaches(column: number): boolean {
    return column - (this.columns.findLast(one => one <= column) ?? 0) < 4
  }
}

const ITEM = /^([-*+]|\d{1,9}[.)])([ \t]+|$)/

function indentOf(text: string): number {
  let column = 0
  for (const sign of text) {
    if (sign === '\t') column += 4 - (column % 4)
    else if (sign === ' ') column++
    else break
  }
  return column
}

interface Block {
  readonly inside: Line['inside']
  /** What ends it, and for a fence how long that must be. */
  readonly sort: string
  readonly size: number
  /** Whether the line that begins it can also end it. */
  readonly short: boolean
  ends(text: string): boolean
}

/** Whether it can go on in the next line. */
function isParagraph(line: Line | undefined): boolean {
  if (line?.inside !== 'text') return false
  const text = line.text.trim()
  return text !== '' && !isHeading(text) && !isRule(text)
}

function isHeading(text: string): boolean {
  return /^#{1,6}(?:\s|$)/.test(text)
}

function isRule(text: string): boolean {
  return /^([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(text)
}

function blockIn(text: string, amidst: boolean): Block | undefined {
  const fence = /^(?:(`{3,})[^`]*|(~{3,})[^]*)$/.exec(text)
  if (fence) return fenced(fence[1] ?? fence[2]!)
  if (!text.startsWith('<')) return undefined
  const raw = RAW.find(({ begins }) => begins.test(text))
  if (raw) return { ...raw, sort: raw.end.source, size: 0, short: true, ends: line => raw.end.test(line) }
  if (!HTML.test(text) && (amidst || !TAG.test(text))) return undefined
  return { inside: 'html', sort: 'html', size: 0, short: false, ends: line => line.trim() === '' }
}

function fenced(sign: string): Block {
  const closing = new RegExp(`^[ \\t]*${sign[0]}{${sign.length},}[ \\t]*$`)
  return { inside: 'code', sort: sign[0]!, size: sign.length, short: false, ends: line => closing.test(line) }
}

/** Blocks of HTML that blank lines do not end. */
const RAW: readonly { begins: RegExp; end: RegExp; inside: Line['inside'] }[] = [
  { begins: /^<(?:pre|script|style|textarea)(?=[\s>]|$)/i, end: /<\/(?:pre|script|style|textarea)>/i, inside: 'html' },
  { begins: /^<!--/, end: /-->/, inside: 'comment' },
  { begins: /^<\?/, end: /\?>/, inside: 'comment' },
  { begins: /^<!\[CDATA\[/, end: /\]\]>/, inside: 'comment' },
  { begins: /^<![a-z]/i, end: />/, inside: 'comment' },
]

const HTML =
  /^<\/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s>]|\/>|$)/i

/** Any other tag alone on its line, where no paragraph goes on. */
const TAG = /^<\/?[a-z][a-z\d-]*(?:\s[^<>]*)?>\s*$/i

/** `endless` remembers what was looked for in vain, so that a thousand openings are not a thousand searches. */
function lastLine(
  lines: readonly Line[],
  first: number,
  block: Block,
  column: number,
  endless: Map<string, number>,
): number | undefined {
  const bounded = column > 0 || block.sort === 'html'
  if (!bounded && (endless.get(block.sort) ?? Infinity) <= block.size) return undefined
  for (let n = block.short ? first : first + 1; n < lines.length; n++) {
    const { text } = lines[n]!
    if (n > first && column > 0 && text.trim() !== '' && indentOf(text) < column) return filledUpTo(lines, n - 1)
    if (block.ends(text) && (block.inside !== 'code' || indentOf(text) < column + 4))
      return block.sort === 'html' ? n - 1 : n
  }
  if (bounded) return filledUpTo(lines, lines.length - 1)
  endless.set(block.sort, block.size)
  return undefined
}

function filledUpTo(lines: readonly Line[], last: number): number {
  let n = last
  while (lines[n]!.text.trim() === '') n--
  return n
}

/** Where the first `<details>` begins that is never closed, or a comment within HTML: what comes after it is not seen. */
function openHtml(lines: readonly Line[]): number | undefined {
  const opened: number[] = []
  let comment: number | undefined
  for (const { text, inside, start } of lines) {
    if (inside === 'code') continue
    const live = inside === 'text' ? text.replace(/`[^`]*`|\\<\/|<!--|-->/g, '') : text
    for (const [sign, end] of live.matchAll(/<!--|-->|<(\/?)details(?=[\s>]|$)/gi)) {
      if (sign === '-->') comment = undefined
      else if (comment !== undefined) continue
      else if (sign === '<!--') comment = start
      else if (end) opened.pop()
      else opened.push(start)
    }
  }
  return opened[0] === undefined || (comment ?? opened[0]) < opened[0] ? comment : opened[0]
}
