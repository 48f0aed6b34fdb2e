import type { Complaint } from './kind.ts'

export interface Heading {
  readonly level: number
  readonly text: string
  /** Where its line begins, and where it ends, the line break not included. */
  readonly start: number
  readonly end: number
}

export interface Outline {
  readonly headings: readonly Heading[]
  /** Where blocks of fenced code begin and end. */
  readonly fences: readonly (readonly [number, number])[]
  /** The fence that is never closed, if there is one. */
  readonly open: string | null
}

/**
 * The headings outside fenced code, from the line break at `from` on.
 *
 * A fence that nothing closes counts as text here, though markdown takes it to
 * go on to the end: it would hide the history that stands last in every file.
 */
export function outline(text: string, from: number): Outline {
  const marks = marksFrom(text, from)
  const headings: Heading[] = []
  const fences: [number, number][] = []
  let open: string | null = null
  const ends = endsAfter(marks)
  for (let n = 0; n < marks.length; n++) {
    const { sign, start, end, rest } = marks[n]!
    if (sign[0] === '#') headings.push({ level: sign.length, text: rest.trim(), start, end })
    else if (sign[0] === '`' && rest.includes('`')) continue
    else if (ends[n]! < sign.length) open ??= sign
    else {
      while (!closes(marks[++n]!, sign));
      fences.push([start, marks[n]!.end])
    }
  }
  return { headings, fences, open }
}

/** Text that is only a part of a line. */
export function oneLine(text: string): string {
  return (CONTROLS.test(text) ? text.replace(ALL_CONTROLS, ' ') : text).trim().toWellFormed()
}

/** Every line break as one LF. */
export function unixLines(text: string): string {
  return text.includes('\r') ? text.replace(/(?<!\r)\r+(?=\n|$)/g, '') : text
}

/** Without the blank lines before and after: where what is left begins and ends. */
export function trimmed(text: string, from: number, to: number): { readonly start: number; readonly end: number } {
  let start = from
  let at = from
  while (at < to && isBlank(text.charCodeAt(at))) if (text.charCodeAt(at++) === LF) start = at
  if (at === to) return { start: to, end: to }
  let end = to
  while (isBlank(text.charCodeAt(end - 1))) end--
  return { start, end }
}

/** A text as it is kept: lines end with LF, no blank ones before or after. */
export function tidy(text: string): string {
  const lines = unixLines(text)
  const { start, end } = trimmed(lines, 0, lines.length)
  return lines.slice(start, end)
}

/** Where a file holds what no text can; undefined for one that is whole. */
export function damageIn(text: string): Complaint | undefined {
  const nul = text.indexOf('\0')
  if (nul < 0 && text.isWellFormed()) return undefined
  const line = text.slice(0, nul < 0 ? text.search(/\p{Surrogate}/u) : nul).split('\n').length
  return { line, message: 'a NUL or half a character stands here: the file is damaged or not text in UTF-8' }
}

const LF = 10

function isBlank(code: number): boolean {
  return code === LF || code === 32 || code === 13 || code === 9
}

interface Mark {
  readonly sign: string
  readonly start: number
  readonly end: number
  readonly rest: string
}

// JavaScript's ^ would also match after U+2028, which ends no line in markdown.
const MARK = /\n {0,3}(#{1,6}(?=[ \t\r\n]|$)|`{3,}|~{3,})/g
const CONTROLS = /[\p{Cc}\u2028\u2029]/u
const ALL_CONTROLS = new RegExp(CONTROLS, 'gu')

function marksFrom(text: string, from: number): Mark[] {
  const marks: Mark[] = []
  MARK.lastIndex = from
  for (let found = MARK.exec(text); found; found = MARK.exec(text)) {
    const newline = text.indexOf('\n', MARK.lastIndex)
    const end = newline < 0 ? text.length : newline
    marks.push({ sign: found[1]!, start: found.index + 1, end, rest: text.slice(MARK.lastIndex, end) })
  }
  return marks
}

function closes(mark: Mark, sign: string): boolean {
  return mark.sign[0] === sign[0] && mark.sign.length >= sign.length && mark.rest.trim() === ''
}

/** For each mark, how long the longest fence of its sort is that could close it: asked beforehand, no search is in vain. */
function endsAfter(marks: readonly Mark[]): number[] {
  const longest: Record<string, number> = { '#': 0, '`': 0, '~': 0 }
  const ends: number[] = []
  for (let n = marks.length - 1; n >= 0; n--) {
    const { sign, rest } = marks[n]!
    const sort = sign[0]!
    ends[n] = longest[sort]!
    if (sort !== '#' && sign.length > longest[sort]! && rest.trim() === '') longest[sort] = sign.length
  }
  return ends
}
