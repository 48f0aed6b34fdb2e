import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, sep } from 'node:path'
import type { Where } from './host.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Where a program lies that a shell would find by this name; folders that depend on where one is do not count. */
export function onPath(program: string, env: Environment): string | undefined {
  return places(program, env).find(isProgram)
}

/** The same, but never one that lies in the project: it may have come with the project. */
export function programOutside(program: string, { env, root }: Pick<Where, 'env' | 'root'>): string | undefined {
  const inside = realpathSync(root) + sep
  return places(program, env).find(file => isProgram(file) && !realpathSync(file).startsWith(inside))
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

function places(program: string, env: Environment): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute)
  return folders.map(folder => join(folder, program))
}
