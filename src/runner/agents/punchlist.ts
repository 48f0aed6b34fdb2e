import { PROBLEMS } from '../../core/problem.ts'
import { type Agent, heard, jsonIn, session, text } from './agent.ts'

/** The agent that comes with punchlist, started by the program that is running. */
export function punchlistAgent(program: readonly string[], more: readonly string[]): Agent {
  const [first, ...rest] = program
  const how = (input: string) => ({ program: first!, args: [...rest, 'agent', '--json', ...more, '-'], input })
  return {
    name: 'punchlist',
    begin: how,
    // Its conversation is the task's: what it said before is there already.
    resume: (_, prompt) => how(prompt),
    // With items of its plan open it says so, and is sent on like any other.
    isEnd: exit => exit === 0 || exit === PROBLEMS.work_left.exit,
    hear(line) {
      const { conversation, text: said } = jsonIn(line) ?? {}
      return heard({ session: session(conversation), said: text(said), costUsd: undefined })
    },
  }
}
