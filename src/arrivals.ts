import { statSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from './core/id.ts'
import type { Item, Kind, Texts } from './core/kind.ts'
import { openStatuses } from './core/lifecycle.ts'
import { Problem } from './core/problem.ts'
import type { Store } from './core/store.ts'
import { isSealed } from './engines/directories/sealed.ts'
import { kinds } from './kinds.ts'
import { foreignStore } from './open.ts'
import { realRoot } from './trust/root.ts'
import { keepShownTasks, shownTasks } from './trust/state.ts'
import { wasAccepted } from './trust/store-file.ts'
import type { Workspace } from './workspace.ts'

/** An open task that this user did not add here: written by hand or by a script, or brought by a clone or a pull. */
export interface Arrived {
  readonly id: string
  readonly title: string
  /** Hash of the definition: a task whose definition changes is shown again. */
  readonly hash: string
  /** Hash of every text that goes into the prompt. */
  readonly content: string
  /** Those texts, by their names, the definition first. */
  readonly texts: Texts
}

/** The tasks of one workspace that its user did not add here, and which of them the user was shown. */
export class Arrivals {
  private readonly workspace: Workspace
  private readonly store: () => Promise<Store>
  private readonly seal: string | undefined
  private shown: Set<string> | undefined

  /** `store`: opened only where a task can have come from elsewhere. */
  constructor(workspace: Workspace, store: () => Promise<Store>, seal: string | undefined) {
    this.workspace = workspace
    this.store = store
    this.seal = seal
  }

  /** Those that are open, or the one of them with this id. */
  async open(id?: string): Promise<Arrived[]> {
    const isArrived = this.judge()
    if (!isArrived || (id !== undefined && !isArrived(id))) return []
    const where = id === undefined ? {} : { id }
    const store = await this.store()
    const found = await store.find(TASK, { where, status: openStatuses(TASK.lifecycle), fields: ['title'] })
    const arrived = found.filter(item => isArrived(item.id))
    const texts = await store.texts(
      TASK,
      arrived.map(item => item.id),
    )
    return arrived.map(item => {
      const { [TASK.directory!.definition]: definition, ...others } = texts.get(item.id) ?? {}
      const all = definition === undefined ? others : { [TASK.directory!.definition]: definition, ...others }
      return { id: item.id, title: item.title, ...hashesOf(item, all), texts: all }
    })
  }

  /** Those that the user was not shown before. From now on they count as shown. */
  async unseen(id?: string): Promise<Arrived[]> {
    this.shown ??= new Set(this.known())
    const fresh = (await this.open(id)).filter(({ hash }) => !this.shown!.has(hash))
    if (fresh.length === 0) return []
    for (const { hash } of fresh) this.shown.add(hash)
    try {
      this.remember(fresh)
    } catch (error) {
      // Shown again by the next run then.
      if (!(error instanceof Problem)) throw error
    }
    return fresh
  }

  /** Whether this user has run or accepted the tasks here. */
  areKnown(): boolean {
    return this.known() !== undefined
  }

  /** Begins the first run here. Throws `untrusted` where there is a task that its user has not accepted. */
  async begin(): Promise<void> {
    if (this.areKnown()) return
    const tasks = await this.open()
    if (tasks.length === 0) return this.remember([])
    throw new Problem(
      'untrusted',
      `Not accepted here: tasks ${tasks
        .slice(0, MOST_NAMED)
        .map(({ id }) => id)
        .join(', ')}${tasks.length > MOST_NAMED ? ', …' : ''}; nothing was claimed`,
      'Look at them and accept them: punchlist trust',
      { total: tasks.length },
    )
  }

  /** Notes that this user was shown these tasks, and runs the others here. */
  remember(arrived: readonly Arrived[]): void {
    const place = this.place()
    if (place)
      keepShownTasks(
        place.path,
        place.holder,
        arrived.map(({ hash }) => hash),
      )
  }

  private known(): readonly string[] | undefined {
    const place = this.place()
    return place && shownTasks(place.path, place.holder)
  }

  /** How to tell of a task that it was not added here; undefined where every task was. */
  private judge(): ((id: string) => boolean) | undefined {
    const { root, queue, inFiles, chosen } = this.workspace
    const { seal } = this
    if (inFiles) return id => seal === undefined || !isSealed(join(root, queue), id, seal)
    const file = databaseOf(this.workspace)
    if (chosen || file === undefined) return undefined
    // What is added to a database after its tasks were accepted is added here.
    const brought = foreignStore(this.workspace) !== undefined || (wasAccepted(file) && !this.areKnown())
    return brought ? () => true : undefined
  }

  /** Where the tasks lie, and what tells that place from another under the same path. */
  private place() {
    const { root, queue, inFiles } = this.workspace
    const file = inFiles ? realRoot(root) : databaseOf(this.workspace)
    const holder = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
    return holder && { path: inFiles ? join(file!, queue) : file!, holder }
  }
}

const MOST_NAMED = 20

function hashesOf({ id, title }: Item, texts: Texts): Pick<Arrived, 'hash' | 'content'> {
  const all = Object.entries(texts).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const asked = [id, title, texts[TASK.directory!.definition]]
  return { hash: digest(JSON.stringify(asked)).slice(0, 32), content: digest(JSON.stringify([id, title, all])) }
}

const TASK = kinds.find(({ directory }) => directory) as Kind

function databaseOf({ store }: Workspace): string | undefined {
  const file = store.startsWith('sqlite:') ? store.slice('sqlite:'.length) : ':memory:'
  return file === ':memory:' ? undefined : file
}
