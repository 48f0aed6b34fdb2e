import { acceptItems, trustSet } from '../../src/trust-items.ts'
import { findWorkspace } from '../../src/workspace.ts'

/** What `punchlist trust --yes` does, in this process: a copied folder is not the one that was made here. */
export async function acceptFolder(root: string): Promise<void> {
  const workspace = await findWorkspace({ cwd: root, root, store: 'files' })
  const { items } = await trustSet(workspace)
  await acceptItems(workspace, new Set(items.map(({ hash }) => hash)))
}
