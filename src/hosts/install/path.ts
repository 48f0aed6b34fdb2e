import { realpathSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path'
import { isProgram } from '../../core/program.ts'
import type { Where } from './host.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Whether what init writes will find our program: in the project that depends on it, or on PATH. */
export function isFound({ level, root, env }: Pick<Where, 'level' | 'root' | 'env'>): boolean {
  const local = level === 'project' && isProgram(join(root, 'node_modules/.bin/punchlist'))
  return local || places('punchlist', env).some(file => isProgram(file) && !isPassing(file, env))
}

/** What npx and its like put on PATH is there for the one command that they run. */
function isPassing(file: string, env: Environment): boolean {
  return env['npm_config_user_agent'] !== undefined && dirname(file).endsWith(join('node_modules', '.bin'))
}

/**
 * Where a program lies that a shell would find by this name, but never one in
 * the project: it may have come with the project. Folders that depend on where
 * one is do not count.
 */
export function programOutside(program: string, { env, root }: Pick<Where, 'env' | 'root'>): string | undefined {
  const inside = realpathSync(root) + sep
  return places(program, env).find(file => isProgram(file) && !realpathSync(file).startsWith(inside))
}

function places(program: string, env: Environment): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute)
  return folders.map(folder => join(folder, program))
}
