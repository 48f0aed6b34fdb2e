import { appendFileSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { digest } from './core/id.ts'
import { stateFile } from './core/state-file.ts'

/**
 * Whose commands we run. A store may hold check commands, and a folder that was
 * cloned or unpacked may bring a store along: its commands are a stranger's. So
 * a store is trusted when this user made it here or said so, which is kept
 * outside of the workspace, or when the user named it by flag or environment.
 */
export function isTrusted(store: string, root: string): boolean {
  const fingerprint = fingerprintOf(store, root)
  return fingerprint === undefined || known().includes(fingerprint)
}

/** Remembers that this user trusts a store. False where that cannot be written down. */
export function trust(store: string, root: string): boolean {
  const fingerprint = fingerprintOf(store, root)
  return fingerprint === undefined || remember(fingerprint)
}

function remember(fingerprint: string): boolean {
  if (known().includes(fingerprint)) return true
  try {
    mkdirSync(dirname(file()), { recursive: true, mode: 0o700 })
    appendFileSync(file(), `${fingerprint}\n`, { mode: 0o600 })
    return true
  } catch {
    // A home that cannot be written to must not keep anyone from working; only stored commands are not run then.
    return false
  }
}

/**
 * Whether the wards of a workspace may be run. Those in a file that git keeps
 * may have come with somebody else's repository: they must have been trusted,
 * as they stand. In a file that git does not know they are the user's own.
 */
export function areTrusted(wards: readonly (readonly string[])[], root: string): boolean {
  return known().includes(fingerprintOfWards(wards, root)) || !isCommitted(root)
}

export function trustWards(wards: readonly (readonly string[])[], root: string): boolean {
  return remember(fingerprintOfWards(wards, root))
}

function fingerprintOfWards(wards: readonly (readonly string[])[], root: string): string {
  return `wards ${digest(JSON.stringify([realpathSync(root), wards]))}`
}

/** Whether git keeps the settings of this folder; where git cannot tell, yes. */
function isCommitted(root: string): boolean {
  let folder = root
  for (; !existsSync(join(folder, '.git')); folder = dirname(folder)) if (dirname(folder) === folder) return false
  // A repository's own configuration names programs that git would run.
  const harmless = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']
  const asking = ['ls-files', '--error-unmatch', 'punchlist.json']
  const { status, stderr } = process.getBuiltinModule('node:child_process').spawnSync('git', [...harmless, ...asking], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  return status !== 1 && !stderr?.includes('not a git repository')
}

/** What makes this store this one: a file by its birth, so that another in its place is not it. Undefined in memory. */
function fingerprintOf(store: string, root: string): string | undefined {
  if (store === 'sqlite::memory:') return undefined
  // The URL of a server may hold a password.
  if (!store.startsWith('sqlite:')) return digest(`${realpathSync(root)}\n${store}`)
  const path = realpathSync(store.slice('sqlite:'.length))
  const { dev, ino, birthtimeMs } = statSync(path)
  // As it is: hashing it would load a library, a quarter of what making a store takes.
  return JSON.stringify([path, dev, ino, birthtimeMs])
}

function known(): string[] {
  try {
    return readFileSync(file(), 'utf8').split('\n')
  } catch {
    return []
  }
}

function file(): string {
  return stateFile('trusted')
}
