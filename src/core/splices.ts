import type { Complaint } from './kind.ts'
import { Problem } from './problem.ts'

/** A part of a text that becomes another. */
export interface Splice {
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

/** What was read of a file that is to be changed; one that cannot be read is left alone. */
export function unlessBroken<T extends object>(read: T | Complaint): T {
  if (!('message' in read)) return read
  const { line, message } = read
  throw new Problem(
    'unreadable_file',
    `line ${line}: ${message}`,
    `Correct line ${line} of the file by hand, then try again.`,
    { line },
  )
}

/** Some lines of a file, without the blank ones around them; `next` is where the line begins that stays behind them. */
export interface Passage {
  readonly start: number
  readonly end: number
  readonly next?: number | undefined
}

/** The part of a passage that differs from what it is to be; lines that stay keep their own line breaks. */
export function passageSplice(text: string, { start, end, next }: Passage, wanted: string, eol: string): Splice {
  if (wanted === '') return { from: start, to: next ?? end, text: '' }
  const lines = wanted.split('\n')
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
  if (old.length === head) return linesBelow(text, end, changed, eol)
  if (changed.length === 0) {
    const after = nextLine(text, end)
    return after > 0 ? { from, to: after, text: '' } : { from: contentEnd(text, from - 1), to: end, text: '' }
  }
  return { from, to: end, text: changed.join(eol) }
}

export function inserted(place: number, text: string): Splice {
  return { from: place, to: place, text }
}

/** Lines after the one that ends here. That one keeps its line break; only where it has none is one put before. */
export function linesBelow(text: string, end: number, lines: readonly string[], eol: string): Splice {
  const next = nextLine(text, end)
  return next > 0
    ? inserted(next, lines.map(line => line + eol).join(''))
    : inserted(end, lines.map(line => eol + line).join(''))
}

/** A block at the end of a text, a blank line before it. */
export function appended(text: string, block: string, eol: string): Splice {
  const ended = text.endsWith('\n')
  const gap = ended ? (blankBefore(text, text.length) ? '' : eol) : eol + eol
  return inserted(text.length, gap + block + (ended ? eol : ''))
}

/** Where the next line begins; 0 when there is none. */
export function nextLine(text: string, end: number): number {
  return text.indexOf('\n', end) + 1
}

/** Where a line ends, when its line break is two characters too. */
export function contentEnd(text: string, newline: number): number {
  let end = newline
  while (text[end - 1] === '\r') end--
  return end
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
