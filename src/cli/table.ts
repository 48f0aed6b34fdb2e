import { styleText } from 'node:util'
import { harmlessLine } from '../core/text.ts'

type Style = Parameters<typeof styleText>[0]

/** One cell: text as it came, and how it looks on a terminal. */
export interface Cell {
  readonly text: string
  readonly style?: Style | undefined
}

/** Columns, each as wide as its widest cell. Whatever a cell holds, it stays in its place and takes no effect. */
export function table(rows: readonly (readonly (Cell | string | null)[])[], colour: boolean): string {
  const cells = rows.map(row => row.map(cell => plain(cell)))
  const widths: number[] = []
  for (const row of cells) {
    row.forEach(({ text }, column) => {
      widths[column] = Math.max(widths[column] ?? 0, text.length)
    })
  }
  const lines = cells.map(row =>
    row.map(({ text, style }, column) => {
      const gap = ' '.repeat(widths[column]! - text.length)
      return (colour && style ? styleText(style, text, { validateStream: false }) : text) + gap
    }),
  )
  return lines.map(line => line.join('  ').trimEnd()).join('\n')
}

function plain(cell: Cell | string | null): Cell {
  const { text, style } = typeof cell === 'string' || cell === null ? { text: cell ?? '' } : cell
  return { text: harmlessLine(text), style }
}
