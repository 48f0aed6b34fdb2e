import { main } from '../../src/cli/main.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { scratch } from '../support/scratch.ts'

export interface Typed {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Types a command in this process: everything of the program but its start and its streams. */
export async function typed(
  args: readonly string[],
  { cwd = scratch(), env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Typed> {
  let stdout = ''
  let stderr = ''
  const terminal: Terminal = {
    out: text => (stdout += `${text}\n`),
    err: text => (stderr += `${text}\n`),
    print: text => (stdout += text),
    colour: false,
    interactive: false,
    read: async file => (await import('../../src/cli/input.ts')).readInput(file),
    ask: async () => undefined,
    interrupted: new AbortController().signal,
  }
  const status = await main(args, { terminal, env, cwd })
  return { status, stdout, stderr }
}
