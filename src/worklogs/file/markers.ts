/** Whether an item of a list begins here. */
export function isMarker(text: string, at: number, end: number): boolean {
  const after = afterMarker(text, at)
  return after > at && isGap(text, after, end)
}

/** Where a marker ends; where it begins when there is none. */
export function afterMarker(text: string, first: number): number {
  let code = text.charCodeAt(first)
  if (code === DASH || code === STAR || code === PLUS) return first + 1
  let at = first
  while (code >= ZERO && code <= NINE && at - first < 10) code = text.charCodeAt(++at)
  const isNumber = at > first && at - first < 10
  return isNumber && (code === DOT || code === PAREN) ? at + 1 : first
}

/** Whether a space, a tab or the end of the line is here. */
export function isGap(text: string, at: number, end: number): boolean {
  const code = text.charCodeAt(at)
  return at >= end || code === SPACE || code === TAB || code === CR
}

const TAB = 9
const CR = 13
const SPACE = 32
const PAREN = 41
const STAR = 42
const PLUS = 43
const DASH = 45
const DOT = 46
const ZERO = 48
const NINE = 57
