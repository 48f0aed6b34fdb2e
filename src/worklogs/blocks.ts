/** A line of a markdown document. */
export interface Line {
  readonly start: number
  /** Its break not included. */
  readonly end: number
  readonly text: string
  /** Where the block begins that it stands in, where it is not read as markdown. */
  block: number | undefined
  inside: 'text' | 'code' | 'comment' | 'html'
}

export interface Blocks {
  readonly lines: readonly Line[]
  /** Where the first block begins that nothing closes: for markdown it goes on to the end, its lines count as text here. */
  readonly open: number | undefined
}

/** The lines of a document, and which of them are not read as markdown. Only those of lists and quotations are not known. */
export function blocksOf(body: string): Blocks {
  const lines = linesOf(body)
  const endless = new Map<string, number>()
  let open: number | undefined
  for (let n = 0; n < lines.length; n++) {
    const block = blockIn(lines[n]!.text)
    if (!block) continue
    const last = lastLine(lines, n, block, endless)
    const { start } = lines[n]!
    if (last === undefined) open ??= start
    else for (const line of lines.slice(n, last + 1)) Object.assign(line, { block: start, inside: block.inside })
    n = last ?? n
  }
  const details = openDetails(lines)
  return { lines, open: open === undefined || (details ?? open) < open ? details : open }
}

const BREAK = /\r\n|\n|\r/g

function linesOf(body: string): Line[] {
  const lines: Line[] = []
  let start = 0
  const add = (end: number) =>
    lines.push({ start, end, text: body.slice(start, end), block: undefined, inside: 'text' })
  for (const { index, 0: sign } of body.matchAll(BREAK)) {
    add(index)
    start = index + sign.length
  }
  add(body.length)
  return lines
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

function blockIn(text: string): Block | undefined {
  const fence = /^ {0,3}(?:(`{3,})[^`]*|(~{3,})[^]*)$/.exec(text)
  if (fence) return fenced(fence[1] ?? fence[2]!)
  if (!/^ {0,3}</.test(text)) return undefined
  const raw = RAW.find(({ begins }) => begins.test(text))
  if (raw) return { ...raw, sort: raw.end.source, size: 0, short: true, ends: line => raw.end.test(line) }
  if (!HTML.test(text)) return undefined
  return { inside: 'html', sort: 'html', size: 0, short: false, ends: line => line.trim() === '' }
}

function fenced(sign: string): Block {
  const closing = new RegExp(`^ {0,3}${sign[0]}{${sign.length},}[ \\t]*$`)
  return { inside: 'code', sort: sign[0]!, size: sign.length, short: false, ends: line => closing.test(line) }
}

/** Blocks of HTML that blank lines do not end. */
const RAW: readonly { begins: RegExp; end: RegExp; inside: Line['inside'] }[] = [
  {
    begins: /^ *<(?:pre|script|style|textarea)(?=[\s>]|$)/i,
    end: /<\/(?:pre|script|style|textarea)>/i,
    inside: 'code',
  },
  { begins: /^ *<!--/, end: /-->/, inside: 'comment' },
  { begins: /^ *<\?/, end: /\?>/, inside: 'code' },
  { begins: /^ *<!\[CDATA\[/, end: /\]\]>/, inside: 'code' },
  { begins: /^ *<![a-z]/i, end: />/, inside: 'code' },
]

const HTML =
  /^ *<\/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s>]|\/>|$)/i

/** `endless` remembers what was looked for in vain, so that a thousand openings are not a thousand searches. */
function lastLine(
  lines: readonly Line[],
  first: number,
  block: Block,
  endless: Map<string, number>,
): number | undefined {
  if ((endless.get(block.sort) ?? Infinity) <= block.size) return undefined
  for (let n = block.short ? first : first + 1; n < lines.length; n++) {
    if (block.ends(lines[n]!.text)) return block.inside === 'html' ? n - 1 : n
  }
  // HTML of most sorts ends with the document, too.
  if (block.inside === 'html') return lines.length - 1
  endless.set(block.sort, block.size)
  return undefined
}

/** Where the first `<details>` begins that is never closed: what comes after it is folded away with it. */
function openDetails(lines: readonly Line[]): number | undefined {
  const opened: number[] = []
  for (const { text, inside, start } of lines) {
    if (inside === 'code' || inside === 'comment') continue
    for (const [, end] of text.replace(/`[^`]*`/g, '').matchAll(/(?<!\\)<(\/?)details(?=[\s>]|$)/gi)) {
      if (end) opened.pop()
      else opened.push(start)
    }
  }
  return opened[0]
}
