import type { styleText } from 'node:util'
import { harmlessLine } from '../core/text.ts'

type Style = Parameters<typeof styleText>[0]

/** One cell: text as it came, and how it looks on a terminal. */
export interface Cell {
  readonly text: string
  readonly style?: Style | undefined
}

/** Columns, each as wide as its widest cell. Whatever a cell holds, it stays in its place and takes no effect. */
export function table(rows: readonly (readonly (Cell | string)[])[], colour: boolean): string {
  const widths: number[] = []
  let all = ''
  for (const row of rows) {
    for (let column = 0; column < row.length; column++) {
      const text = textOf(row[column]!)
      all += text
      if (text.length > (widths[column] ?? -1)) widths[column] = text.length
    }
  }
  // Looked at once: most tables are plain, and a short-lived process pays for every cell it looks at.
  if (/[^ -~]/.test(all)) {
    const shown = rows.map(row => row.map(cell => (typeof cell === 'string' ? harmlessLine(cell) : harmlessCell(cell))))
    return laidOut(shown, widthsOf(shown), colour)
  }
  return laidOut(rows, widths, colour)
}

/** Text that is there for whoever looks twice. */
export function faint(text: string): Cell {
  return { text, style: 'dim' }
}

/** Makes cells of words that have a look of their own. */
export function painter(styles: Readonly<Record<string, Style>>): (text: string) => Cell {
  return text => ({ text, style: styles[text] })
}

/** Lines below each other; those without anything are left out. */
export function lines(...parts: readonly string[]): string {
  return parts.filter(Boolean).join('\n')
}

function laidOut(rows: readonly (readonly (Cell | string)[])[], widths: readonly number[], colour: boolean): string {
  const gaps = widths.map(width => ' '.repeat(width))
  let all = ''
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!
    let line = ''
    for (let column = 0; column < row.length; column++) {
      const cell = row[column]!
      const text = textOf(cell)
      const style = colour && text && typeof cell !== 'string' ? cell.style : undefined
      if (column > 0) line += '  '
      line += style ? styled(style, text) : text
      line += gaps[column]!.slice(text.length)
    }
    all += index > 0 ? `\n${line.trimEnd()}` : line.trimEnd()
  }
  return all
}

function widthsOf(rows: readonly (readonly (Cell | string)[])[]): number[] {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, textOf(cell).length)))
  }
  return widths
}

function textOf(cell: Cell | string): string {
  return typeof cell === 'string' ? cell : cell.text
}

function harmlessCell({ text, style }: Cell): Cell {
  return { text: harmlessLine(text), style }
}

function styled(style: Style, text: string): string {
  return process.getBuiltinModule('node:util').styleText(style, text, { validateStream: false })
}
