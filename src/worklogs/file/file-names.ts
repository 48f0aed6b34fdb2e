import { oneLine } from '../../core/markdown.ts'

/** Files as they are named in one line: each as a code span, whatever it is called. */
export function namedFiles(files: readonly string[]): string {
  return storedFiles(files).map(span).join(', ')
}

/** The names as they are kept. */
export function storedFiles(files: readonly string[]): string[] {
  return [...new Set(files.map(oneLine).filter(name => name !== ''))]
}

/** The files that a line names: code spans, or what stands between commas. */
export function filesIn(text: string): string[] {
  if (text === '') return []
  return ours(text) ?? anyFilesIn(text)
}

/** Written our way, and no backtick in a name: found without more ado. */
function ours(text: string): string[] | undefined {
  if (text.charCodeAt(0) !== TICK) return undefined
  const names: string[] = []
  for (let at = 0; ; ) {
    const end = text.indexOf('`', at + 1)
    if (end <= at + 1 || text.charCodeAt(at + 1) === SPACE) return undefined
    names.push(text.slice(at + 1, end))
    if (end === text.length - 1) return names
    if (!text.startsWith(', `', end + 1)) return undefined
    at = end + 3
  }
}

function anyFilesIn(text: string): string[] {
  const spans = spansIn(text)
  const names: string[] = []
  let start = 0
  let depth = 0
  let next = 0
  for (let at = 0; at <= text.length; at++) {
    if (spans[next]?.start === at) at = spans[next++]!.end
    const code = text.charCodeAt(at)
    if (code === OPEN) depth++
    else if (code === CLOSE && depth > 0) depth--
    else if (at >= text.length || (code === COMMA && depth === 0)) {
      names.push(...namesIn(text, start, at, spans, next).filter(name => name !== ''))
      start = at + 1
    }
  }
  return names
}

interface Span {
  readonly start: number
  readonly end: number
  readonly name: string
}

const SPACE = 32
const OPEN = 40
const CLOSE = 41
const COMMA = 44
const TICK = 96

/** One part: the code spans it begins with, else its words without what is remarked about them. */
function namesIn(text: string, start: number, end: number, spans: readonly Span[], before: number): string[] {
  let first = before
  while (first > 0 && spans[first - 1]!.start >= start) first--
  const names: string[] = []
  let at = start
  for (; first < before && BETWEEN.test(text.slice(at, spans[first]!.start)); first++) {
    names.push(spans[first]!.name)
    at = spans[first]!.end
  }
  if (names.length > 0) return names
  const words = text.slice(start, end).trim()
  const name = words.replace(REMARK, '').trim()
  return NONE.test(name) ? [] : [name]
}

const BETWEEN = /^\s*(?:(?:and|&|\+)\s*)?$/i
// The first sign of a remark ends the name: a pattern that looked for more would search a long line again and again.
const REMARK = /(?: [-–—(] ?|: )[^]*$/
const NONE = /^(?:none|n\/a|null|nothing|[-–—]*)\.?$/i

/** As markdown finds them: backticks, up to as many again. */
function spansIn(text: string): Span[] {
  const runs: { at: number; length: number }[] = []
  for (let at = text.indexOf('`'); at >= 0; ) {
    let end = at
    while (text.charCodeAt(end) === TICK) end++
    runs.push({ at, length: end - at })
    at = text.indexOf('`', end)
  }
  const later = new Map<number, number[]>()
  for (let n = runs.length - 1; n >= 0; n--) {
    const { length } = runs[n]!
    const same = later.get(length)
    if (same) same.push(n)
    else later.set(length, [n])
  }
  const spans: Span[] = []
  for (let n = 0; n < runs.length; n++) {
    const { at, length } = runs[n]!
    const same = later.get(length)!
    while (same.length > 0 && same.at(-1)! <= n) same.pop()
    const close = same.at(-1)
    if (close === undefined) continue
    spans.push({ start: at, end: runs[close]!.at + length, name: inner(text.slice(at + length, runs[close]!.at)) })
    n = close
  }
  return spans
}

function inner(text: string): string {
  const padded = text.startsWith(' ') && text.endsWith(' ') && text.trim() !== ''
  return (padded ? text.slice(1, -1) : text).trim()
}

function span(name: string): string {
  let longest = 0
  for (const [run] of name.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  const pad = name.startsWith('`') || name.endsWith('`') ? ' ' : ''
  return fence + pad + name + pad + fence
}
