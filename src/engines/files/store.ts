import { relative } from 'node:path'
import { changedUnderHand } from '../../core/disk.ts'
import type { Event, Note } from '../../core/event.ts'
import { named, stands, unlessTooLate, whyNot } from '../../core/keeping.ts'
import type { Content, Draft, Happening, Item, Kind, Texts } from '../../core/kind.ts'
import type { Ledger, Seen } from '../../core/ledger.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type {
  Added,
  Change,
  Claim,
  ClaimStep,
  EventQuery,
  Finding,
  Kept,
  Query,
  Recovered,
  Removed,
  Step,
  Store,
  Unreadable,
} from '../../core/store.ts'
import { Contents } from './contents.ts'
import { leftovers, readability } from './health.ts'
import { differs, Looker } from './look.ts'
import { LARGEST, readText, statsAt } from './reading.ts'
import { removeLists } from './removing.ts'
import { formOf, idOf, type Place, Tree } from './tree.ts'
import { Writing } from './writing.ts'

export interface FileStoreOptions {
  /** The folder of all files. */
  readonly top: string
  /** The workspace: nothing that is read or written lies outside of it. */
  readonly root: string
  readonly ledger: Ledger
  /** Where the events are told, and everything that is not kept in files lives. */
  readonly tables: Store
  /** The kinds that are kept in files. */
  readonly kinds: readonly Kind[]
}

/**
 * Items as files, one each. The files are the truth, and people and other
 * programs write them too; the ledger follows what is seen there. One lock, the
 * ledger's, is held while a file is read, judged to be the one a change was
 * decided on, and replaced.
 */
export class FileStore implements Store {
  private readonly ledger: Ledger
  private readonly tables: Store
  private readonly tree: Tree
  private readonly looker: Looker
  private readonly root: string
  private readonly kinds: readonly Kind[]
  private readonly contents: Contents

  constructor({ top, root, ledger, tables, kinds }: FileStoreOptions) {
    this.ledger = ledger
    this.tables = tables
    this.root = root
    this.kinds = kinds
    this.tree = new Tree(top, root)
    this.looker = new Looker(ledger, this.tree)
    this.contents = new Contents(ledger, this.tree, root)
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    return this.again(() => {
      this.lookAround(kind, drafts)
      return this.writing(writing => {
        const ends = new Map<string, number>()
        return drafts.map(draft => this.add(kind, writing, draft, note, ends))
      })
    })
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    this.look(kind, query.where)
    return this.ledger.find(kind, query)
  }

  async texts(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Texts>> {
    const contents = this.contents.of(kind, ids)
    return new Map(Array.from(contents, ([id, { texts }]) => [id, texts]))
  }

  async names(kind: Kind, field: string, where: Readonly<Record<string, string>>): Promise<string[]> {
    return this.tree.names(kind, field, where, new Set(this.ledger.names(kind, field, where)))
  }

  async activity(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const files = ids.map(id => [id, this.ledger.fileOf(kind, id)] as const)
    return new Map(files.flatMap(([id, file]) => (file ? [[id, new Date(file.written).toISOString()]] : [])))
  }

  async unreadable(kind: Kind, where: Readonly<Record<string, string>>): Promise<Unreadable[]> {
    this.tree.astray.clear()
    const places = this.tree.places(kind, where)
    const astray = Array.from(this.tree.astray, ([path, message]) => ({
      file: relative(this.root, path),
      line: 1,
      message,
    }))
    const files = places.flatMap(({ folder }) => this.ledger.complaints(folder))
    const odd = places.flatMap(({ folder }) =>
      (this.looker.unnameable.get(folder) ?? []).map(name => ({
        file: this.shown({ folder, name }),
        line: 1,
        message: 'has a name that is not UTF-8',
      })),
    )
    return [...astray, ...files.map(file => ({ file: this.shown(file), ...file.complaint! })), ...odd]
  }

  async remarks(kind: Kind, ids: readonly string[] = []): Promise<Unreadable[]> {
    return this.contents.remarks(kind, ids)
  }

  async warnings(): Promise<Unreadable[]> {
    return []
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    this.look(kind, query.where)
    return this.ledger.count(kind, query)
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    this.refuseStale(kind, change)
    return this.writing(writing => {
      this.refuseStale(kind, change)
      const { item, file } = this.present(kind, change.id)
      const { fields, from } = change
      if (!stands(item, change)) throw whyNot(kind, item, change)
      const saved = this.ledger.save(kind, change, note)
      this.rewrite(kind, writing, file, {
        fields,
        texts: change.texts,
        happened: happened(from, fields['status'], note),
      })
      return saved
    })
  }

  async saveSteps<T extends Item>(kind: Kind<T>, steps: readonly [Step, ...Step[]], last?: ClaimStep): Promise<T> {
    const [{ change: first }] = steps
    this.refuseStale(kind, first)
    return this.writing(writing => {
      this.refuseStale(kind, first)
      const { item, file } = this.present<T>(kind, first.id)
      if (!stands(item, first)) throw whyNot(kind, item, first)
      let saved = item
      for (const { change, note } of steps) saved = this.ledger.save(kind, change, note)
      const moves = steps.flatMap(({ change: { from, fields }, note }) => happened(from, fields['status'], note))
      const fields: Record<string, unknown> = Object.assign({}, ...steps.map(({ change }) => change.fields))
      if (last) {
        const { claim, note } = last
        moves.push(...happened(saved.status, claim.fields['status'], note))
        Object.assign(fields, claim.fields, { owner: claim.owner })
        saved = this.ledger.take(kind, { where: { id: first.id } }, claim, note)!
      }
      // One file with all of it: killed in between, it is the old one.
      this.rewrite(kind, writing, file, { fields, happened: moves })
      return saved
    })
  }

  async saveAll<T extends Item>(kind: Kind<T>, changes: readonly Change[], note: Note): Promise<(T | undefined)[]> {
    const saved: (T | undefined)[] = []
    for (const change of changes) saved.push(await this.save(kind, change, note).catch(unlessTooLate))
    return saved
  }

  async takeAll<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T[]> {
    const taken: T[] = []
    const { limit = 1 } = query
    for (let item; taken.length < limit && (item = await this.take(kind, query, claim, note)); ) taken.push(item)
    return taken
  }

  async recover(): Promise<Recovered[]> {
    // A file is old or new at every instant, and the next look takes in what a killed program left.
    return []
  }

  async take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined> {
    return this.again(() => {
      this.look(kind, query.where)
      return this.writing(writing => this.takeFirst(kind, writing, query, claim, note))
    })
  }

  async renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T> {
    this.look(kind, { id })
    return this.ledger.together(() => this.ledger.renew(kind, id, token, leaseMs))
  }

  async lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]> {
    this.look(kind, {})
    return this.ledger.lapsed(kind, limit)
  }

  async load(kind: Kind, items: readonly Kept[]): Promise<void> {
    const lists = new Map(
      items.map(({ fields }) => this.tree.placeOf(kind, fields)).map(place => [place.folder, place]),
    )
    for (const { list } of lists.values()) this.looker.look(kind, list)
    this.writing(writing => {
      for (const { folder } of lists.values()) this.tree.make(folder)
      this.ledger.load(kind, items)
      const files = items.map(({ id, fields, texts, history }) => {
        const { folder } = this.tree.placeOf(kind, fields)
        const name = String(fields[formOf(kind).name])
        const path = this.tree.path(folder, name)
        const stats = writing.create(path, fitting(path, formOf(kind).write({ fields, texts, history })))
        return Looker.seen({ folder, name }, id, stats)
      })
      this.ledger.remember(kind, files)
    })
  }

  async remove(kind: Kind, where: Readonly<Record<string, string>>, note: Note): Promise<Removed> {
    this.looker.look(kind, where)
    return removeLists({ ledger: this.ledger, tree: this.tree, root: this.root }, kind, where, note)
  }

  async events(query: EventQuery): Promise<Event[]> {
    const { of } = query
    if (of?.kind.file?.history) return within(query, this.historyOf(of.kind, of.id))
    if (of) this.look(of.kind, { id: of.id })
    else for (const kind of this.kinds) this.look(kind, {})
    return await this.tables.events(query)
  }

  async changed(seq: number, ms: number, signal?: AbortSignal): Promise<void> {
    // Files that other programs write are only noticed by looking.
    for (let left = ms; left > 0 && !signal?.aborted; left -= LOOK_MS) {
      await this.tables.changed(seq, Math.min(left, LOOK_MS), signal)
      if ((await this.events({ after: seq, limit: 1 })).length > 0) return
    }
  }

  async inspect(mend = false): Promise<Finding[]> {
    const findings: Finding[] = []
    for (const kind of this.kinds) {
      this.look(kind, {})
      findings.push(readability(kind, this.ledger.find(kind, {}).length, await this.unreadable(kind, {})))
      const left = leftovers(this.ledger, this.tree, kind, mend)
      if (left.length === 0) continue
      findings.push({
        check: 'files that a killed program left',
        ok: mend,
        detail: mend ? `${left.length} removed` : left.map(path => relative(this.root, path)).join(', '),
        hint: 'Run: punchlist doctor --fix',
      })
    }
    return findings
  }

  async close(): Promise<void> {
    await this.tables.close()
  }

  /** Looks at one item's file alone where the item is named: its list may be long. */
  private look(kind: Kind, where: Query['where'] = {}): void {
    const id = where['id']
    const known = typeof id === 'string' ? this.ledger.fileOf(kind, id) : undefined
    if (known) this.looker.lookOnce(kind, String(id))
    if (!known || !this.ledger.fileOf(kind, String(id))) this.looker.look(kind, where)
  }

  /**
   * Looks wherever an item of the same identity may stand: at its own file, if
   * there is one or was, where the id itself is the identity; in all lists
   * beside its own otherwise.
   */
  private lookAround(kind: Kind, drafts: readonly Draft[]): void {
    const wanted = new Map<string, Query['where']>()
    for (const { id, identity, fields } of drafts) {
      if (identity === undefined) continue
      const { folder, list } = this.tree.placeOf(kind, fields)
      const outer = kind.list.slice(0, -1).map(field => [field, list[field]!] as const)
      const file = this.tree.path(folder, String(fields[formOf(kind).name]))
      if (identity !== id) wanted.set(outer.join('/'), Object.fromEntries(outer))
      else if (this.ledger.fileOf(kind, id) || statsAt(file)) wanted.set(id, { ...list, id })
    }
    for (const where of wanted.values()) this.look(kind, where)
  }

  private add<T extends Item>(
    kind: Kind<T>,
    writing: Writing,
    draft: Draft,
    note: Note,
    ends: Map<string, number>,
  ): Added<T> {
    const [held] = draft.identity === undefined ? [] : this.ledger.find(kind, { where: { identity: draft.identity } })
    if (held) return { item: held, created: false }
    const place = this.tree.placeOf(kind, draft.fields)
    this.tree.make(place.folder)
    const own = named(kind, draft, () => this.nextNumber(kind, place, ends))
    const { title, status, identity = null } = own
    const fields: Fields = { ...own.fields, title, status, identity }
    const first: Happening = { at: note.at, from: null, to: status, by: note.by, why: note.why ?? null }
    const name = String(fields[formOf(kind).name])
    const complaint = this.ledger.file(place.folder, name)?.complaint
    if (complaint) throw this.contents.unreadable(place.folder, name, complaint)
    return this.create(kind, writing, place, name, { fields, texts: draft.texts ?? {}, history: [first] }, note)
  }

  private takeFirst<T extends Item>(
    kind: Kind<T>,
    writing: Writing,
    query: Query,
    claim: Claim,
    note: Note,
  ): T | undefined {
    for (;;) {
      const [first] = this.ledger.find(kind, { ...query, limit: 1 })
      if (!first) return undefined
      const now = this.looker.lookAt(kind, first.id)
      // Somebody else has written it since: whether it is still the one is asked again.
      if (!now || now.item.revision !== first.revision) continue
      const taken = this.ledger.take(kind, { where: { id: first.id } }, claim, note)!
      const fields = { ...claim.fields, owner: claim.owner }
      this.rewrite(kind, writing, now.file, {
        fields,
        happened: happened(first.status, claim.fields['status'], note),
      })
      return taken
    }
  }

  /** What was decided on a revision that is past is refused before the lock is waited for, and before the file is read. */
  private refuseStale(kind: Kind, change: Change): void {
    if (change.revision === undefined) return
    const [item] = this.ledger.find(kind, { where: { id: change.id } })
    if (item && item.revision !== change.revision) throw whyNot(kind, item, change)
  }

  private present<T extends Item>(kind: Kind<T>, id: string): { item: T; file: Seen } {
    const known = this.ledger.fileOf(kind, id)
    const there = this.looker.lookAt(kind, id)
    if (there) return there
    const complaint = known && this.ledger.file(known.folder, known.name)?.complaint
    throw complaint ? this.contents.unreadable(known.folder, known.name, complaint) : whyNot(kind, undefined, { id })
  }

  private nextNumber(kind: Kind, place: Place, ends: Map<string, number>): number {
    const last = ends.get(place.folder) ?? Math.max(this.ledger.lastNumber(kind, place.list), this.highest(kind, place))
    ends.set(place.folder, last + 1)
    this.ledger.raiseNumber(kind, place.list, last + 1)
    return last + 1
  }

  /** The highest number among the names in a folder: other programs number their files too. */
  private highest(kind: Kind, { folder }: Place): number {
    const form = formOf(kind)
    const numbers = this.tree
      .files(folder)
      .filter(name => form.isItem(name))
      .map(name => Number(/\d+/.exec(name)?.[0] ?? 0))
    return numbers.reduce((most, number) => Math.max(most, number), 0)
  }

  private create<T extends Item>(
    kind: Kind<T>,
    writing: Writing,
    { folder, list }: Place,
    name: string,
    content: Content,
    note: Note,
  ): Added<T> {
    const form = formOf(kind)
    const path = this.tree.path(folder, name)
    const text = fitting(path, form.write(content))
    // What will be read is what is kept: a text that does not come back as it was given is a bug, found here.
    const read = form.read(text, name, list)
    if ('message' in read) throw new Error(`${name}:${read.line} ${read.message}`)
    const stats = writing.create(path, text)
    const id = idOf(kind, read.fields)
    const file = Looker.seen({ folder, name }, id, stats)
    this.ledger.discover(kind, [{ id, fields: read.fields, file, note }])
    return { item: this.ledger.find(kind, { where: { id } })[0]!, created: true }
  }

  private rewrite(
    kind: Kind,
    writing: Writing,
    file: Seen,
    change: { fields: Fields; texts?: Texts | undefined; happened: readonly Happening[] },
  ): void {
    const path = this.tree.path(file.folder, file.name)
    const look = readText(path)
    if (!look || !('text' in look)) throw changedUnderHand(path)
    if (differs(file, look.stats)) throw changedUnderHand(path)
    const asGiven = this.contents.isAsGiven(file.item!, look.text)
    if (change.texts && !asGiven) throw changedUnderHand(path)
    const text = formOf(kind).edit(look.text, change)
    if (text === look.text) return
    fitting(path, text)
    const stats = writing.replace(path, text, look.stats)
    this.ledger.remember(kind, [Looker.seen(file, file.item, stats)])
  }

  private historyOf(kind: Kind, id: string): Event[] {
    const content = this.contents.of(kind, [id]).get(id)
    const title = content ? String(content.fields['title']) : ''
    return (content?.history ?? []).map((one, index) => ({
      ...one,
      seq: index + 1,
      kind: kind.name,
      id,
      title,
      revision: index + 1,
      token: 0,
    }))
  }

  /** Does `work`, and anew when somebody who does not ask us has written in between. */
  private again<T>(work: () => T): T {
    for (let attempt = 1; ; attempt++) {
      try {
        return work()
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'changed_meanwhile') || attempt === 10) throw error
      }
    }
  }

  /** Does `work` in one transaction of the ledger, and undoes its files when that fails. */
  private writing<T>(work: (writing: Writing) => T): T {
    const writing = new Writing()
    let succeeded = false
    try {
      const result = this.ledger.together(() => {
        const done = work(writing)
        writing.settle()
        return done
      })
      succeeded = true
      return result
    } finally {
      writing.end(succeeded)
    }
  }

  private shown({ folder, name }: { folder: string; name: string }): string {
    return relative(this.root, this.tree.path(folder, name))
  }
}

const LOOK_MS = 2000

function happened(from: string, to: unknown, { at, by, why }: Note): Happening[] {
  return typeof to === 'string' && to !== from ? [{ at, from, to, by, why: why ?? null }] : []
}

/** What could not be read again is not written. */
function fitting(path: string, text: string): string {
  if (Buffer.byteLength(text) <= LARGEST) return text
  throw new Problem(
    'bad_input',
    `${path} would be larger than ${LARGEST / 1024} KiB`,
    'Say it in fewer words, or put what is long into a file of its own and name that; nothing was written.',
    { file: path },
  )
}

function within({ after = 0, limit, last }: EventQuery, events: readonly Event[]): Event[] {
  const wanted = events.filter(({ seq }) => seq > after)
  return last === undefined ? wanted.slice(0, limit) : wanted.slice(-last)
}
