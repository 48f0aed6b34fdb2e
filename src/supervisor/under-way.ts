/**
 * The tool calls of a turn that have not ended. The SDK begins all calls of one
 * step at the same time; a check that is run for a completion would judge work
 * that the call before it is still doing.
 */
export class UnderWay {
  private readonly calls = new Set<Promise<unknown>>()

  add(call: Promise<unknown>): void {
    const over: Promise<unknown> = call.then(
      () => this.calls.delete(over),
      () => this.calls.delete(over),
    )
    this.calls.add(over)
  }

  /** Waits for everything that was called up to now, or for the signal. */
  async ended(signal: AbortSignal): Promise<void> {
    if (this.calls.size === 0 || signal.aborted) return
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
    const listener = () => stop()
    signal.addEventListener('abort', listener, { once: true })
    await Promise.race([Promise.all(this.calls), stopped])
    signal.removeEventListener('abort', listener)
  }
}
