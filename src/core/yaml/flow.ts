import type { Complaint } from '../kind.ts'
import { stripped, strippedEnd } from './spaces.ts'

interface Found<T> {
  readonly value: T
  /** Where the text goes on. */
  readonly end: number
}

/** A value in quotes or brackets that begins at `at`; it may go on over line breaks. `line` is where the text begins. */
export function flowValue(text: string, at: number, line: number): Found<string | null | string[]> | Complaint {
  const found = text[at] === '[' ? list(text, at) : quoted(text, at)
  if ('at' in found) return { line: line + text.slice(0, found.at).split('\n').length - 1, message: found.message }
  return found.value === '' ? { value: null, end: found.end } : found
}

/** A fault at a place in the text. */
interface Fault {
  readonly at: number
  readonly message: string
}

function list(text: string, start: number): Found<string[]> | Fault {
  const value: string[] = []
  let at = start + 1
  let afterItem = false
  while (at < text.length) {
    const sign = text[at]!
    if (sign === ' ' || sign === '\t' || sign === '\n') at++
    else if (sign === '#' && text[at - 1] !== ',' && text[at - 1] !== '[') at = endOfLine(text, at)
    else if (sign === ']') return { value, end: at + 1 }
    else if (sign === ',') {
      afterItem = false
      at++
    } else if (afterItem) return { at, message: 'a comma is missing in the list' }
    else if (sign === '[' || sign === '{') return { at, message: 'a list or a map stands inside a list' }
    else if (sign === '&' || sign === '*' || sign === '!')
      return { at, message: `"${sign}" begins an anchor, an alias or a tag; put text in quotes` }
    else {
      const item = sign === '"' || sign === "'" ? quoted(text, at) : plainItem(text, at)
      if ('message' in item) return item
      if (item.value !== '') value.push(item.value)
      at = item.end
      afterItem = true
    }
  }
  return { at: start, message: 'the list is never closed: a ] is missing' }
}

function plainItem(text: string, start: number): Found<string> | Fault {
  let end = start
  for (; end < text.length; end++) {
    const sign = text[end]
    const next = text[end + 1]
    if (sign === ',' || sign === ']' || (sign === '#' && ' \t\n'.includes(text[end - 1]!))) break
    if (sign === '[' || sign === '{' || sign === '}') return { at: end, message: `put text with a ${sign} in quotes` }
    if (sign === ':' && (next === ' ' || next === '\n' || next === ',' || next === ']'))
      return { at: end, message: 'a map stands inside a list; put text with a colon in quotes' }
  }
  const words = text.slice(start, end)
  const value = words.includes('\n') ? words.split('\n').map(stripped).filter(Boolean).join(' ') : stripped(words)
  return { value: value === 'null' || value === '~' ? '' : value, end }
}

function quoted(text: string, start: number): Found<string> | Fault {
  const quote = text[start]!
  const close = text.indexOf(quote, start + 1)
  const simple = close < 0 ? undefined : text.slice(start + 1, close)
  if (simple !== undefined && text[close + 1] !== quote && !simple.includes('\\') && !simple.includes('\n'))
    return { value: simple, end: close + 1 }
  let value = ''
  // Spaces before a line break do not count, unless they were escaped.
  let solid = 0
  for (let at = start + 1; at < text.length; at++) {
    const sign = text[at]!
    if (sign === '\n') {
      const { end, breaks } = lineBreaks(text, at)
      value = value.slice(0, solid) + strippedEnd(value.slice(solid)) + (breaks === 1 ? ' ' : '\n'.repeat(breaks - 1))
      solid = value.length
      at = end - 1
    } else if (sign === quote) {
      if (quote === '"' || text[at + 1] !== "'") {
        if (value.includes('\0') || !value.isWellFormed())
          return { at, message: 'the text holds a NUL or half a character' }
        return { value, end: at + 1 }
      }
      value += "'"
      at++
    } else if (sign === '\\' && quote === '"') {
      const escape = escaped(text, at + 1)
      if ('message' in escape) return escape
      value += escape.value
      solid = value.length
      at = escape.end - 1
    } else value += sign
  }
  return { at: start, message: `the text is never closed: a ${quote} is missing` }
}

function lineBreaks(text: string, start: number): { readonly end: number; readonly breaks: number } {
  let breaks = 0
  let end = start
  for (; end < text.length && ' \t\n'.includes(text[end]!); end++) if (text[end] === '\n') breaks++
  return { end, breaks }
}

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    0: '\0',
    a: '\u0007',
    b: '\b',
    t: '\t',
    '\t': '\t',
    n: '\n',
    v: '\v',
    f: '\f',
    r: '\r',
    e: '\u001b',
  })
    .concat(Object.entries({ ' ': ' ', '"': '"', '/': '/', '\\': '\\' }))
    .concat(Object.entries({ N: '\u0085', _: '\u00a0', L: '\u2028', P: '\u2029' })),
)
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

function escaped(text: string, at: number): Found<string> | Fault {
  const sign = text[at] ?? ''
  if (sign === '\n') {
    let end = at + 1
    while (text[end] === ' ' || text[end] === '\t') end++
    return { value: '', end }
  }
  const known = ESCAPES.get(sign)
  if (known !== undefined) return { value: known, end: at + 1 }
  const digits = text.slice(at + 1, at + 1 + (HEX_DIGITS[sign] ?? 0))
  const code =
    /^[0-9a-f]+$/i.test(digits) && digits.length === HEX_DIGITS[sign] ? Number.parseInt(digits, 16) : Infinity
  if (code > 0x10ffff) return { at, message: `"\\${sign}" cannot be read; write a backslash in double quotes as \\\\` }
  return { value: String.fromCodePoint(code), end: at + 1 + digits.length }
}

function endOfLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at)
  return newline < 0 ? text.length : newline
}
