import { type Agent, heard, jsonIn, text } from './agent.ts'

export function codex(more: readonly string[]): Agent {
  return {
    name: 'codex',
    begin: prompt => ({ program: 'codex', args: ['exec', '--json', '--skip-git-repo-check', ...more, prompt] }),
    resume: (session, prompt) => ({
      program: 'codex',
      args: ['exec', 'resume', '--json', '--skip-git-repo-check', ...more, session, prompt],
    }),
    hear(line) {
      const { thread_id: session, item } = jsonIn(line) ?? {}
      const { type, text: said } = (item ?? {}) as Readonly<Record<string, unknown>>
      return heard({
        session: text(session),
        said: type === 'agent_message' ? text(said) : undefined,
        costUsd: undefined,
      })
    },
  }
}
