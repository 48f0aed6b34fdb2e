import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { answer } from './cli.ts'
import { scratch } from './scratch.ts'

export interface Wired {
  readonly files: { readonly file: string; readonly change: string }[]
  readonly diff: string
  readonly notes: string[]
  readonly written: boolean
}

/** A project and a user, both new. */
export function place() {
  const cwd = scratch()
  const home = scratch()
  mkdirSync(join(cwd, '.git'))
  const around = { cwd, env: { HOME: home } }
  return {
    cwd,
    home,
    around,
    init: async (...args: string[]) => await answer<Wired>(['init', ...args], around),
    tree: () => ({ ...treeOf(cwd), ...treeOf(home) }),
  }
}

/** Every file and folder below a folder with what stands in it. */
export function treeOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    entries.map(entry => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isFile() ? readFileSync(path, 'latin1') : '']
    }),
  )
}

export function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
