import { hashOf } from './accepted.ts'
import { hashesIn, keepHashes } from './hashes.ts'
import { recordOf } from './state.ts'
import { realOf } from './store-file.ts'

/**
 * The check commands that imports brought into a store, as this user's state
 * directory knows them: they are run only once accepted. A store on a server
 * has other users too, who know nothing of it.
 */
export interface Imports {
  readonly any: boolean
  has(command: readonly string[]): boolean
}

/** Returns what was imported into the store of a URL. */
export function importsInto(url: string): Imports {
  const key = keyOf(url)
  const hashes = hashesIn(recordOf('stores', key, 'imported'))
  return { any: hashes.size > 0, has: command => hashes.size > 0 && hashes.has(hashIn(key, command)) }
}

/** Notes, before they are there, that an import brings commands into a store. Throws `store_read_only` where it cannot. */
export function keepImported(url: string, commands: readonly (readonly string[])[]): void {
  const key = keyOf(url)
  keepHashes(
    recordOf('stores', key, 'imported'),
    commands.map(command => hashIn(key, command)),
  )
}

function hashIn(key: string, command: readonly string[]): string {
  return hashOf(key, { what: 'check', value: command })
}

/** One name for one store, whichever way it is reached and as whichever user. */
function keyOf(url: string): string {
  const path = /^sqlite:(?!:memory:$)(.+)$/s.exec(url)?.[1]
  if (path !== undefined) return realOf(path)
  if (!URL.canParse(url)) return url
  const { protocol, host, pathname, searchParams } = new URL(url)
  const named = ['host', 'port', 'schema'].map(name => searchParams.get(name) ?? '')
  return JSON.stringify([protocol, host, pathname, ...named])
}
