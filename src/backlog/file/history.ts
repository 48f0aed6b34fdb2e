import type { Happening } from '../../core/kind.ts'
import { oneLine } from '../../core/markdown.ts'
import { statusWord } from './spelling.ts'

export const HISTORY = 'Status History'
export const TABLE_HEAD = '| Timestamp | From | To | Actor | Reason |\n|---|---|---|---|---|'

export interface Table {
  readonly rows: readonly Happening[]
  /** Where its first line begins and its last one ends, the line break not included. */
  readonly start: number
  readonly end: number
}

/** The first table between two line breaks that is not in fenced code. */
export function tableIn(
  text: string,
  from: number,
  to: number,
  fences: readonly (readonly [number, number])[],
): Table | undefined {
  let start = from + 1
  let fence = 0
  while (start < to) {
    while (fence < fences.length && fences[fence]![1] < start) fence++
    if (isRow(text, start) && !(fence < fences.length && fences[fence]![0] <= start)) break
    start = lineEnd(text, start, to) + 1
  }
  if (start >= to) return undefined
  const rows: Happening[] = []
  // The head is nearly always ours: no need to look at its cells.
  const ours = text.startsWith(TABLE_HEAD, start)
  let end = ours ? lineEnd(text, start + TABLE_HEAD.length, to) : start
  let count = ours ? 2 : 0
  for (let at = ours ? end + 1 : start; at < to && isRow(text, at); at = end + 1) {
    end = lineEnd(text, at, to)
    const line = oneLine(text.slice(at, end))
    // What stands above the rule is the head.
    if (count++ < 2 && isRule(line)) rows.length = 0
    else {
      const found = happening(cells(line))
      if (found) rows.push(found)
    }
  }
  while (text.charCodeAt(end - 1) === 13) end--
  return { rows, start, end }
}

export function row({ at, from, to, by, why }: Happening): string {
  return `| ${[at, from ?? NONE, to, by, why ?? ''].map(cell).join(' | ')} |`
}

/** A move as it reads when it has been written. */
export function asRead(happened: Happening): Happening | undefined {
  return asMove(row(happened))
}

/** The move that a row tells of, if it does. */
export function asMove(line: string): Happening | undefined {
  return happening(cells(line))
}

const NONE = '—'

function isRow(text: string, start: number): boolean {
  let at = start
  while (at < start + 3 && text.charCodeAt(at) === 32) at++
  return text.charCodeAt(at) === 124
}

function lineEnd(text: string, start: number, to: number): number {
  const newline = text.indexOf('\n', start)
  return newline < 0 || newline > to ? to : newline
}

function isRule(line: string): boolean {
  return /^[|\s:-]+$/.test(line) && line.includes('-')
}

/** Undefined for a row that tells of no move. A reason with bars in it, not escaped, is put together again. */
function happening(found: readonly string[]): Happening | undefined {
  const to = found[2]
  if (!to) return undefined
  const from = found[1]!
  const why = found.length > 5 ? found.slice(4).join(' | ') : found[4]
  return {
    at: found[0]!,
    from: from === NONE || /^[–-]*$/.test(from) ? null : status(from),
    to: status(to),
    by: found[3] ?? '',
    why: why || null,
  }
}

function status(text: string): string {
  return statusWord(text) ?? text
}

function cell(text: string): string {
  return oneLine(text).replaceAll('\\', '\\\\').replaceAll('|', '\\|')
}

/** The cells of a row, the bar before the first and after the last left out. */
function cells(line: string): string[] {
  if (line.includes('\\')) return splitEscaped(line)
  const found: string[] = []
  for (let start = 1; start < line.length; ) {
    const bar = line.indexOf('|', start)
    const end = bar < 0 ? line.length : bar
    found.push(line.slice(start, end).trim())
    start = end + 1
  }
  return found
}

function splitEscaped(line: string): string[] {
  const found: string[] = []
  let text = ''
  for (let n = 1; n < line.length; n++) {
    const character = line[n]!
    const next = line[n + 1]
    if (character === '\\' && (next === '\\' || next === '|')) text += line[++n]!
    else if (character !== '|') text += character
    if (n === line.length - 1 || character === '|') {
      found.push(text.trim())
      text = ''
    }
  }
  return found
}
