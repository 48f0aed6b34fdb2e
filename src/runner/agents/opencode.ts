import { type Agent, heard, jsonIn, text } from './agent.ts'

export function opencode(more: readonly string[]): Agent {
  const how = ['run', '--format', 'json', ...more]
  let cost = 0
  return {
    name: 'opencode',
    begin: prompt => ({ program: 'opencode', args: [...how, prompt] }),
    resume: (session, prompt) => ({ program: 'opencode', args: [...how, '--session', session, prompt] }),
    hear(line) {
      const { sessionID: session, part } = jsonIn(line) ?? {}
      const { type, text: said, cost: price } = (part ?? {}) as Readonly<Record<string, unknown>>
      const paid = typeof price === 'number'
      if (paid) cost += price
      return heard({
        session: text(session),
        said: type === 'text' ? text(said) : undefined,
        costUsd: paid ? cost : undefined,
      })
    },
  }
}
