import type { Answer, Reply } from './event.ts'
import { text } from './reading.ts'

/**
 * The answer in the form of Claude Code that most hosts have taken over: a
 * decision to block, and context under the event's own name, for the events
 * that take it. Nothing else is printed: some refuse keys they do not know.
 */
export function answered(
  reply: Reply,
  payload: Readonly<Record<string, unknown>>,
  takeContext: readonly string[],
): Answer {
  if (reply.type === 'go_on' || reply.type === 'refuse') return blocked(reply.text)
  const hookEventName = text(payload['hook_event_name'])
  if (reply.type !== 'context' || hookEventName === undefined || !takeContext.includes(hookEventName)) return {}
  return { stdout: JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: reply.text } }) }
}

export function blocked(reason: string): Answer {
  return { stdout: JSON.stringify({ decision: 'block', reason }) }
}
