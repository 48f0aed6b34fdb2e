import { readFileSync } from 'node:fs'
import { inside } from './entries.ts'
import type { Hindrance } from './host.ts'
import { readJson, valueOf } from './json.ts'

/** The files in which a switch stands the way that turns hooks off. */
export function switchedOff(files: readonly string[], path: readonly string[], off: boolean): Hindrance[] {
  return files
    .filter(file => inside(documentIn(file), path) === off)
    .map(file => ({
      detail: `${path.join('.')} is ${off} in ${file}: no hook is run`,
      hint: `Take ${path.join('.')} out of ${file}.`,
    }))
}

/** Whether one of these files has our plugin switched on, from whichever marketplace. */
export function hasPluginIn(files: readonly string[]): boolean {
  return files.some(file =>
    Object.entries(inside(documentIn(file), ['enabledPlugins']) ?? {}).some(
      ([name, on]) => name.startsWith('punchlist@') && on === true,
    ),
  )
}

/** What a JSON file says; undefined where there is none that can be read. */
export function documentIn(file: string): unknown {
  try {
    return valueOf(readJson(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}
