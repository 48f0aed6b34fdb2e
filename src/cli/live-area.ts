import { widthOf } from './clipped.ts'
import type { Screen } from './screen.ts'

/** Lines at the end of a terminal that are written over, below those that stay. */
export class LiveArea {
  private readonly screen: Screen
  private shown: readonly string[] = []

  constructor(screen: Screen) {
    this.screen = screen
  }

  /** Adds lines that stay, and shows these below them instead of those before. */
  draw(staying: readonly string[], lines: readonly string[]): void {
    const same = staying.length === 0 && lines.length === this.shown.length
    if (same && lines.every((line, index) => line === this.shown[index])) return
    const above = staying.map(line => `${line}\n`).join('')
    const below = lines.map(line => `${line}\n`).join('')
    // Terminals do not agree on how wide some characters are: these lines are cut by the terminal rather than wrapped. In
    // one write with its undoing, so that nobody is left with it who ends us in between.
    const held = below === '' ? '' : `${NO_WRAP}${below}${WRAP}`
    this.screen.write(`${this.erasing()}${above}${held}`)
    this.shown = lines
  }

  /** Back to where the first of the lines began: on a terminal that was made narrower they take more rows than they did. */
  private erasing(): string {
    if (this.shown.length === 0) return ''
    const { columns } = this.screen.size()
    const rows = this.shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(plainWidth(line) / columns)), 0)
    return `\r\u001b[${rows}A\u001b[J`
  }
}

const NO_WRAP = '\u001b[?7l'
const WRAP = '\u001b[?7h'

function plainWidth(line: string): number {
  // oxlint-disable-next-line no-control-regex -- the colours of our own
  return widthOf(line.replace(/\u001b\[[\d;]*m/g, ''))
}
