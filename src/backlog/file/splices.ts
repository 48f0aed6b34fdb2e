import type { Happening } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import type { Entry } from '../../core/yaml/frontmatter.ts'
import { nodeOf } from '../../core/yaml/value.ts'
import type { Document } from './document.ts'
import { HISTORY, row, TABLE_HEAD } from './history.ts'
import { KEYS } from './values.ts'
import { keyLine, storable } from './writing.ts'

/** A part of a text that becomes another. */
interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

export function spliced(text: string, splices: readonly Splice[]): string {
  let out = ''
  let at = 0
  for (const splice of splices.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    out += text.slice(at, splice.from) + splice.text
    at = splice.to
  }
  return out + text.slice(at)
}

/** The lines of the fields that have another value now. */
export function fieldSplices(text: string, { front, values, places }: Document, fields: Fields): Splice[] {
  const splices: Splice[] = []
  let next = nextLine(text, front.open)
  for (const [place, key] of KEYS.entries()) {
    const there = places[place]
    if (there) next = nextLine(text, (there.more.at(-1) ?? there).end)
    if (fields[key] === undefined) continue
    const value = storable(fields, key)
    if (JSON.stringify(value) === JSON.stringify(values[key])) continue
    const line = keyLine(key, value)
    splices.push(...(there ? replacing(text, there, line) : [inserted(next, line + front.eol)]))
  }
  return splices
}

/** One more row in the history; table and section are made where there are none. */
export function rowSplice(text: string, { front: { eol }, layout }: Document, happened: Happening): Splice {
  const line = row(happened)
  const { heading, table } = layout
  if (table) return below(text, table.end, [line], eol)
  const head = TABLE_HEAD.replaceAll('\n', eol)
  if (heading) {
    const close = text.slice(heading.end + 1).search(/\S/) === 0 ? eol : ''
    return inserted(contentEnd(text, heading.end), `${eol}${eol}${head}${eol}${line}${close}`)
  }
  return appended(text, `## ${HISTORY}${eol}${eol}${head}${eol}${line}`, eol)
}

/** The part of the body that differs; lines that stay keep their own line breaks. */
export function bodySplice(text: string, { front: { eol }, layout }: Document, body: string): Splice {
  const { start, end } = layout.body
  const next = layout.heading?.start
  if (body === '') return { from: start, to: next ?? end, text: '' }
  const lines = body.split('\n')
  if (start === end) {
    if (next === undefined) return appended(text, lines.join(eol), eol)
    return inserted(next, `${blankBefore(text, next) ? '' : eol}${lines.join(eol)}${eol}${eol}`)
  }
  const old = text.slice(start, end).split('\n')
  const most = Math.min(old.length, lines.length)
  let head = 0
  while (head < most && bare(old[head]!) === lines[head]) head++
  let foot = 0
  while (foot < most - head && bare(old.at(-1 - foot)!) === lines.at(-1 - foot)) foot++
  const changed = lines.slice(head, lines.length - foot)
  const from = start + length(old.slice(0, head))
  if (foot > 0)
    return { from, to: end - length(old.slice(old.length - foot)) + 1, text: changed.map(line => line + eol).join('') }
  if (old.length === head) return below(text, end, changed, eol)
  if (changed.length === 0) {
    const after = nextLine(text, end)
    return after > 0 ? { from, to: after, text: '' } : { from: contentEnd(text, from - 1), to: end, text: '' }
  }
  return { from, to: end, text: changed.join(eol) }
}

function inserted(place: number, text: string): Splice {
  return { from: place, to: place, text }
}

/** Lines after the one that ends here. That one keeps its line break; only where it has none is one put before. */
function below(text: string, end: number, lines: readonly string[], eol: string): Splice {
  const next = nextLine(text, end)
  return next > 0
    ? inserted(next, lines.map(line => line + eol).join(''))
    : inserted(end, lines.map(line => eol + line).join(''))
}

/** What lies below the line of a key, but for comments, is its value. */
function replacing(text: string, entry: Entry, line: string): Splice[] {
  const node = nodeOf(entry)
  if ('message' in node) return []
  const value = entry.more.filter(each => !node.comments.includes(each))
  return [
    { from: entry.start, to: entry.end, text: line + node.comment },
    ...value.map(({ start, end }) => ({ from: start, to: nextLine(text, end), text: '' })),
  ]
}

/** Where the next line begins; 0 when there is none. */
function nextLine(text: string, end: number): number {
  return text.indexOf('\n', end) + 1
}

/** Where a line ends, when its line break is two characters too. */
function contentEnd(text: string, newline: number): number {
  let end = newline
  while (text[end - 1] === '\r') end--
  return end
}

function appended(text: string, block: string, eol: string): Splice {
  const ended = text.endsWith('\n')
  const gap = ended ? (blankBefore(text, text.length) ? '' : eol) : eol + eol
  return inserted(text.length, gap + block + (ended ? eol : ''))
}

/** Whether the line before the one that begins here is blank. */
function blankBefore(text: string, start: number): boolean {
  return text.slice(text.lastIndexOf('\n', start - 2) + 1, start).trim() === ''
}

function bare(line: string): string {
  return line.replace(/(?<!\r)\r+$/, '')
}

function length(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0)
}
