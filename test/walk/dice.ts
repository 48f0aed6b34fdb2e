/** A generator of numbers that gives the same ones for the same seed. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1. */
  roll(): number {
    // Mulberry32: 32 bits of state, each value once.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 up to `below`. */
  under(below: number): number {
    return Math.floor(this.roll() * below)
  }

  chance(probability: number): boolean {
    return this.roll() < probability
  }

  pick<T>(from: readonly T[]): T {
    return from[this.under(from.length)]!
  }

  /** One of the names, each as often as its weight says. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][]
    let left = this.roll() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) if ((left -= weight) < 0) return name
    return entries.at(-1)![0]
  }
}
