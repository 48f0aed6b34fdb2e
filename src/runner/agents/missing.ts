import { delimiter, join, resolve } from 'node:path'
import { Problem } from '../../core/problem.ts'
import { isProgram } from '../../core/program.ts'
import type { Agent } from './agent.ts'

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder that agents are started in; undefined where each has another. */
  readonly cwd: string | undefined
}

/** Refuses an agent whose program is not there, before anything is claimed: every task would fail over it. */
export function refuseMissing(agent: Agent, surroundings: Surroundings): void {
  const { program } = agent.begin('')
  // There, the ending of a program's name need not be said.
  if (process.platform === 'win32' || isThere(program, surroundings)) return
  throw new Problem(
    'bad_input',
    `${agent.name} cannot be started: there is no program ${program}`,
    agent.package === undefined
      ? 'Give a program that is on PATH, or its path. What needs a shell is: sh -c "…".'
      : `Install it: npm install --global ${agent.package}`,
    { program },
  )
}

function isThere(program: string, { env, cwd }: Surroundings): boolean {
  if (program.includes('/')) return cwd === undefined || isProgram(resolve(cwd, program))
  const { PATH } = env
  return (
    PATH === undefined || PATH.split(delimiter).some(folder => isProgram(join(resolve(cwd ?? '.', folder), program)))
  )
}
