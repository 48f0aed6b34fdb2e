import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../src/core/store.ts'
import { open, type Punchlist } from '../../src/library.ts'
import { StoreDoor } from '../../src/open.ts'
import { findWorkspace } from '../../src/workspace.ts'

/** The folder of the todos that tests write by hand. */
export const REVIEW = 'tmp/work/s1/todos/review'

/** The store of a folder whose lists are files, as the program opens it. */
export async function filesOf(root: string): Promise<Store> {
  return await new StoreDoor(await findWorkspace({ cwd: root, root, store: 'files' })).store(true)
}

/** The same for a program, in session s1. */
export async function workspaceOf(root: string, actor = 'tester'): Promise<Punchlist> {
  return await open({ root, store: 'files', session: 's1', actor })
}

/** Writes a file as a person would, and says where. */
export function put(root: string, name: string, text: string | Uint8Array, folder = REVIEW): string {
  const path = join(root, folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

/** Changes a file in place, as an editor would; it must really change. */
export function editByHand(path: string, change: (text: string) => string): void {
  const before = readFileSync(path, 'utf8')
  const after = change(before)
  if (after === before) throw new Error(`nothing to change in ${path}`)
  writeFileSync(path, after)
}

/**
 * Makes the last change of a file look like none to whoever compares times and
 * sizes: as if the clock of the file system had stood still since it was read.
 */
export function asIfTheClockStoodStill(root: string, path: string): void {
  const db = new DatabaseSync(join(root, '.punchlist/punchlist.db'))
  const { ino, size, ctimeMs } = lstatSync(path)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const { changes } = db
    .prepare('UPDATE files SET node = ?, changed = sign(changed) * ? WHERE name = ?')
    .run(ino * 2 ** 20 + size, ctimeMs, name)
  db.close()
  if (Number(changes) !== 1) throw new Error(`${name} was never seen`)
}
