import { closeSync, existsSync, fsyncSync, lstatSync, mkdirSync, realpathSync, type Stats } from 'node:fs'
import { join, sep } from 'node:path'
import { leadsOut } from '../../core/disk.ts'
import { makeFolder, openFolder, refuseOtherThanFolder, writeOnce } from '../../core/files.ts'
import type { Kind } from '../../core/kind.ts'
import { Problem } from '../../core/problem.ts'
import { guarded, unless } from './problems.ts'

/** The folders of our own, beside those of the statuses. */
export type Own = 'tasks' | 'private' | 'new' | 'reports'
const OWN: readonly Own[] = ['tasks', 'private', 'new', 'reports']

/** The folder of a queue: one folder for each status, and `.punchlist` with what only we know. */
export class Root {
  readonly top: string
  private readonly workspace: string
  /** Every status a directory can lie in. */
  readonly statuses: readonly string[]
  private readonly kind: Kind
  private made = false
  private looked = false

  /** `workspace`: nothing that is read or written lies outside of it. */
  constructor(top: string, workspace: string, kind: Kind) {
    this.top = top
    this.workspace = workspace
    this.kind = kind
    this.statuses = Object.keys(kind.lifecycle.statuses)
  }

  status(status: string, name = ''): string {
    return join(this.top, status, name)
  }

  own(folder: Own, ...names: readonly string[]): string {
    if (!this.looked) this.refuseLinked()
    return join(this.top, '.punchlist', folder, ...names)
  }

  /** Whether this can be the name of the directory of the item with this id. */
  isNameOf(id: string, name: string): boolean {
    const named = this.kind.directory!.named(name)
    return 'id' in named && named.id === id && !name.includes('/')
  }

  /** Whether there is a queue at all. */
  get isThere(): boolean {
    return existsSync(this.top)
  }

  /** Whether we have made, or seen, every folder there has to be. */
  get isMade(): boolean {
    return this.made
  }

  /** What the file system says of a status's folder; undefined where it is not there. Refuses one that leads elsewhere. */
  folder(status: string): Stats | undefined {
    const path = this.status(status)
    const stats = lstatSync(path, QUIETLY)
    if (!stats) return undefined
    if (stats.isSymbolicLink()) return this.followed(path)
    if (stats.isDirectory()) return stats
    throw new Problem('bad_input', `${path} is not a folder`, 'Move it away; a folder is made in its place.', {
      file: path,
    })
  }

  /** Makes every folder there has to be. */
  make(): void {
    if (this.made) return
    this.makeOne(this.top)
    if (!this.isInside(this.top)) throw leadsOut(this.top)
    for (const status of this.kind.directory!.folders) this.makeOne(this.status(status))
    const ours = join(this.top, '.punchlist')
    this.refuseLinked()
    guarded(ours, () => makeFolder(this.top, ours))
    const ignored = join(ours, '.gitignore')
    guarded(ignored, () => writeOnce(ignored, '*\n'))
    for (const folder of OWN) guarded(this.own(folder), () => makeFolder(this.top, this.own(folder)))
    this.refuseTwoFileSystems()
    this.made = true
  }

  /** Makes the folder of a status that is not there from the beginning. */
  makeStatus(status: string): void {
    if (!this.folder(status)) this.makeOne(this.status(status))
  }

  /** The folders that lie on another file system than the rest. */
  elsewhere(): string[] {
    const paths = [...this.statuses.map(status => this.status(status)), this.own('private')]
    const devices = paths.map(path => [path, lstatSync(path, QUIETLY)?.dev] as const)
    const own = devices.at(-1)![1] ?? lstatSync(this.top, QUIETLY)?.dev
    return devices.filter(([, device]) => device !== undefined && device !== own).map(([path]) => path)
  }

  /** Our own folders are folders, and lead nowhere: looked at once, and again when they are made. */
  private refuseLinked(): void {
    const ours = join(this.top, '.punchlist')
    if (refuseOtherThanFolder(ours)) for (const folder of OWN) refuseOtherThanFolder(join(ours, folder))
    this.looked = true
  }

  private refuseTwoFileSystems(): void {
    const elsewhere = this.elsewhere()
    if (elsewhere.length === 0) return
    throw new Problem(
      'bad_input',
      `${elsewhere.join(', ')}: not on the same file system as ${this.own('private')}`,
      'Put all folders of the queue on one file system: a task is claimed by renaming its directory.',
      { folders: elsewhere },
    )
  }

  private followed(path: string): Stats {
    const inside = unless(['ENOENT', 'ELOOP'], path, () => this.isInside(path))
    if (!inside) throw leadsOut(path)
    return lstatSync(realpathSync(path))
  }

  private isInside(path: string): boolean {
    const real = realpathSync(path)
    const root = realpathSync(this.workspace)
    return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)
  }

  private makeOne(path: string): void {
    if (lstatSync(path, QUIETLY)?.isDirectory()) return
    const fresh = unless(['EEXIST'], path, () => mkdirSync(path, { recursive: path === this.top, mode: 0o700 }) ?? path)
    if (fresh === undefined && lstatSync(path).isSymbolicLink() && !this.isInside(path)) throw leadsOut(path)
  }
}

export function syncFolder(folder: string): void {
  guarded(folder, () => {
    const descriptor = openFolder(folder)
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  })
}

export const QUIETLY = { throwIfNoEntry: false } as const
