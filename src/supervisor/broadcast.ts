/** Values as they come, for as many readers as there are, each from the first one on. */
export class Broadcast<T> {
  private readonly values: T[] = []
  private waiting: (() => void)[] = []
  private over = false
  private failure: { readonly error: unknown } | undefined

  push(value: T): void {
    this.values.push(value)
    this.wake()
  }

  end(): void {
    this.over = true
    this.wake()
  }

  fail(error: unknown): void {
    this.failure = { error }
    this.end()
  }

  async *read(): AsyncGenerator<T, void, undefined> {
    for (let next = 0; ; ) {
      if (next < this.values.length) yield this.values[next++]!
      else if (this.failure) throw this.failure.error
      else if (this.over) return
      else await new Promise<void>(done => this.waiting.push(done))
    }
  }

  private wake(): void {
    const waiting = this.waiting
    this.waiting = []
    for (const done of waiting) done()
  }
}
