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

/** Ours between its marks; one that has lost its end, as far as it is ours; one that another program wrote. */
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
    const below = filledAfter(lines, first)
    const ours = isOurHeading(lines[below])
    let next = ours ? below + 1 : below
    // A heading that none of ours has in it says that the end of this one is lost, and that what comes next is another's.
    while (next < lines.length && !isMark(lines[next], BEGIN) && !isMark(lines[next], END) && !isHigh(lines[next]))
      next++
    if (isMark(lines[next], END)) return next
    return ours ? lastWritten(lines, below) : first
  }
  if (!isOurHeading(lines[first]) || !isFold(lines[filledAfter(lines, first)])) return undefined
  const last = lastWritten(lines, first)
  const end = filledAfter(lines, last)
  return isMark(lines[end], END) ? end : last
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

function isFold(line: Line | undefined): boolean {
  return line !== undefined && line.inside !== 'code' && /^ {0,3}<details[\s>]/i.test(line.text)
}

/**
 * The last line of a section that begins with this heading and has no end: of
 * the fold and the two lists that belong to it, as far as they are there. Whatever
 * else stands below is somebody's own, and stays.
 */
function lastWritten(lines: readonly Line[], heading: number): number {
  const fold = filledAfter(lines, heading)
  let last = isFold(lines[fold]) ? endOfFold(lines, fold) : heading
  for (const title of LISTS) {
    const next = filledAfter(lines, last)
    if (lines[next]?.inside === 'text' && title.test(lines[next].text)) last = endOfList(lines, next)
  }
  return last
}

const LISTS = [/^ {0,3}###[ \t]+Key Decisions[ \t]*#*[ \t]*$/i, /^ {0,3}###[ \t]+Known Issues[ \t]*#*[ \t]*$/i]

/** Where a fold ends; its first line where nothing closes it before another section begins. */
function endOfFold(lines: readonly Line[], first: number): number {
  let n = first
  while (n < lines.length && !isMark(lines[n], BEGIN) && !isHigh(lines[n])) {
    if (lines[n]!.inside !== 'code' && /^ {0,3}<\/details>[ \t]*$/i.test(lines[n]!.text)) return n
    n++
  }
  return first
}

/** The items right below a heading, and how many of them are shown: a blank line ends the list. */
function endOfList(lines: readonly Line[], heading: number): number {
  let last = heading
  while (lines[last + 1]?.inside === 'text' && /^(?:- | {2,}\S)/.test(lines[last + 1]!.text)) last++
  const next = filledAfter(lines, last)
  return /^\d+ of \d+ [a-z]+[ \t]*$/.test(lines[next]?.text ?? '') ? next : last
}

/** A heading of the first or second level. */
function isHigh(line: Line | undefined): boolean {
  return line?.inside === 'text' && /^ {0,3}##?(?:[ \t]|$)/.test(line.text)
}

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
