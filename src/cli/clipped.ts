import { styleText } from 'node:util'
import { harmlessLine } from '../core/text.ts'
import type { Cell } from './table.ts'

/** Cells beside each other on one line that is no wider than a terminal: what does not fit is cut. */
export function clipped(cells: readonly Cell[], columns: number, colour: boolean): string {
  let left = columns
  let line = ''
  for (const { text, style } of cells) {
    const shown = cut(harmlessLine(text), left)
    left -= widthOf(shown)
    line += colour && style && shown ? styleText(style, shown, { validateStream: false }) : shown
  }
  return line
}

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of SEGMENTS.segment(text)) width += widthOfOne(segment)
  return width
}

function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let shown = ''
  let width = 0
  for (const { segment } of SEGMENTS.segment(text)) {
    width += widthOfOne(segment)
    // One column is for the mark that something is missing.
    if (width > columns - 1) break
    shown += segment
  }
  return columns > 0 ? `${shown}…` : ''
}

const SEGMENTS = new Intl.Segmenter()

function widthOfOne(segment: string): number {
  if (WIDE.test(segment)) return 2
  return /^\p{M}+$/u.test(segment) ? 0 : 1
}

const WIDE =
  /[\p{Emoji_Presentation}\u{fe0f}\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97f}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{20000}-\u{3fffd}]/u
