import { type Agent, heard, jsonIn, session as named, sessionWord, text } from './agent.ts'

/** Our own tools, wired by `punchlist init` or by the plugin. A folder that nobody has trusted yet offers no others. */
const OURS = 'mcp__punchlist,mcp__plugin_punchlist_punchlist'

/** `more`: arguments of the user's own, such as a model or what it may do. */
export function claudeCode(more: readonly string[]): Agent {
  const how = ['--output-format', 'stream-json', '--verbose', '--allowedTools', OURS, ...more]
  return {
    name: 'claude-code',
    package: '@anthropic-ai/claude-code',
    begin: prompt => ({ program: 'claude', args: ['-p', ...how], input: prompt }),
    resume: (session, prompt) => ({
      program: 'claude',
      args: ['-p', '--resume', sessionWord(session), ...how],
      input: prompt,
    }),
    hear(line) {
      const { type, session_id: session, total_cost_usd: cost, result, errors } = jsonIn(line) ?? {}
      if (type !== 'result') return heard({ session: named(session) })
      return heard({
        session: named(session),
        // A session that is carried on goes on counting.
        costUsd: typeof cost === 'number' ? cost : undefined,
        said: text(result) ?? (Array.isArray(errors) ? text(errors.join('\n')) : undefined),
      })
    },
  }
}
