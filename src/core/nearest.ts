/** The known word closest to what was typed, if it is close enough to be meant. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map(word => ({ word, steps: distance(typed.slice(0, 40), word) }))
    .toSorted((a, b) => a.steps - b.steps)
  const best = ranked[0]
  return best && best.steps <= Math.max(1, Math.floor(best.word.length / 3)) ? best.word : undefined
}

/** How many letters must be added, dropped, changed or swapped with their neighbour to get from one word to the other. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, n) => n)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const change = rows[i - 1]![j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swap = swapped ? rows[i - 2]![j - 2]! + 1 : Infinity
      row.push(Math.min(change, swap, rows[i - 1]![j]! + 1, row[j - 1]! + 1))
    }
    rows.push(row)
  }
  return rows[from.length]![to.length]!
}
