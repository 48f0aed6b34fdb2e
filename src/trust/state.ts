import {
  closeSync,
  constants,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, problemFor } from '../core/disk.ts'
import { Problem } from '../core/problem.ts'
import { homeFolder, stateFile } from '../core/state-file.ts'

/** Which file this is: its inode, and its time of birth where the file system keeps one. */
export interface Identity {
  readonly ino: number
  readonly birth: number | null
}

/** What this user's state directory says of a database file, or of the folder that a queue keeps its records in. */
export interface KnownStore extends Identity {
  readonly path: string
  /** It came with the folder and was accepted: the commands in it are accepted one by one. */
  readonly accepted: boolean
}

export function identityOf({ ino, birthtimeMs }: Stats): Identity {
  return { ino, birth: hasBirthTimes() ? birthtimeMs : null }
}

export function isSame(known: Identity, { ino, birthtimeMs }: Stats): boolean {
  return known.ino === ino && (known.birth === null || known.birth === birthtimeMs)
}

/** This user's record of a store; undefined where there is none. */
export function knownStore(path: string): KnownStore | undefined {
  const known = readJson(recordOf('stores', path, 'json')) as Partial<KnownStore> | undefined
  if (known?.path !== path || typeof known.ino !== 'number') return undefined
  return { path, ino: known.ino, birth: known.birth ?? null, accepted: known.accepted === true }
}

/** Throws `store_read_only` where the state directory cannot be written: the store would be a stranger's to the next command. */
export function keepStore(path: string, identity: Identity, accepted: boolean): void {
  const file = recordOf('stores', path, 'json')
  try {
    replace(file, JSON.stringify({ path, ...identity, accepted }))
  } catch (error) {
    throw unwritable(file, error)
  }
}

/** The write-ahead log that this user's processes made beside a database. */
export function knownLog(path: string): Identity | undefined {
  const known = readJson(recordOf('stores', path, 'wal')) as Partial<Identity> | undefined
  return typeof known?.ino === 'number' ? { ino: known.ino, birth: known.birth ?? null } : undefined
}

/** On the disk before the log has its first frame: after a power cut, the log and this record belong together. */
export function keepLog(path: string, identity: Identity): void {
  const file = recordOf('stores', path, 'wal')
  try {
    // Its folder holds the record of the database itself, which comes first.
    const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
    try {
      // One length: a record that is written over in place never has the end of an older one.
      writeSync(descriptor, JSON.stringify(identity).padEnd(80), 0)
      fdatasyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // Only after a crash does anybody ask for it; that costs a question then.
  }
}

/** The seal of a workspace: what carries it was written by this user, here. Undefined before the first write. */
export function knownSeal(root: string): string | undefined {
  const known = readJson(recordOf('workspaces', root, 'json')) as { root?: unknown; seal?: unknown } | undefined
  return known?.root === root && typeof known.seal === 'string' ? known.seal : undefined
}

export function makeSeal(root: string): string {
  const there = knownSeal(root)
  if (there !== undefined) return there
  const file = recordOf('workspaces', root, 'json')
  const seal = process.getBuiltinModule('node:crypto').randomBytes(16).toString('hex')
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeSynced(file, 'wx', JSON.stringify({ root, seal }))
    return seal
  } catch (error) {
    if (codeOf(error) === 'EEXIST') {
      const other = knownSeal(root)
      if (other !== undefined) return other
      // Half of one, left by a crash or a full disk.
      replace(file, JSON.stringify({ root, seal }))
      return seal
    }
    throw unwritable(file, error)
  }
}

/**
 * The hashes of the tasks that this user was shown in a queue; undefined before
 * the first run there. `path` names the queue. `holder` is what makes it another
 * queue when it is replaced under the same path.
 */
export function shownTasks(path: string, holder: Stats): readonly string[] | undefined {
  const known = readJson(recordOf('tasks', path, 'json')) as (Partial<KnownStore> & { shown?: unknown }) | undefined
  if (known?.path !== path || typeof known.ino !== 'number' || !Array.isArray(known.shown)) return undefined
  return isSame({ ino: known.ino, birth: known.birth ?? null }, holder) ? (known.shown as string[]) : undefined
}

/** Remembers the newest `MOST_SHOWN`. Throws `store_read_only` where it cannot be kept. */
export function keepShownTasks(path: string, holder: Stats, hashes: readonly string[]): void {
  const file = recordOf('tasks', path, 'json')
  const shown = [...new Set([...(shownTasks(path, holder) ?? []), ...hashes])].slice(-MOST_SHOWN)
  try {
    replace(file, JSON.stringify({ path, ...identityOf(holder), shown }))
  } catch (error) {
    throw unwritable(file, error)
  }
}

const MOST_SHOWN = 10_000

/** What to do about a state directory that cannot be written. */
export function unwritable(file: string, error: unknown): Problem {
  return new Problem(
    'store_read_only',
    `${file} cannot be written: ${codeOf(error)}`,
    'Make the folder writable, or set XDG_STATE_HOME to one that is.',
    { file },
  )
}

/** 64 bits of FNV-1a, in two halves: a file name for a path. No digest: loading one costs a sixth of a start. */
function keyOf(text: string): string {
  const half = (seed: number) => {
    let hash = seed
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
    return (hash >>> 0).toString(16).padStart(8, '0')
  }
  return half(0x811c9dc5) + half(0x050c5d1f)
}

/** The file with what is known of a path. */
export function recordOf(folder: string, path: string, ending: string): string {
  return stateFile(`${folder}/${keyOf(path)}.${ending}`)
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown
  } catch (error) {
    // A process that can open no more files knows nothing, which is no reason to call the store foreign.
    if (codeOf(error) === 'EMFILE' || codeOf(error) === 'ENFILE') throw problemFor(error, file)
    return undefined
  }
}

function replace(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeSynced(draft, 'w', text)
  renameSync(draft, file)
}

function writeSynced(file: string, flags: 'w' | 'wx', text: string): void {
  const descriptor = openSync(file, flags, 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

let birthTimes: boolean | undefined

/**
 * Whether the system tells times of birth. Where `statx` is forbidden, Node
 * gives the time of the last change instead, for every file alike.
 */
function hasBirthTimes(): boolean {
  birthTimes ??= [homeFolder(process.env), process.execPath, '/'].some(path => {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats !== undefined && stats.birthtimeMs !== stats.ctimeMs
  })
  return birthTimes
}
