import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { homeFolder } from '../../core/state-file.ts'
import type { Where } from './host.ts'

/** Where hosts are wired from: the project, the user's own folder, and this package. */
export function surroundings(root: string, env: Where['env']): Omit<Where, 'level'> {
  return { root, env, home: homeFolder(env), own: ownFolder() }
}

/** The folder of the package, which lies above this file however it was built. */
function ownFolder(): string {
  let folder = new URL('.', import.meta.url)
  while (!existsSync(new URL('package.json', folder))) folder = new URL('..', folder)
  return fileURLToPath(folder)
}
