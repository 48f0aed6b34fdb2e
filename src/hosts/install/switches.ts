import { relative } from 'node:path'
import { leaves, realInside } from '../../core/boundary.ts'
import { readNamed } from '../../core/files.ts'
import { inside } from './entries.ts'
import type { Hindrance } from './host.ts'
import { readJson, valueOf } from './json.ts'

/** The files, of a project `root` or of the user's own, in which a switch stands the way that turns hooks off. */
export function switchedOff(
  files: readonly string[],
  path: readonly string[],
  off: boolean,
  root: string,
): Hindrance[] {
  return files
    .filter(file => inside(documentIn(file, root), path) === off)
    .map(file => ({
      detail: `${path.join('.')} is ${off} in ${file}: no hook is run`,
      hint: `Take ${path.join('.')} out of ${file}.`,
    }))
}

/** Whether one of these files has our plugin switched on, from whichever marketplace. */
export function hasPluginIn(files: readonly string[], root: string): boolean {
  return files.some(file =>
    Object.entries(inside(documentIn(file, root), ['enabledPlugins']) ?? {}).some(
      ([name, on]) => name.startsWith('punchlist@') && on === true,
    ),
  )
}

const LARGEST = 16 * 1024 * 1024

/** What a JSON file says; undefined where there is none that can be read, and for a link that leads out of the project. */
export function documentIn(file: string, root: string): unknown {
  try {
    const real = leaves(relative(root, file)) ? file : realInside(root, file)
    return real === undefined ? undefined : valueOf(readJson(readNamed(real, LARGEST).toString('utf8')))
  } catch {
    return undefined
  }
}
