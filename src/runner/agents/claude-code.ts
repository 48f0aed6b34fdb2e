import { type Agent, heard, jsonIn, text } from './agent.ts'

/** `more`: arguments of the user's own, such as a model or what it may do. */
export function claudeCode(more: readonly string[]): Agent {
  const how = ['--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__punchlist', ...more]
  return {
    name: 'claude-code',
    begin: prompt => ({ program: 'claude', args: ['-p', prompt, ...how] }),
    resume: (session, prompt) => ({ program: 'claude', args: ['-p', prompt, '--resume', session, ...how] }),
    hear(line) {
      const { type, session_id: session, total_cost_usd: cost, result } = jsonIn(line) ?? {}
      const ended = type === 'result'
      return heard({
        session: text(session),
        costUsd: ended && typeof cost === 'number' ? cost : undefined,
        said: ended ? text(result) : undefined,
      })
    },
  }
}
