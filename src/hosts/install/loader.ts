import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Where } from './host.ts'

/** How such a file is known. */
export const LOADER_MARK = /^\/\/ Written by punchlist init;/

/**
 * A file for hosts that load modules: it finds the package and passes its
 * module on. In a project, the package that it depends on; else the one that
 * the program on PATH belongs to, or the one that wrote the file. Where there
 * is none the host goes on without.
 */
export function loader({ level, own }: Where, host: string, module: string, passed: string): string {
  // For a program that is a script of a package manager's and not a link into the package.
  const written = level === 'user' ? JSON.stringify(pathToFileURL(join(own, 'dist', module)).href) : 'undefined'
  const local = level === 'project' ? `\n  const local = upwards(folder)\n  if (local) return await import(local)` : ''
  return `// Written by punchlist init; punchlist init ${host} --remove takes it out again.
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const MODULE = 'dist/${module}'
const WRITTEN_BY = ${written}

${passed}

async function found(folder) {${local}
  for (const place of (process.env.PATH ?? '').split(delimiter)) {
    const program = place.startsWith('/') && join(place, 'punchlist')
    const file = program && existsSync(program) && join(dirname(dirname(realpathSync(program))), MODULE)
    if (file && existsSync(file)) return await import(pathToFileURL(file).href)
  }
  return WRITTEN_BY && existsSync(fileURLToPath(WRITTEN_BY)) ? await import(WRITTEN_BY) : undefined
}
${level === 'project' ? UPWARDS : ''}`
}

const UPWARDS = `
function upwards(folder) {
  for (let here = folder; ; here = dirname(here)) {
    const file = join(here, 'node_modules/punchlist', MODULE)
    if (existsSync(file)) return pathToFileURL(file).href
    if (dirname(here) === here) return undefined
  }
}
`
