import { type Agent, heard, jsonIn, session as named, record, sessionWord, text } from './agent.ts'

/** Our own tools: what it would have to ask for is not offered to its model where nobody can answer. */
const OURS = ['--allowed-tools', 'mcp_punchlist_*']

/** It tells tokens, and no price. */
export function gemini(more: readonly string[]): Agent {
  const how = ['--output-format', 'stream-json', ...OURS, ...more]
  let saying = ''
  return {
    name: 'gemini',
    package: '@google/gemini-cli',
    // Without -p, too, it answers what it is given on standard input and ends.
    begin: prompt => ({ program: 'gemini', args: how, input: prompt }),
    resume: (session, prompt) => ({
      program: 'gemini',
      args: [...how, '--resume', sessionWord(session)],
      input: prompt,
    }),
    hear(line) {
      const { type, session_id: session, role, content, delta, error } = jsonIn(line) ?? {}
      if (type === 'init') return heard({ session: named(session) })
      if (type === 'result') return heard({ said: text(record(error)['message']) })
      if (type !== 'message' || role !== 'assistant' || typeof content !== 'string') {
        saying = ''
        return {}
      }
      // It is told in pieces.
      saying = delta === true ? saying + content : content
      return heard({ said: text(saying) })
    },
  }
}
