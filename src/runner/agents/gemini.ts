import { type Agent, heard, jsonIn, text } from './agent.ts'

export function gemini(more: readonly string[]): Agent {
  const how = ['--output-format', 'stream-json', ...more]
  return {
    name: 'gemini',
    begin: prompt => ({ program: 'gemini', args: ['-p', prompt, ...how] }),
    resume: (session, prompt) => ({ program: 'gemini', args: ['-p', prompt, '--resume', session, ...how] }),
    hear(line) {
      const { session_id: session, role, content } = jsonIn(line) ?? {}
      return heard({
        session: text(session),
        said: role === 'assistant' ? text(content) : undefined,
        costUsd: undefined,
      })
    },
  }
}
