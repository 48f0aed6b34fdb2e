import { list } from '../reading.ts'
import type { Talk } from '../talk.ts'

/**
 * Keeps the plan over a compaction. The model that sums up is told of it, and
 * the plan itself is put below the summary, which stands in the history from
 * then on: whatever the summary makes of it, the plan is there.
 */
export function cutting(talk: Talk) {
  const plans = new Map<string, string>()

  return {
    async begins(session: string | undefined, output: Readonly<Record<string, unknown>>): Promise<void> {
      if (session === undefined) return
      plans.delete(session)
      const { plan } = await talk.recall(session)
      if (plan === '') return
      plans.set(session, plan)
      ;(list(output['context']) as unknown[]).push(plan)
    },

    /** The first text that is completed after a compaction began is its summary. */
    written(session: string | undefined, output: Record<string, unknown>): void {
      const plan = session === undefined ? undefined : plans.get(session)
      if (plan === undefined) return
      plans.delete(session!)
      output['text'] = `${String(output['text'])}\n\n${plan}`
    },
  }
}
