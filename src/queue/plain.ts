import { outline } from '../core/markdown.ts'

/** Text as it is written in a section: a backslash before each line that would be read as a heading, or as a fence that nothing closes. */
export function plain(text: string): string {
  return outsideFences(text, line => line.replace(STRUCTURE, '$1\\$2'))
}

/** The same text, as it was meant. */
export function meant(text: string): string {
  return outsideFences(text, line => line.replace(ESCAPED, '$1$2'))
}

/** Headings of the first two levels divide a file of ours; further ones are part of a text. */
const MARK = '(?=#{1,2}(?:[ \\t\\r]|$)|`{3,}[^`]*$|~{3,})'
const STRUCTURE = new RegExp(`^( {0,3})(\\\\*)${MARK}`)
const ESCAPED = new RegExp(`^( {0,3})\\\\(\\\\*)${MARK}`)

/** Fenced code is left as it is: nothing in it is read as structure. */
function outsideFences(text: string, change: (line: string) => string): string {
  const changed = (from: number, to?: number) => text.slice(from, to).split('\n').map(change).join('\n')
  let done = ''
  let at = 0
  // The outline is asked of lines that each follow a line break.
  for (const [start, end] of outline(`\n${text}`, 0).fences) {
    done += changed(at, start - 1) + text.slice(start - 1, end - 1)
    at = end - 1
  }
  return done + changed(at)
}
