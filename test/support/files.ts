import type { Store } from '../../src/core/store.ts'
import { StoreDoor } from '../../src/open.ts'
import { findWorkspace } from '../../src/workspace.ts'

/** The store of a folder whose lists are files, as the program opens it. */
export async function filesOf(root: string): Promise<Store> {
  return await new StoreDoor(await findWorkspace({ cwd: root, root, store: 'files' })).store(true)
}
