import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { problemFor } from '../core/disk.ts'
import {
  appendFile,
  makeFolder,
  namesIn,
  readBeginning,
  readRegular,
  refuseLinks,
  refuseOther,
  removeFile,
  replaceFile,
} from '../core/files.ts'
import { Problem } from '../core/problem.ts'

/**
 * The folder of what runs remember, `.punchlist/runs`. Everything we write there
 * carries the workspace's seal: what does not has come with somebody else's
 * files. It is passed over, and left where it is.
 */
export class RunState {
  readonly folder: string
  /** Undefined where the workspace has none: then nothing is kept, and nothing that lies there is ours. */
  readonly seal: string | undefined
  private readonly root: string
  private readonly ready = new Set<string>()

  constructor(root: string, seal: string | undefined) {
    this.root = root
    this.folder = join(root, '.punchlist', 'runs')
    this.seal = seal
  }

  /** Throws `untrusted` for a name that leads elsewhere: ids of tasks are among them, and a store can hold any text as one. */
  path(...names: readonly string[]): string {
    const odd = names.find(name => basename(name) !== name || name === '..' || name === '.' || name.includes('\0'))
    if (odd === undefined) return join(this.folder, ...names)
    throw new Problem(
      'untrusted',
      `${JSON.stringify(odd.slice(0, 100))} cannot name a file of a run`,
      'Look where the task came from, and cancel it.',
      { name: odd.slice(0, 100) },
    )
  }

  /** Makes a folder in it; refuses one that leads elsewhere. */
  make(...names: readonly string[]): string {
    const path = this.path(...names)
    // An agent may have removed it since.
    if (!this.ready.has(path) || !existsSync(path)) guarded(path, () => makeFolder(this.root, path))
    this.ready.add(path)
    return path
  }

  names(...folder: readonly string[]): string[] {
    const path = this.path(...folder)
    this.look(path)
    return guarded(path, () => namesIn(path))
  }

  text(most: number, ...names: readonly string[]): string | undefined {
    const path = this.path(...names)
    this.look(dirname(path))
    return guarded(path, () => readRegular(path, most))
  }

  beginning(bytes: number, ...names: readonly string[]): string | undefined {
    const path = this.path(...names)
    this.look(dirname(path))
    return guarded(path, () => readBeginning(path, bytes))
  }

  /** What a file holds, if it is ours; undefined where it is not, or there is none. */
  sealed(most: number, ...names: readonly string[]): Readonly<Record<string, unknown>> | undefined {
    return this.opened(quietly(() => this.text(most, ...names)) ?? '')
  }

  /** What a line of JSON says, if it carries the seal. */
  opened(line: string): Readonly<Record<string, unknown>> | undefined {
    const value = quietly(() => JSON.parse(line) as unknown)
    if (this.seal === undefined || typeof value !== 'object' || value === null) return undefined
    const { seal, ...rest } = value as Record<string, unknown>
    return seal === this.seal ? rest : undefined
  }

  /** Puts a file there, whole, under the seal. One that does not carry it is left as it is. */
  keep(value: object, ...names: readonly string[]): void {
    if (this.seal === undefined) return
    const path = this.path(...names)
    this.make(...names.slice(0, -1))
    if (guarded(path, () => refuseOther(path))?.size && !this.sealed(LARGEST, ...names)) return
    const text = JSON.stringify({ ...value, seal: this.seal })
    guarded(path, () => replaceFile(path, text, { drafting: this.folder }))
  }

  append(text: string, ...names: readonly string[]): void {
    if (this.seal === undefined) return
    this.make(...names.slice(0, -1))
    const path = this.path(...names)
    guarded(path, () => appendFile(path, text))
  }

  /** Takes a file away that is ours. */
  drop(most: number, ...names: readonly string[]): void {
    const path = this.path(...names)
    if (this.sealed(most, ...names)) guarded(path, () => removeFile(path))
  }

  private look(folder: string): void {
    if (!this.ready.has(folder)) guarded(folder, () => refuseLinks(this.root, folder))
  }
}

/** More than anything we keep in one file. */
const LARGEST = 16 * 1024 * 1024

/** What the file system has against it, as something that a person can act on. */
function guarded<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw problemFor(error, path)
  }
}

/** What cannot be read says nothing. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
