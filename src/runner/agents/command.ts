import type { Agent } from './agent.ts'

/** Any command. It gets the prompt on standard input. */
export function command([program, ...args]: readonly string[]): Agent {
  const how = (input: string) => ({ program: program!, args, input })
  return {
    name: program!,
    begin: how,
    hear: line => (line.trim() === '' ? {} : { said: line }),
  }
}
