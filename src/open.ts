import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Kind } from './core/kind.ts'
import type { LedgerKeeper } from './core/ledger.ts'
import type { Documents, Wards } from './core/operation.ts'
import { Problem } from './core/problem.ts'
import type { Store } from './core/store.ts'
import { type Shelf, Shelves } from './engines/files/shelves.ts'
import type { Workspace } from './workspace.ts'

/** How long to wait for another process that is writing; as long as the engine finds right where absent. */
export interface Patience {
  readonly busyMs?: number
}

/** Opens the store of a URL. Engines are loaded when first used. */
export async function openStore(url: string, patience: Patience = {}): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const { openSqliteStore } = await import('./engines/sqlite/store.ts')
    return openSqliteStore(url.slice('sqlite:'.length), patience)
  }
  const { openPostgresStore } = await import('./engines/postgres/store.ts')
  const { busyMs } = patience
  return await openPostgresStore(url, busyMs === undefined ? {} : { connectTimeoutMs: busyMs, patienceMs: busyMs })
}

/**
 * One workspace's store, opened when first needed. The first write makes it; a
 * read of a store that was never made is answered by an empty one in memory.
 */
export class StoreDoor {
  private readonly workspace: Workspace
  private readonly patience: Patience
  private opened: Promise<Store> | undefined

  constructor(workspace: Workspace, patience: Patience = {}) {
    this.workspace = workspace
    this.patience = patience
  }

  async store(writes: boolean): Promise<Store> {
    const missing = !this.opened && isMissing(this.workspace.store)
    if (missing && !writes) return this.shelved(await openStore('sqlite::memory:'), true)
    this.opened ??= missing ? this.make() : openStore(this.workspace.store, this.patience)
    try {
      return this.shelved(await this.opened)
    } catch (error) {
      // The next call tries again: a server may be back, a disk may have space.
      this.opened = undefined
      const readable = writes ? undefined : await asItLies(this.workspace.store, error)
      if (readable) return this.shelved(readable)
      throw error
    }
  }

  /** Whether commands that are kept in the store may be run. */
  async mayRun(): Promise<boolean> {
    const { store, root, chosen } = this.workspace
    return chosen || (await import('./trust.ts')).isTrusted(store, root)
  }

  /** The commands that must exit 0 here. */
  wards(): Wards {
    const { wards: commands, root } = this.workspace
    return { commands, mayRun: async () => (await import('./trust.ts')).areTrusted(commands, root) }
  }

  /** The kinds whose items belong to sessions. */
  async sessional(): Promise<readonly Kind[]> {
    return (await import('./kinds.ts')).kinds.filter(({ list }) => list.includes('session'))
  }

  /** The documents of this workspace. */
  documents(): Documents {
    const { root, work } = this.workspace
    const documents = async () => new (await import('./engines/files/documents.ts')).Documents(root, work)
    return {
      read: async path => await (await documents()).read(path),
      write: async (path, text) => await (await documents()).write(path, text),
      hindrance: async folder => await (await documents()).hindrance(folder),
    }
  }

  async close(): Promise<void> {
    const opened = this.opened
    this.opened = undefined
    await (await opened)?.close()
  }

  /** The same store with files and directories beside it, where some lists are kept in those. */
  private shelved(tables: Store, missing = false): Store {
    const { inFiles, root, work, queue } = this.workspace
    if (!inFiles) return tables
    const shelf = (top: string, keeps: Shelf['keeps'], open: (beside: Store) => Promise<Store>): Shelf => ({
      keeps,
      any: () => existsSync(top),
      open: async () => await open(missing && existsSync(top) ? await this.remembering(tables) : tables),
      spare: async () => await open(await openStore('sqlite::memory:')),
    })
    const files = shelf(
      join(root, work),
      ({ file }) => file !== undefined,
      async beside => {
        const [{ FileStore }, { kinds }] = await Promise.all([import('./engines/files/store.ts'), import('./kinds.ts')])
        const ledger = await (beside as LedgerKeeper).ledger()
        const kept = kinds.filter(({ file }) => file)
        return new FileStore({ top: join(root, work), root, ledger, tables: beside, kinds: kept })
      },
    )
    const directories = shelf(
      join(root, queue),
      ({ directory }) => directory !== undefined,
      async beside => {
        const engine = import('./engines/directories/store.ts')
        const [{ DirectoryStore }, { kinds }] = await Promise.all([engine, import('./kinds.ts')])
        const ledger = await (beside as LedgerKeeper).ledger()
        const kind = kinds.find(({ directory }) => directory)!
        return new DirectoryStore({ top: join(root, queue), root, ledger, tables: beside, kind })
      },
    )
    return new Shelves({ tables, shelves: [files, directories] })
  }

  /** Files that are looked at are remembered, so that the next look is short: that makes the store, if it can be made. */
  private async remembering(otherwise: Store): Promise<Store> {
    try {
      this.opened ??= this.make()
      return await this.opened
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      this.opened = undefined
      return otherwise
    }
  }

  private async make(): Promise<Store> {
    const { store, root } = this.workspace
    const made = await openStore(store)
    ;(await import('./trust.ts')).trust(store, root)
    return made
  }
}

/** Reading goes on where writing cannot, if the store is a file that can be read without touching anything. */
async function asItLies(url: string, error: unknown): Promise<Store | undefined> {
  const hindered = error instanceof Problem && (error.code === 'store_full' || error.code === 'store_read_only')
  if (!hindered || !url.startsWith('sqlite:')) return undefined
  return (await import('./engines/sqlite/store.ts')).openFrozen(url.slice('sqlite:'.length))
}

/** A store that is a file, and is not there. */
function isMissing(url: string): boolean {
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined
  return file !== undefined && file !== ':memory:' && !existsSync(file)
}
