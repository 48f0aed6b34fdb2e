import type { Screen } from '../../src/cli/screen.ts'

/** A terminal that is played: it does with what is written what a real one does, and remembers what should not happen. */
export class PlayedScreen implements Screen {
  readonly live = true
  readonly colour: boolean
  /** How often something was written. */
  writes = 0
  /** What went over the edge. */
  overflow = ''
  wraps = true
  written = ''
  private rows: string[][] = [[]]
  private row = 0
  private column = 0
  private readonly columns: number
  private readonly height: number

  constructor(columns: number, height: number, colour = false) {
    this.columns = columns
    this.height = height
    this.colour = colour
  }

  size() {
    return { columns: this.columns, rows: this.height }
  }

  /** What can be seen, and what has scrolled away above it. */
  get shown(): string[] {
    const lines = this.rows.map(cells => cells.join('').trimEnd())
    return lines.slice(0, lines.findLastIndex(line => line !== '') + 1)
  }

  write(text: string): void {
    this.writes++
    this.written += text
    // oxlint-disable-next-line no-control-regex -- what terminals understand
    for (const [part, , parameter = '', command] of text.matchAll(/(\u001b\[([?\d;]*)([A-Za-z]))|[^]/gu)) {
      if (command === undefined) this.put(part)
      else this.obey(command, parameter)
    }
  }

  private obey(command: string, parameter: string): void {
    // Nothing that has scrolled away can be reached.
    const top = Math.max(0, this.rows.length - this.height)
    if (command === 'A') this.row = Math.max(top, this.row - Number(parameter))
    else if (command === 'J') {
      this.rows = [...this.rows.slice(0, this.row), (this.rows[this.row] ?? []).slice(0, this.column)]
    } else if (parameter === '?7') this.wraps = command === 'h'
    else if (command !== 'm') throw new Error(`this terminal does not know ${JSON.stringify(command)}`)
  }

  private put(character: string): void {
    if (character === '\r') this.column = 0
    else if (character === '\n') {
      this.row++
      this.column = 0
      this.rows[this.row] ??= []
    } else {
      const width = /[\u{3000}-\u{9fff}\u{1f300}-\u{1faff}]/u.test(character) ? 2 : 1
      if (this.column + width > this.columns) this.overflow += character
      else this.rows[this.row]![this.column] = character
      if (width === 2) this.rows[this.row]![this.column + 1] = ''
      this.column += width
    }
  }
}
