import type { ModelMessage } from 'ai'
import type { ProviderOptions } from './options.ts'

/** The end of what was said before, from a user's message on: an answer without its question confuses a model, and a tool's without its call is refused. */
export function recent(history: readonly ModelMessage[], limit: number): ModelMessage[] {
  const end = limit > 0 ? history.slice(-limit) : []
  const first = end.findIndex(({ role }) => role === 'user')
  return first < 0 ? [] : end.slice(first)
}

/**
 * What the model is sent in a turn. What was sent once stays as it is, so that
 * providers find it in their caches; only the plan at the end is another each time,
 * and is not kept. When there is too much, the older half of what was said in this
 * turn goes at once, and never the user's message.
 */
export class Transcript {
  private readonly head: readonly ModelMessage[]
  private readonly limit: number
  /** A call and what its tools answered belong together. */
  private steps: (readonly ModelMessage[])[] = []

  constructor(head: readonly ModelMessage[], limit: number) {
    this.head = head
    this.limit = limit
  }

  add(step: readonly ModelMessage[]): void {
    if (step.length > 0) this.steps.push(step)
    if (this.length <= this.limit) return
    while (this.steps.length > 1 && this.length > this.limit / 2) this.steps = this.steps.slice(1)
  }

  private get length(): number {
    return this.steps.reduce((sum, step) => sum + step.length, 0)
  }

  /** The messages of the next call. */
  with(plan: string, cachePoint: ProviderOptions | undefined): ModelMessage[] {
    const kept = [...this.head, ...this.steps.flat()]
    const last = kept.at(-1)
    if (cachePoint && last)
      kept[kept.length - 1] = { ...last, providerOptions: { ...last.providerOptions, ...cachePoint } }
    return plan === '' ? kept : [...kept, { role: 'user', content: plan }]
  }
}
