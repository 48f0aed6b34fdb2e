import { existsSync, lstatSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { isInside, staysInside } from '../../core/boundary.ts'
import { leadsOut } from '../../core/disk.ts'
import { makeNamedFolder, makeNewFolder, syncFolder as syncEntries } from '../../core/file-entries.ts'
import { makeFolder, refuseOtherThanFolder, writeOnce } from '../../core/files.ts'
import type { Kind } from '../../core/kind.ts'
import { Problem } from '../../core/problem.ts'
import { renderWorker, thisProcess } from '../../core/process.ts'
import { guarded, unless } from './problems.ts'

/** The folders of our own, beside those of the statuses. */
export type Own = 'tasks' | 'private' | 'new' | 'reports' | 'keys' | 'batches'
const OWN: readonly Own[] = ['tasks', 'private', 'new', 'reports', 'keys', 'batches']

let drafts = 0

/** The folder of a queue: one folder for each status, and `.punchlist` with what only we know. */
export class Root {
  readonly top: string
  private readonly workspace: string
  /** Every status a directory can lie in. */
  readonly statuses: readonly string[]
  private readonly kind: Kind
  private readonly onMade: () => void
  private made = false
  private looked = false
  private bounded = false

  /** `workspace`: nothing that is read or written lies outside of it. `onMade`: called before our own folder is written to. */
  constructor(top: string, workspace: string, kind: Kind, onMade: () => void = () => undefined) {
    this.onMade = onMade
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

  /** A path in `new` that nobody else uses. */
  draft(): string {
    return this.own('new', `text~${renderWorker(thisProcess())}.${++drafts}`)
  }

  /** Whether this can be the name of the directory of the item with this id. */
  isNameOf(id: string, name: string): boolean {
    const named = this.kind.directory!.named(name)
    return 'id' in named && named.id === id && !name.includes('/')
  }

  /** Whether there is a queue at all. Throws where it lies outside of the workspace. */
  get isThere(): boolean {
    if (!existsSync(this.top)) return false
    this.refuseOutside()
    return true
  }

  /** Whether we have made, or seen, every folder there has to be. */
  get isMade(): boolean {
    return this.made
  }

  /** What the file system says of a status's folder; undefined where it is not there. Refuses one that leads elsewhere. */
  folder(status: string): Stats | undefined {
    const path = this.status(status)
    const stats = statsAt(path)
    if (!stats) return undefined
    if (stats.isSymbolicLink()) return this.followed(path)
    if (stats.isDirectory()) return stats
    throw new Problem('bad_input', `${path} is not a folder`, 'Move it away; a folder is made in its place.', {
      file: path,
    })
  }

  /** Makes every folder there has to be. */
  make(): void {
    // A folder of ours that was removed meanwhile is made again; not the whole queue, with the tasks that were in it.
    if (this.made && (!existsSync(this.top) || OWN.every(folder => existsSync(this.own(folder))))) return
    if (!existsSync(this.top)) this.makeTop()
    this.refuseOutside()
    for (const status of this.kind.directory!.folders) this.makeOne(this.status(status))
    const ours = join(this.top, '.punchlist')
    this.refuseLinked()
    guarded(ours, () => makeFolder(this.top, ours))
    this.onMade()
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
    const devices = paths.map(path => [path, statsAt(path)?.dev] as const)
    const own = devices.at(-1)![1] ?? statsAt(this.top)?.dev
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
    const inside = unless(['ENOENT', 'ELOOP'], path, () => isInside(this.workspace, path))
    if (!inside) throw leadsOut(path)
    return statSync(path)
  }

  /** Looked at once: every path of ours begins with it. */
  private refuseOutside(): void {
    if (this.bounded) return
    if (!guarded(this.top, () => isInside(this.workspace, this.top))) throw leadsOut(this.top)
    this.bounded = true
  }

  private makeTop(): void {
    if (!staysInside(this.workspace, this.top)) throw leadsOut(this.top)
    guarded(this.top, () => makeNamedFolder(this.top, 0o700))
  }

  private makeOne(path: string): void {
    if (statsAt(path)?.isDirectory()) return
    const fresh = unless(['EEXIST'], path, () => (makeNewFolder(path), true))
    if (!fresh && lstatSync(path).isSymbolicLink()) this.followed(path)
  }
}

export function syncFolder(folder: string): void {
  guarded(folder, () => syncEntries(folder))
}

/** What lies under a name; undefined where nothing does, or where one of these codes says that it cannot be told. */
export function statsAt(path: string, codes: readonly string[] = []): Stats | undefined {
  // Node throws ENOTDIR all the same: a file may have taken the place of a folder.
  return unless(['ENOTDIR', ...codes], path, () => lstatSync(path, QUIETLY))
}

const QUIETLY = { throwIfNoEntry: false } as const
