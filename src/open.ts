import { existsSync } from 'node:fs'
import type { Store } from './core/store.ts'

/** Opens the store of a URL. Engines are loaded when first used. */
export async function openStore(url: string): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const { openSqliteStore } = await import('./engines/sqlite/store.ts')
    return openSqliteStore(url.slice('sqlite:'.length))
  }
  const { openPostgresStore } = await import('./engines/postgres/store.ts')
  return await openPostgresStore(url)
}

/**
 * One workspace's store, opened when first needed. The first write makes it; a
 * read of a store that was never made is answered by an empty one in memory.
 */
export class StoreDoor {
  private readonly url: string
  private opened: Promise<Store> | undefined

  constructor(url: string) {
    this.url = url
  }

  async store(writes: boolean): Promise<Store> {
    const file = this.url.startsWith('sqlite:') ? this.url.slice('sqlite:'.length) : undefined
    if (!writes && !this.opened && file !== undefined && file !== ':memory:' && !existsSync(file)) {
      return await openStore('sqlite::memory:')
    }
    this.opened ??= openStore(this.url)
    try {
      return await this.opened
    } catch (error) {
      // The next call tries again: a server may be back, a disk may have space.
      this.opened = undefined
      throw error
    }
  }

  async close(): Promise<void> {
    const opened = this.opened
    this.opened = undefined
    await (await opened)?.close()
  }
}
