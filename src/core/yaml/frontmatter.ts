import type { Complaint } from '../kind.ts'
import { stripped } from './spaces.ts'

/** One line of a file; `end` does not include its line break. */
export interface Line {
  readonly text: string
  readonly line: number
  readonly start: number
  readonly end: number
}

/** A key with everything that belongs to it, or a comment. */
export interface Entry {
  /** null for a comment. */
  readonly key: string | null
  readonly line: number
  readonly start: number
  readonly end: number
  /** What follows the colon on the line of the key; the whole line of a comment. */
  readonly rest: string
  /** The lines below that belong to it. */
  readonly more: readonly Line[]
}

export interface Frontmatter {
  readonly entries: readonly Entry[]
  /** Where the opening line ends, the line break not included. */
  readonly open: number
  /** The line break after the closing line, or the end of the text. */
  readonly after: number
  readonly eol: '\n' | '\r\n'
}

const LIMIT = 64 * 1024

/**
 * Finds the keys of a frontmatter and the lines that belong to each, without a
 * look at the values. `keys` are those that most files have, in their order.
 */
export function frontmatterOf(text: string, keys: readonly string[] = []): Frontmatter | Complaint {
  const begin = text.charCodeAt(0) === 0xfeff ? 1 : 0
  const first = text.indexOf('\n', begin)
  const open = endOfLine(text, begin, first)
  if (!isRule(text, begin, open)) return { line: 1, message: 'no frontmatter: the first line must be ---' }
  const entries: Entry[] = []
  // Blank lines and comments belong to a value only when more of the value follows.
  let pending: Line[] = []
  let more: Line[] | undefined
  let newline = first
  let expected = 0
  for (let line = 2; ; line++) {
    if (newline < 0) return { line: 1, message: 'the frontmatter is never closed: a line --- is missing' }
    const start = newline + 1
    if (start - begin > LIMIT) return { line: 1, message: 'the frontmatter is longer than 64 KiB, or never closed' }
    newline = text.indexOf('\n', start)
    const end = endOfLine(text, start, newline)
    const code = text.charCodeAt(start)
    if (code === DASH && isRule(text, start, end)) {
      flush(pending, entries)
      return { entries, open, after: newline < 0 ? text.length : newline, eol: text[open] === '\r' ? '\r\n' : '\n' }
    }
    // One that is where it is expected needs no search and no new string.
    const known = isKey(text, start, keys[expected]) ? keys[expected] : undefined
    const colon = known ? start + known.length : colonIn(text, start, end)
    if (colon >= 0) {
      if (pending.length > 0) pending = flush(pending, entries)
      more = undefined
      const key = known ?? keyOf(text, start, colon)
      expected = known ? expected + 1 : keys.indexOf(key) + 1
      entries.push({ key, line, start, end, rest: text.slice(colon + 1, end), more: NONE })
      continue
    }
    const found: Line = { text: text.slice(start, end), line, start, end }
    const words = stripped(found.text)
    if (words === '' || code === HASH || (words[0] === '#' && entries.length === 0)) {
      pending.push(found)
      continue
    }
    if (code === TAB) return { line, message: 'indented with a tab: use spaces' }
    const owner = entries.length - 1
    if (owner < 0 || !(code === SPACE || words[0] === ']' || isItem(text, start, end))) {
      return { line, message: `"${words.slice(0, 60)}" is not a line of the form "key: value"` }
    }
    if (!more) {
      more = []
      entries[owner] = { ...entries[owner]!, more }
    }
    more.push(...pending, found)
    pending = []
  }
}

const NONE: readonly Line[] = []
const TAB = 9
const SPACE = 32
const HASH = 35
const DASH = 45
const COLON = 58

function endOfLine(text: string, start: number, newline: number): number {
  let end = newline < 0 ? text.length : newline
  while (end > start && text.charCodeAt(end - 1) === 13) end--
  return end
}

function isRule(text: string, start: number, end: number): boolean {
  return text.startsWith('---', start) && stripped(text.slice(start + 3, end)) === ''
}

function isKey(text: string, start: number, key: string | undefined): boolean {
  if (key === undefined || !text.startsWith(key, start)) return false
  const colon = start + key.length
  return text.charCodeAt(colon) === COLON && text.charCodeAt(colon + 1) === SPACE
}

/** Whether a line is an item of a list. */
function isItem(text: string, start: number, end: number): boolean {
  return text.charCodeAt(start) === DASH && (start + 1 === end || text.charCodeAt(start + 1) === SPACE)
}

/** The colon after a key: the first that a space or the end of the line follows; -1 in a line that has no key. */
function colonIn(text: string, start: number, end: number): number {
  const code = text.charCodeAt(start)
  if (code === SPACE || code === TAB || code === HASH || isItem(text, start, end)) return -1
  for (let at = start; at < end; at++) {
    if (text.charCodeAt(at) !== COLON) continue
    const next = at + 1 === end ? SPACE : text.charCodeAt(at + 1)
    if (next === SPACE || next === TAB) return at
  }
  return -1
}

function keyOf(text: string, start: number, colon: number): string {
  const key = stripped(text.slice(start, colon))
  const quote = key[0]
  return (quote === '"' || quote === "'") && key.length > 1 && key.endsWith(quote) ? key.slice(1, -1) : key
}

/** Comments that turned out to stand alone. */
function flush(pending: readonly Line[], entries: Entry[]): Line[] {
  for (const { text, ...where } of pending) {
    if (stripped(text) !== '') entries.push({ key: null, ...where, rest: stripped(text), more: NONE })
  }
  return []
}
