import { oneLine } from '../../core/markdown.ts'

/**
 * Text as the item of a list, so that it is nothing but text: what would begin
 * a check box, a list, a heading, code, a quote or a rule gets a backslash,
 * which markdown takes off again, and `asRead` with it.
 */
export function inert(text: string): string {
  const [, digits = ''] = /^(\d{0,9})/.exec(text)!
  const rest = text.slice(digits.length)
  const structural = digits === '' ? BLOCK.test(text) || isRule(text) : ORDINAL.test(rest)
  return structural || ESCAPED.test(text) ? `${digits}\\${rest}` : text
}

export function asRead(text: string): string {
  return text.includes('\\') && ESCAPED.test(text) ? text.replace('\\', '') : text
}

/** A subject as the end of a heading: signs that would only close the heading are escaped. */
export function inertSubject(subject: string): string {
  const text = oneLine(subject)
  const end = signsBefore(text)
  return end < text.length && (end === 0 || ' \t\\'.includes(text[end - 1]!))
    ? `${text.slice(0, end)}\\${text.slice(end)}`
    : text
}

/** The text of a heading, without the signs that close it. */
export function headingText(raw: string): string {
  const text = raw.trim()
  const end = signsBefore(text)
  if (end === text.length) return text
  if (end === 0 || text[end - 1] === ' ' || text[end - 1] === '\t') return text.slice(0, end).trimEnd()
  return text[end - 1] === '\\' ? text.slice(0, end - 1) + text.slice(end) : text
}

const BLOCK = /^(?:[-*+](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|[><]|```|~~~|\[[ \txX]\](?:[ \t]|$)|\[[^\]]{1,200}\]:)/
const ORDINAL = /^[.)](?:[ \t]|$)/
const ESCAPED = /^\d{0,9}\\[!-/:-@[-`{-~]/

/** Two signs are enough: the marker of the item may be the third. */
function isRule(text: string): boolean {
  return /^[-*_]/.test(text) && text.length > 1 && text.replaceAll(text[0]!, '').trim() === ''
}

/** Where the `#` signs begin that a text ends with. */
function signsBefore(text: string): number {
  let end = text.length
  while (text.charCodeAt(end - 1) === 35) end--
  return end
}
