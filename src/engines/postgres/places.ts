/**
 * Where the drafts of one batch go in one list, worked out without touching it.
 * `end` is the place behind the last item there is.
 */
export class Places {
  /** Items there already move back by one for each of these numbers that is not above their place. */
  readonly moved: number[] = []
  private readonly before: number
  private readonly mine: number[] = []

  constructor(end: number) {
    this.before = end
  }

  /** Puts one more in, at the end when `at` is absent or beyond it; gives the index to ask `placeOf` by. */
  add(at: number | undefined): number {
    const end = this.before + this.mine.length
    const place = Math.min(at ?? end, end)
    if (place < end) {
      for (const [index, other] of this.mine.entries()) if (other >= place) this.mine[index] = other + 1
      const from = this.firstStandingAt(place)
      if (from < this.before) this.moved.push(from)
    }
    return this.mine.push(place) - 1
  }

  /** Final once the whole batch is in. */
  placeOf(index: number): number {
    return this.mine[index]!
  }

  /** The lowest original place that by now stands at `place` or behind it. */
  private firstStandingAt(place: number): number {
    let from = Math.max(0, place - this.moved.length)
    while (from + this.moved.filter(step => step <= from).length < place) from++
    return from
  }
}
