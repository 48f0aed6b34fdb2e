import { closeSync, constants, existsSync, lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Arrivals } from './arrivals.ts'
import { openRegular, readUpTo } from './core/files.ts'
import { programsOf, RUN_ON_CHECKOUT } from './core/git.ts'
import { newDigest } from './core/id.ts'
import { Problem } from './core/problem.ts'
import { openForeign } from './engines/sqlite/store.ts'
import { foreignStore, StoreDoor } from './open.ts'
import { checksIn } from './plans/checks.ts'
import { accept, hashOf, hashOfAll, isAccepted } from './trust/accepted.ts'
import { importsInto } from './trust/imported.ts'
import { shownValue } from './trust/judgement.ts'
import { acceptQueue, foreignQueue, queueContent } from './trust/queue-folder.ts'
import { realRoot } from './trust/root.ts'
import { acceptStore, untrustedStore, wasAccepted } from './trust/store-file.ts'
import { findWorkspace, type Workspace, type WorkspaceWish } from './workspace.ts'

/** Something of a folder that its user accepts, or not. */
export interface Item {
  readonly what: string
  readonly value: unknown
  readonly hash: string
  readonly accepted: boolean
}

export interface TrustSet {
  /** Of all of them: what PUNCHLIST_TRUST names. */
  readonly hash: string
  readonly items: readonly Item[]
}

/** Everything of a workspace that is in effect only once its user accepted it. Nothing is written. */
export async function trustSet(workspace: Workspace): Promise<TrustSet> {
  const root = realRoot(workspace.root)
  const contents = [
    ...workspace.items.map((item): Content => ({ ...item, shown: shownValue(item) })),
    ...(await programs(workspace)),
    ...(await brought(workspace)),
  ]
  const items = contents.map(({ what, value, shown, accept: own }) => ({
    what,
    value: shown ?? value,
    hash: hashOf(root, { what, value }),
    accepted: own === undefined && isAccepted(root, { what, value }),
  }))
  return { hash: hashOfAll(root, contents), items }
}

/** Accepts items, by their hashes, as they are at this moment. Gives back the set as it is then. */
export async function acceptItems(workspace: Workspace, hashes: ReadonlySet<string>): Promise<TrustSet> {
  const root = realRoot(workspace.root)
  const contents: Content[] = [...workspace.items, ...(await programs(workspace)), ...(await brought(workspace))]
  const wanted = contents.filter(item => hashes.has(hashOf(root, item)))
  for (const item of wanted) await item.accept?.()
  accept(
    root,
    wanted.filter(item => !item.accept),
  )
  return await trustSet(workspace)
}

/** What PUNCHLIST_TRUST asks for: accepts the whole set if it is the one that is named. */
export async function acceptNamed(wish: WorkspaceWish, named: string): Promise<void> {
  const workspace = await findWorkspace(wish)
  const { hash, items } = await trustSet(workspace)
  if (hash !== named || items.every(({ accepted }) => accepted)) return
  await acceptItems(workspace, new Set(items.map(item => item.hash)))
}

interface Content {
  readonly what: string
  readonly value: unknown
  readonly shown?: unknown
  /** How it is accepted, where that is not remembered by its hash. It is there only while it is not accepted. */
  readonly accept?: () => void | Promise<void>
}

/** Whether a program that the repository's configuration names may be started by git. */
export async function isAcceptedProgram({ root }: Workspace, { key, value }: Program): Promise<boolean> {
  return isAccepted(realRoot(root), { what: `git ${key}`, value })
}

interface Program {
  readonly key: string
  readonly value: string
}

/** What git would start for a worktree because the repository's own configuration says so. */
async function programs({ root }: Workspace): Promise<Content[]> {
  try {
    const found = await programsOf(root)
    return found.filter(({ key }) => RUN_ON_CHECKOUT.test(key)).map(({ key, value }) => ({ what: `git ${key}`, value }))
  } catch (error) {
    // No git, or a repository that it does not work in: then it starts nothing either.
    if (error instanceof Problem) return []
    throw error
  }
}

/** What came with the folder and is no setting: the store, what is kept in it, and the tasks. */
async function brought(workspace: Workspace): Promise<Content[]> {
  return [...(await stored(workspace)), ...queued(workspace), ...(await arrived(workspace))]
}

/** A database that came with the folder, and the commands in it; of one that did not, those that an import brought. */
async function stored(workspace: Workspace): Promise<Content[]> {
  const { store, chosen } = workspace
  const file = store.startsWith('sqlite:') ? store.slice('sqlite:'.length) : undefined
  if (file === ':memory:' || (file !== undefined && !existsSync(dirname(file)))) return []
  const foreign = foreignStore(workspace)
  if (foreign && !foreign.acceptable) throw untrustedStore(foreign)
  const isForeign = foreign !== undefined || (!chosen && file !== undefined && existsSync(file) && wasAccepted(file))
  const imports = importsInto(store)
  if (!isForeign && !imports.any) return []
  // What the settings name and nobody accepted is not in effect: this store is another.
  const door = new StoreDoor({ ...workspace, pending: [] })
  try {
    const checks = await checksIn(await door.store(false))
    const waiting = checks.filter(command => isForeign || imports.has(command))
    const database = foreign
      ? [{ what: 'database', value: contentOf(file!), accept: async () => await acceptDatabase(workspace) }]
      : []
    return [...database, ...waiting.map(value => ({ what: 'check', value }))]
  } finally {
    await door.close()
  }
}

/** The records of a queue that came with the folder. */
function queued(workspace: Workspace): Content[] {
  const top = join(workspace.root, workspace.queue)
  const foreign = workspace.inFiles ? foreignQueue(top) : undefined
  if (!foreign) return []
  if (!foreign.acceptable) throw untrustedStore(foreign)
  return [{ what: 'queue', value: queueContent(top), accept: () => acceptQueue(top) }]
}

/** The open tasks that were not added here, until the first run, or their user, has accepted them. */
async function arrived(workspace: Workspace): Promise<Content[]> {
  const door = new StoreDoor(workspace)
  try {
    const arrivals = new Arrivals(workspace, async () => await door.untouched(), door.seal())
    const tasks = arrivals.areKnown() ? [] : await arrivals.open()
    if (tasks.length === 0) return []
    const value = tasks.map(({ id, content }) => ({ id, content }))
    const shown = tasks.map(({ id, title, texts }) => ({ id, title, texts }))
    return [{ what: 'tasks', value, shown, accept: () => arrivals.remember(tasks) }]
  } catch (error) {
    // A queue that cannot be read keeps nobody from accepting the rest; a run is refused by it.
    if (error instanceof Problem) return []
    throw error
  } finally {
    await door.close()
  }
}

/** The files of a database as they lie there: what is accepted is this content, and none that comes later. */
function contentOf(file: string): unknown {
  return [file, `${file}-wal`, `${file}-journal`].flatMap(path => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats?.size ? [{ file: path, ...summaryOf(path) }] : []
  })
}

/** So much of a file is read at a time: a database may be larger than memory. */
const PIECE = 1024 * 1024

function summaryOf(path: string): { readonly bytes: number; readonly sha256: string } {
  const { descriptor, stats } = openRegular(path, constants.O_RDONLY)
  try {
    const digest = newDigest()
    for (let piece; (piece = readUpTo(descriptor, PIECE)).length > 0; ) digest.update(piece)
    return { bytes: stats.size, sha256: digest.digest('hex') }
  } finally {
    closeSync(descriptor)
  }
}

async function acceptDatabase(workspace: Workspace): Promise<void> {
  const file = workspace.store.slice('sqlite:'.length)
  const readable = openForeign(file)
  if (!readable) {
    throw new Problem(
      'unreadable_file',
      `${file} is not a database that this punchlist made: it has other tables, or another version's`,
      'Move it away; the next write makes a new one.',
      { file },
    )
  }
  await readable.close()
  acceptStore(file)
}
