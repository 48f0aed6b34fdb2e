import type { styleText } from 'node:util'
import { harmlessLine } from '../core/text.ts'

type Style = Parameters<typeof styleText>[0]

/** One cell: text as it came, and how it looks on a terminal. */
export interface Cell {
  readonly text: string
  readonly style?: Style | undefined
}

/** Columns, each as wide as its widest cell. Whatever a cell holds, it stays in its place and takes no effect. */
export function table(rows: readonly (readonly (Cell | string | null)[])[], colour: boolean): string {
  const given = rows.map(row =>
    row.map(cell => (typeof cell === 'string' || cell === null ? { text: cell ?? '' } : cell)),
  )
  // Looked at once: most tables are plain, and a short-lived process pays for every cell it looks at.
  const plain = !/[^ -~]/.test(given.map(row => row.map(({ text }) => text).join('')).join(''))
  const cells: Cell[][] = plain
    ? given
    : given.map(row => row.map(cell => ({ ...cell, text: harmlessLine(cell.text) })))
  const widths: number[] = []
  for (const row of cells) {
    row.forEach(({ text }, column) => {
      widths[column] = Math.max(widths[column] ?? 0, text.length)
    })
  }
  const lines = cells.map(row =>
    row.map(({ text, style }, column) => {
      const gap = ' '.repeat(widths[column]! - text.length)
      return (colour && style && text ? painted(style, text) : text) + gap
    }),
  )
  return lines.map(line => line.join('  ').trimEnd()).join('\n')
}

function painted(style: Style, text: string): string {
  return process.getBuiltinModule('node:util').styleText(style, text, { validateStream: false })
}
