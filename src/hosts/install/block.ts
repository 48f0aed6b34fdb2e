import { Unreadable } from './json.ts'
import { lineBreak } from './json-editing.ts'
import type { Piece } from './piece.ts'

/** Adds lines at the end of a text, a blank line before them; a text that has no last line break gets none. */
export function appended(text: string | undefined, block: readonly string[]): string {
  if (text === undefined) return `${block.join('\n')}\n`
  const eol = lineBreak(text)
  const lines = block.join(eol)
  return text === '' || text.endsWith('\n') ? `${text}${eol}${lines}${eol}` : `${text}${eol}${eol}${lines}`
}

/** Takes lines out of a text, with the blank line that was put before them; undefined where nothing else was there. */
export function withoutLines(text: string, from: number, to: number): string | undefined {
  const [before, after] = [text.slice(0, from), text.slice(to)]
  if (before === '' && after === '') return undefined
  const gap = /(?:^|\n)(\r?\n)$/.exec(before)?.[1]
  const kept = gap === undefined ? before : before.slice(0, -gap.length)
  const unended = after === '' && !text.endsWith('\n')
  return (unended ? kept.replace(/\r?\n$/, '') : kept) + after
}

/** Where the line ends that this place is in, its line break included. */
export function lineEnd(text: string, place: number): number {
  const newline = text.indexOf('\n', place)
  return newline === -1 ? text.length : newline + 1
}

const BEGIN = '<!-- punchlist: written by punchlist init; --remove takes it out -->'
const END = '<!-- /punchlist -->'

/** A passage in a file of instructions, between two marks. */
export function passage(root: string, path: string, text: string): Piece {
  const block = [BEGIN, ...text.trimEnd().split('\n'), END]
  return {
    name: 'instructions',
    root,
    path,
    put(file) {
      const place = file === undefined ? undefined : placeOf(file)
      if (file === undefined || !place) return appended(file, block)
      const there = file.slice(place.from, place.to)
      const wanted = block.join(lineBreak(file)) + (/\r?\n$/.exec(there)?.[0] ?? '')
      return file.slice(0, place.from) + wanted + file.slice(place.to)
    },
    take(file) {
      const place = placeOf(file)
      return place ? withoutLines(file, place.from, place.to) : file
    },
    look: file => (placeOf(file) ? 'there' : 'missing'),
  }
}

function placeOf(text: string): { from: number; to: number } | undefined {
  const begin = /^<!-- punchlist: .*-->[ \t]*\r?$/m.exec(text)
  if (!begin) return undefined
  const end = text.indexOf(END, begin.index)
  if (end === -1) throw new Unreadable(text, begin.index, `the line ${END} that ends this passage is missing`)
  return { from: begin.index, to: lineEnd(text, end) }
}
