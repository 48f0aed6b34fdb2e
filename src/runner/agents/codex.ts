import { type Agent, heard, jsonIn, session as named, record, sessionWord, text } from './agent.ts'

/** It tells tokens, and no price. */
export function codex(more: readonly string[]): Agent {
  // `exec resume` knows fewer options than `exec`, so all of them stand before it.
  const how = ['exec', ...more, '--json', '--skip-git-repo-check']
  return {
    name: 'codex',
    package: '@openai/codex',
    begin: prompt => ({ program: 'codex', args: [...how, '-'], input: prompt }),
    resume: (session, prompt) => ({
      program: 'codex',
      args: [...how, 'resume', sessionWord(session), '-'],
      input: prompt,
    }),
    hear(line) {
      const { type, thread_id: session, item, error } = jsonIn(line) ?? {}
      switch (type) {
        case 'thread.started':
          return heard({ session: named(session) })
        case 'turn.failed':
          return heard({ said: text(record(error)['message']) })
        case 'item.completed':
          return heard({ said: record(item)['type'] === 'agent_message' ? text(record(item)['text']) : undefined })
        default:
          return {}
      }
    },
  }
}
