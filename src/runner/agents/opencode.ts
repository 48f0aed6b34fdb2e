import { type Agent, heard, jsonIn, session as named, record, sessionWord, text } from './agent.ts'

export function opencode(more: readonly string[]): Agent {
  const how = ['run', '--format', 'json', ...more]
  let cost = 0
  return {
    name: 'opencode',
    package: 'opencode-ai',
    // Words of its command line that contain spaces reach its model in quotes; its standard input does as it is.
    begin: prompt => ({ program: 'opencode', args: how, input: prompt }),
    resume: (session, prompt) => ({
      program: 'opencode',
      args: [...how, '--session', sessionWord(session)],
      input: prompt,
    }),
    hear(line) {
      const { type, sessionID: session, part, error } = jsonIn(line) ?? {}
      const { text: said, cost: price } = record(part)
      const paid = type === 'step_finish' && typeof price === 'number'
      if (paid) cost += price
      return heard({
        session: named(session),
        costUsd: paid ? cost : undefined,
        said: type === 'text' ? text(said) : type === 'error' ? reasonIn(record(error)) : undefined,
      })
    },
  }
}

function reasonIn({ name, data }: Readonly<Record<string, unknown>>): string | undefined {
  return text(record(data)['message']) ?? text(name)
}
