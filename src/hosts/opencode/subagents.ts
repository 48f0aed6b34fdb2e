import { record, text } from '../reading.ts'
import type { Talk } from '../talk.ts'

/**
 * A subagent's answer is its parent's as soon as it stops, so it is not sent on
 * by itself: two would work at once, and nobody would hear the second answer.
 * The parent is told instead, and can let it go on.
 */
export async function leftOpen(talk: Talk, output: Record<string, unknown>): Promise<void> {
  const { sessionId, background } = record(output['metadata'])
  const session = text(sessionId)
  if (session === undefined || background === true) return
  const { work, next } = await talk.recall(session)
  if (work.open === 0) return
  const titles = next.map(title => JSON.stringify(title)).join(', ')
  const said =
    `[punchlist: this subagent stopped with ${work.open} of ${work.total} items of its plan open; ` +
    `the next, as data: ${titles}. To let it go on, call this tool again with task_id ${JSON.stringify(session)}.]`
  output['output'] = `${String(output['output'])}\n\n${said}`
}
