import { existsSync, lstatSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { boundOf, leaves, staysInside } from './core/boundary.ts'
import { pause } from './core/clock.ts'
import type { Kind } from './core/kind.ts'
import type { LedgerKeeper } from './core/ledger.ts'
import type { Checks, Command, Documents, PlanSettings, Wards } from './core/operation.ts'
import { Problem } from './core/problem.ts'
import type { Store } from './core/store.ts'
import { words } from './core/words.ts'
import { type Shelf, Shelves } from './engines/files/shelves.ts'
import { openForeign, openFrozen, openSqliteStore } from './engines/sqlite/store.ts'
import { foreignQueue, keepQueueAsOwn, queueSeal } from './trust/queue-folder.ts'
import { realRoot } from './trust/root.ts'
import { knownSeal, makeSeal } from './trust/state.ts'
import { type Foreign, foreignIn, keepAsOwn, untrustedStore, wasAccepted } from './trust/store-file.ts'
import type { Workspace } from './workspace.ts'

/** How long to wait for another process that is writing; as long as the engine finds right where absent. */
export interface Patience {
  readonly busyMs?: number
}

interface Opening extends Patience {
  /** Called before the first write to a file. */
  readonly beforeWrite?: () => void
}

/** Opens the store of a URL. Drivers are loaded when first used; the engine that most have is at hand. */
export async function openStore(url: string, opening: Opening = {}): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    return openSqliteStore(url.slice('sqlite:'.length), opening)
  }
  const { openPostgresStore } = await import('./engines/postgres/store.ts')
  const { busyMs } = opening
  return await openPostgresStore(url, busyMs === undefined ? {} : { connectTimeoutMs: busyMs, patienceMs: busyMs })
}

/**
 * One workspace's store, opened when first needed. The first write makes it; a
 * read of a store that was never made is answered by an empty one in memory.
 */
export class StoreDoor {
  private readonly workspace: Workspace
  private readonly patience: Patience
  private readonly ask: Ask | undefined
  private opened: Promise<Store> | undefined
  /** What is read although nobody has accepted it. */
  private foreign: Foreign | undefined
  private foreignQueue: Foreign | undefined
  private queueIsOwn = false
  private known: string | undefined

  /** `ask`: how a person is asked whether something of the folder may be run; absent where nobody can be. */
  constructor(workspace: Workspace, patience: Patience = {}, ask?: Ask) {
    this.workspace = workspace
    this.patience = patience
    this.ask = ask
  }

  /** Throws `untrusted` before anything is written to, or asked of, a store that this user has not accepted. */
  async store(writes: boolean): Promise<Store> {
    this.refusePending(writes)
    this.foreign = this.opened ? this.foreign : foreignStore(this.workspace)
    if (this.foreign) {
      if (writes) throw untrustedStore(this.foreign)
      return await this.asData(this.foreign)
    }
    const missing = !this.opened && isMissing(this.workspace.store)
    if (missing && !writes) return this.shelved(await openStore('sqlite::memory:'), true)
    if (writes) makeSeal(realRoot(this.workspace.root))
    this.opened ??= this.open()
    try {
      return this.shelved(await this.opened)
    } catch (error) {
      // The next call tries again: a server may be back, a disk may have space.
      this.opened = undefined
      const readable = writes ? undefined : asItLies(this.workspace.store, error)
      if (readable) return this.shelved(readable)
      throw error
    }
  }

  /** What this user's own files here carry; undefined before the first write. */
  seal(): string | undefined {
    this.known ??= knownSeal(realRoot(this.workspace.root))
    return this.known
  }

  /** What a reader has to know: that the store came with the folder, and which settings are not in effect; of limits only with `limits`. */
  warnings(limits: boolean): string[] {
    const pending = this.workspace.pending.filter(({ effect }) => limits || effect !== 'loosens')
    const ignored =
      pending.length > 0
        ? [`${pending.map(({ what }) => what).join(', ')} in punchlist.json: not accepted, not in effect`]
        : []
    const read = [this.foreign, this.foreignQueue].flatMap(one =>
      one ? [`${one.file} ${one.why}: it is read, and nothing is written`] : [],
    )
    return [...read, ...ignored].map(text => `${text}; see punchlist trust`)
  }

  /** The lists as they lie there: nothing is written, finished or remembered. */
  async untouched(): Promise<Store> {
    return this.workspace.inFiles
      ? this.shelved(await openStore('sqlite::memory:'), false, true)
      : await this.store(false)
  }

  /** Whose the check commands in the store are. */
  checks(): Checks {
    const { store } = this.workspace
    const root = () => realRoot(this.workspace.root)
    const accepted = async () => await import('./trust/accepted.ts')
    return {
      mayRun: async command => await this.mayRun(command),
      accept: async command => (await accepted()).accept(root(), [{ what: 'check', value: command }]),
      holdBack: async commands => {
        if (commands.length === 0) return []
        const [{ keepImported }, { isAccepted }] = await Promise.all([import('./trust/imported.ts'), accepted()])
        keepImported(store, commands)
        return commands.filter(command => !isAccepted(root(), { what: 'check', value: command }))
      },
    }
  }

  private async mayRun(command: Command): Promise<boolean> {
    const { store, root, chosen } = this.workspace
    const file = chosen ? undefined : fileOf(store)
    if (file !== undefined && foreignStore(this.workspace)) return false
    const { importsInto } = await import('./trust/imported.ts')
    const isOwn = !(file !== undefined && wasAccepted(file)) && !importsInto(store).has(command)
    return isOwn || (await import('./trust/accepted.ts')).isAccepted(realRoot(root), { what: 'check', value: command })
  }

  /** What the settings say about the plan. */
  planSettings(): PlanSettings {
    const { settings, root, items } = this.workspace
    const { check, maxChecks, maxCancelled } = settings.plan ?? {}
    const command = check === undefined ? undefined : words(check)
    const mayRun = async () => {
      const item = items.find(({ what }) => what === 'plan.check')
      return !item || (await import('./trust/accepted.ts')).isAccepted(realRoot(root), item)
    }
    return { check: command && { command, mayRun }, maxChecks, maxCancelled }
  }

  /** The commands that must exit 0 here. */
  wards(): Wards {
    const { wards: commands, root, items } = this.workspace
    const mayRun = async () => {
      const item = items.find(({ what }) => what === 'wards')
      if (!item) return true
      const { isAccepted } = await import('./trust/accepted.ts')
      return isAccepted(realRoot(root), item) || ((await this.ask?.([item])) ?? false)
    }
    return { commands, mayRun }
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
  private shelved(tables: Store, missing = false, asData = false): Store {
    const { inFiles, root, work, queue } = this.workspace
    if (!inFiles) return tables
    const shelf = (top: string, keeps: Shelf['keeps'], open: (beside: Store) => Promise<Store>): Shelf => ({
      keeps,
      any: () => existsSync(top),
      open: async () =>
        await open(
          asData
            ? await openStore('sqlite::memory:')
            : missing && existsSync(top)
              ? await this.remembering(tables)
              : tables,
        ),
      spare: async () => await open(await openStore('sqlite::memory:')),
    })
    const files = shelf(
      join(root, work),
      ({ file }) => file !== undefined,
      async beside => {
        const [{ FileStore }, { kinds }] = await Promise.all([import('./engines/files/store.ts'), import('./kinds.ts')])
        const ledger = await (beside as LedgerKeeper).ledger()
        const kept = kinds.filter(({ file }) => file)
        return new FileStore({ top: join(root, work), root: boundOf(root, work), ledger, tables: beside, kinds: kept })
      },
    )
    const top = join(root, queue)
    const directoriesOn = async (beside: Store, told: Store, isData: boolean) => {
      const engine = import('./engines/directories/store.ts')
      const [{ DirectoryStore }, { kinds }] = await Promise.all([engine, import('./kinds.ts')])
      const ledger = await (beside as LedgerKeeper).ledger()
      const kind = kinds.find(({ directory }) => directory)!
      const marks = { seal: () => this.seal(), queueSeal: () => queueSeal(top), onMade: () => keepQueueAsOwn(top) }
      return new DirectoryStore({
        top,
        root: boundOf(root, queue),
        ledger,
        tables: told,
        kind,
        asData: isData,
        ...marks,
      })
    }
    const directories: Shelf = {
      ...shelf(
        top,
        ({ directory }) => directory !== undefined,
        async beside => await directoriesOn(beside, beside, asData),
      ),
      refusal: () => {
        const foreign = this.lookAtQueue()
        return foreign && untrustedStore(foreign)
      },
      // What others planted there is not taken into this user's own ledger either.
      asData: async () => await directoriesOn(await openStore('sqlite::memory:'), tables, true),
    }
    return new Shelves({ tables, shelves: [files, directories] })
  }

  /** What is foreign about the queue's own folder. One that is this user's is looked at once. */
  private lookAtQueue(): Foreign | undefined {
    if (this.queueIsOwn) return undefined
    const top = join(this.workspace.root, this.workspace.queue)
    this.foreignQueue = foreignQueue(top)
    this.queueIsOwn = !this.foreignQueue && existsSync(join(top, '.punchlist'))
    return this.foreignQueue
  }

  /** Files that are looked at are remembered, so that the next look is short: that makes the store, if it can be made. */
  private async remembering(otherwise: Store): Promise<Store> {
    try {
      makeSeal(realRoot(this.workspace.root))
      this.opened ??= this.open()
      return await this.opened
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      this.opened = undefined
      return otherwise
    }
  }

  private async open(): Promise<Store> {
    const { store } = this.workspace
    const file = fileOf(store)
    return await openStore(
      store,
      file === undefined ? this.patience : { ...this.patience, beforeWrite: () => keepAsOwn(file) },
    )
  }

  /** What somebody else's database says, without a byte being written or a log being replayed. */
  private async asData(foreign: Foreign): Promise<Store> {
    const file = fileOf(this.workspace.store)!
    const tables = foreign.acceptable && existsSync(file) ? openForeign(file) : undefined
    return this.shelved(tables ?? (await openStore('sqlite::memory:')), false, true)
  }

  /** What the folder's settings lead out of it to is neither written to nor asked before it was accepted. */
  private refusePending(writes: boolean): void {
    const { pending, root } = this.workspace
    const blocking = pending.filter(
      ({ what, effect }) => effect === 'connects' || (effect === 'outside' && (writes || what === 'store')),
    )
    if (blocking.length === 0) return
    throw new Problem(
      'untrusted',
      `${join(root, 'punchlist.json')}: ${blocking.map(({ what }) => what).join(', ')} not accepted; nothing was opened`,
      'See what it leads to, and accept it: punchlist trust',
      { items: blocking.map(({ what }) => what) },
    )
  }
}

/** Asks a person whether items may take effect. */
export type Ask = (items: readonly { readonly what: string; readonly value: unknown }[]) => Promise<boolean>

/** How long a log that another process has just made may be unknown. */
const JUST_MADE_MS = 300
const YOUNG_MS = 2000

/** What of a workspace's own store is somebody else's; undefined for one that the user named, a server, and memory. */
export function foreignStore({
  root,
  store,
  chosen,
}: Pick<Workspace, 'root' | 'store' | 'chosen'>): Foreign | undefined {
  const file = fileOf(store)
  if (chosen || file === undefined) return undefined
  if (leadsOutside(root, dirname(file)))
    return { file, why: 'lies behind a symbolic link that leads out of the workspace', acceptable: false }
  let foreign = foreignIn(file)
  // Another process may be between making the file and noting that it is ours. What is older than that is not.
  for (let waited = 0; foreign?.acceptable && waited < JUST_MADE_MS && isYoung(foreign.file); waited += 20) {
    pause(20)
    foreign = foreignIn(file)
  }
  return foreign
}

/** Whether a folder of the workspace leads out of it, or into its repository. One that is said to lie outside was accepted. */
function leadsOutside(root: string, folder: string): boolean {
  // Our own folder is no link: that is looked at, with less, when the store is.
  if (folder === join(root, '.punchlist') || leaves(relative(root, folder))) return false
  return !staysInside(root, folder)
}

function isYoung(file: string): boolean {
  const { ctimeMs } = lstatSync(file, { throwIfNoEntry: false }) ?? { ctimeMs: 0 }
  return Math.abs(Date.now() - ctimeMs) < YOUNG_MS
}

/** The path of a store that is a file. */
function fileOf(url: string): string | undefined {
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined
  return file === ':memory:' ? undefined : file
}

/** Reading goes on where writing cannot, if the store is a file that can be read without touching anything. */
function asItLies(url: string, error: unknown): Store | undefined {
  const hindered = error instanceof Problem && (error.code === 'store_full' || error.code === 'store_read_only')
  if (!hindered || !url.startsWith('sqlite:')) return undefined
  return openFrozen(url.slice('sqlite:'.length))
}

/** A store that is a file, and is not there. */
function isMissing(url: string): boolean {
  const file = fileOf(url)
  return file !== undefined && !existsSync(file)
}
