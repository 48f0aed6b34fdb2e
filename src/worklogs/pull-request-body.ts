import { blocksOf, type Line } from './pull-request-blocks.ts'

/** The marks around our section: comments, which nobody sees. */
export const BEGIN = '<!-- punchlist:work-session -->'
export const END = '<!-- /punchlist:work-session -->'

/** A body without its sections about a session, and where the first of them stood; undefined where there was none. */
export function withoutSections(body: string): { readonly rest: string; readonly at: number | undefined } {
  let rest = body
  let at: number | undefined
  // What is taken out can bring together what then reads as a section of its own.
  for (let found = sectionsIn(rest); found.length > 0; found = sectionsIn(rest)) {
    // Another one comes to stand where the first was: its line stays.
    const cuts =
      at === undefined
        ? [found[0]!, ...found.slice(1).map(cut => withLine(rest, cut))]
        : found.map(cut => withLine(rest, cut))
    at = movedBy(cuts, at ?? found[0]!.start)
    rest = [{ end: 0 }, ...cuts].map(({ end }, n) => rest.slice(end, cuts[n]?.start)).join('')
  }
  return { rest, at }
}

/**
 * Where a section can stand that was to stand at `at`, the beginning of a line or
 * the end. A fence, a comment or a `<details>` that nothing closes takes in all
 * that follows, so the section goes before it. To close it would do as well, but
 * for a fence in a list, which ends with the list: there it would open another.
 */
export function clearPlace(rest: string, at: number): number {
  const { lines, open } = blocksOf(rest)
  const wanted = Math.min(at, open ?? at)
  return lines.find(({ start }) => start === wanted)?.block ?? wanted
}

interface Range {
  readonly start: number
  readonly end: number
}

/** Ours between its marks; one that has lost its end; one that another program wrote. */
function sectionsIn(body: string): Range[] {
  const { lines } = blocksOf(body)
  const found: Range[] = []
  for (let n = 0; n < lines.length; n++) {
    const last = lastOf(lines, n)
    if (last === undefined) continue
    found.push({ start: lines[n]!.start, end: lines[last]!.end })
    n = last
  }
  return found
}

function lastOf(lines: readonly Line[], first: number): number | undefined {
  if (isMark(lines[first], BEGIN)) {
    let next = first + 1
    while (next < lines.length && !isMark(lines[next], END) && !isMark(lines[next], BEGIN)) next++
    if (isMark(lines[next], END)) return next
    const below = filledAfter(lines, first)
    return lastBeforeOthers(lines, isOurHeading(lines[below]) ? below : first)
  }
  const foreign =
    isOurHeading(lines[first]) && /^ {0,3}<details[\s>]/i.test(lines[filledAfter(lines, first)]?.text ?? '')
  return foreign ? lastBeforeOthers(lines, first) : undefined
}

function isMark(line: Line | undefined, mark: string): boolean {
  return line !== undefined && line.inside !== 'code' && line.text.startsWith(mark) && line.text.trimEnd() === mark
}

function isOurHeading(line: Line | undefined): boolean {
  return line?.inside === 'text' && /^ {0,3}##[ \t]+Work Session[ \t]*#*[ \t]*$/i.test(line.text)
}

function filledAfter(lines: readonly Line[], first: number): number {
  let n = first + 1
  while (isBlank(lines[n])) n++
  return n
}

/** Up to the next heading of the first or second level, a line across, or another section of ours. */
function lastBeforeOthers(lines: readonly Line[], first: number): number {
  let n = first + 1
  while (n < lines.length && !isMark(lines[n], BEGIN) && !begins(lines, n)) n++
  while (isBlank(lines[n - 1])) n--
  return n - 1
}

function begins(lines: readonly Line[], n: number): boolean {
  const { inside, text } = lines[n]!
  if (inside !== 'text') return false
  if (/^ {0,3}(?:##?(?:[ \t]|$)|([-*_])(?:[ \t]*\1){2,}[ \t]*$)/.test(text)) return true
  // A heading can also be a paragraph with a line under it.
  if (!isBlank(lines[n - 1]) || isBlank(lines[n]) || /^(?: {4}|\t| {0,3}(?:[-*+>|#]|\d+[.)]))/.test(text)) return false
  let below = n + 1
  while (lines[below]?.inside === 'text' && !isBlank(lines[below]) && !UNDERLINE.test(lines[below]!.text)) below++
  return lines[below]?.inside === 'text' && UNDERLINE.test(lines[below]!.text)
}

const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/

function isBlank(line: Line | undefined): boolean {
  return line !== undefined && line.text.trim() === ''
}

/** With the break that ends its last line, and a blank one after that. */
function withLine(body: string, { start, end }: Range): Range {
  const after = /(?:\r?\n)?(?:[ \t]*\r?\n)?/y
  after.lastIndex = end
  after.exec(body)
  return { start, end: Math.max(end, after.lastIndex) }
}

/** Where a place is when ranges before it were taken out; the beginning of one that it was in. */
function movedBy(cuts: readonly Range[], at: number): number {
  return cuts.reduce((place, { start, end }) => place - Math.max(0, Math.min(end, at) - Math.min(start, at)), at)
}
