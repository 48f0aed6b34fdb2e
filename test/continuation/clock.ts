import type { Clock } from '../../src/continuation/index.ts'

/** Time that passes only when it is told to. */
export class VirtualClock implements Clock {
  #now: number
  #next = 1
  readonly #timers = new Map<number, { at: number; run: () => void }>()

  constructor(now = 1_000_000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  setTimeout(run: () => void, milliseconds: number): number {
    const timer = this.#next++
    this.#timers.set(timer, { at: this.#now + milliseconds, run })
    return timer
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number)
  }

  get waiting(): number {
    return this.#timers.size
  }

  /** As when a process ends. */
  forget(): void {
    this.#timers.clear()
  }

  /** Lets time pass; whatever rings meanwhile is heard out before it goes on. */
  async pass(milliseconds: number): Promise<void> {
    const until = this.#now + milliseconds
    await settled()
    for (let due = this.#due(until); due; due = this.#due(until)) {
      const [timer, { at, run }] = due
      this.#timers.delete(timer)
      this.#now = Math.max(this.#now, at)
      run()
      await settled()
    }
    this.#now = until
  }

  #due(until: number) {
    return [...this.#timers].filter(([, { at }]) => at <= until).toSorted(([, a], [, b]) => a.at - b.at)[0]
  }
}

/** Everything that can go on without time passing has gone on. */
export async function settled(): Promise<void> {
  await new Promise(done => setImmediate(done))
}
