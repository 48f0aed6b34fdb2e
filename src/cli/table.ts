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
  const raw = rows.map(row => row.map(cell => (typeof cell === 'string' ? cell : cell.text)))
  // Looked at once: most tables are plain, and a short-lived process pays for every cell it looks at.
  const plain = !/[^ -~]/.test(raw.map(row => row.join('')).join(''))
  const texts = plain ? raw : raw.map(row => row.map(harmlessLine))
  const widths: number[] = []
  for (const row of texts) {
    for (let column = 0; column < row.length; column++) {
      widths[column] = Math.max(widths[column] ?? 0, row[column]!.length)
    }
  }
  return texts
    .map((row, index) =>
      row
        .map((text, column) => {
          const cell = rows[index]![column]!
          const style = colour && text && typeof cell !== 'string' ? cell.style : undefined
          return (style ? painted(style, text) : text) + ' '.repeat(widths[column]! - text.length)
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function painted(style: Style, text: string): string {
  return process.getBuiltinModule('node:util').styleText(style, text, { validateStream: false })
}
