import { mkdirSync, renameSync, unlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { changedUnderHand, leadsOut, problemFor } from '../../core/disk.ts'
import type { Event, Note } from '../../core/event.ts'
import { named, ofLists, stands, unlessTooLate, whyNot } from '../../core/keeping.ts'
import type { Content, Draft, Happening, Item, Kind, Texts } from '../../core/kind.ts'
import type { Ledger, Seen } from '../../core/ledger.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type {
  Added,
  Change,
  Claim,
  EventQuery,
  Finding,
  Kept,
  Query,
  Recovered,
  Removed,
  Store,
  Unreadable,
} from '../../core/store.ts'
import { differs, Looker } from './look.ts'
import { readContent, readText } from './reading.ts'
import { formOf, idOf, type Place, Tree } from './tree.ts'
import { isUnfinished, Writing } from './writing.ts'

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
  /** The file whose texts were given out last: what becomes of them was decided on this. */
  private given: { readonly id: string; readonly text: string } | undefined

  constructor({ top, root, ledger, tables, kinds }: FileStoreOptions) {
    this.ledger = ledger
    this.tables = tables
    this.root = root
    this.kinds = kinds
    this.tree = new Tree(top, root)
    this.looker = new Looker(ledger, this.tree)
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    const lists = new Map(
      drafts.map(({ fields }) => this.tree.placeOf(kind, fields)).map(place => [place.folder, place]),
    )
    for (const { folder } of lists.values()) this.tree.make(folder)
    // Who else has the same identity stands in other lists of the session too.
    if (drafts.some(({ identity }) => identity !== undefined)) this.lookAround(kind, drafts)
    const ends = new Map<string, number>()
    return this.writing(writing =>
      drafts.map((draft): Added<T> => {
        const held =
          draft.identity === undefined ? undefined : this.ledger.find(kind, { where: { identity: draft.identity } })[0]
        if (held) return { item: held, created: false }
        const place = this.tree.placeOf(kind, draft.fields)
        const {
          title,
          status,
          identity = null,
          fields: more,
        } = named(kind, draft, () => this.nextNumber(kind, place, ends))
        const fields = { ...more, title, status, identity }
        const first: Happening = { at: note.at, from: null, to: status, by: note.by, why: note.why ?? null }
        const name = String(fields[formOf(kind).name as keyof typeof fields])
        return this.create(kind, writing, place, name, { fields, texts: draft.texts ?? {}, history: [first] }, note)
      }),
    )
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    this.look(kind, query.where)
    return this.ledger.find(kind, query)
  }

  async texts(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Texts>> {
    const found = new Map<string, Texts>()
    for (const id of ids) {
      const content = this.contentOf(kind, id)
      if (content) found.set(id, content.texts)
    }
    return found
  }

  async names(kind: Kind, field: string, where: Readonly<Record<string, string>>): Promise<string[]> {
    ofLists(kind, [field, ...Object.keys(where)])
    return this.tree.names(kind, field, where)
  }

  async activity(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const files = ids.map(id => [id, this.ledger.fileOf(kind, id)] as const)
    return new Map(files.flatMap(([id, file]) => (file ? [[id, new Date(file.written).toISOString()]] : [])))
  }

  async unreadable(kind: Kind, where: Readonly<Record<string, string>>): Promise<Unreadable[]> {
    this.tree.outside.clear()
    const places = this.tree.places(kind, where)
    const outside = [...this.tree.outside].map(path => ({
      file: relative(this.root, path),
      line: 1,
      message: 'leads out of the workspace',
    }))
    const files = places.flatMap(({ folder }) => this.ledger.complaints(folder))
    const odd = places.flatMap(({ folder }) =>
      (this.looker.unnameable.get(folder) ?? []).map(name => ({
        file: this.shown({ folder, name }),
        line: 1,
        message: 'has a name that is not UTF-8',
      })),
    )
    return [...outside, ...files.map(file => ({ file: this.shown(file), ...file.complaint! })), ...odd]
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    this.look(kind, query.where)
    return this.ledger.count(kind, query)
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    return this.writing(writing => {
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
    for (let attempt = 1; ; attempt++) {
      this.look(kind, query.where)
      try {
        return this.writing(writing => this.takeFirst(kind, writing, query, claim, note))
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'changed_meanwhile') || attempt === 10) throw error
      }
    }
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
    for (const place of lists.values()) {
      this.tree.make(place.folder)
      this.looker.look(kind, place.list)
    }
    this.writing(writing => {
      this.ledger.load(kind, items)
      const files = items.map(({ id, fields, texts, history }) => {
        const { folder } = this.tree.placeOf(kind, fields)
        const name = String(fields[formOf(kind).name])
        const stats = writing.create(this.tree.path(folder, name), formOf(kind).write({ fields, texts, history }))
        return Looker.seen({ folder, name }, id, stats)
      })
      this.ledger.remember(kind, files)
    })
  }

  /** Moves the folder of the lists away, into the workspace's own: what was removed by mistake is still there. */
  async remove(kind: Kind, where: Readonly<Record<string, string>>, note: Note): Promise<Removed> {
    ofLists(kind, Object.keys(where))
    if (Object.keys(where).length === 0) throw new Error(`Which lists of ${kind.name} are to be removed?`)
    this.looker.look(kind, where)
    const { folders } = formOf(kind)
    const depth = folders.findLastIndex(segment => where[segment.slice(1, -1)] !== undefined) + 1
    const folder = folders
      .slice(0, depth)
      .map(segment => where[segment.slice(1, -1)] ?? segment)
      .join('/')
    const from = this.tree.path(folder)
    if (!this.tree.isInside(from)) throw leadsOut(from)
    return this.ledger.together(() => {
      const places = this.tree.places(kind, where)
      const items = this.ledger.find(kind, { where })
      for (const item of items) this.ledger.drop(kind, item, note)
      for (const place of places) {
        for (const { name } of this.ledger.files(place.folder)) this.ledger.forget(place.folder, name)
      }
      const stamp = note.at.replace(/\D/g, '').slice(0, 14)
      const to = join(this.root, '.punchlist', 'trash', `${folder.replaceAll('/', '-')}-${stamp}-${process.pid}`)
      try {
        mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
        renameSync(from, to)
      } catch (error) {
        throw problemFor(error, from)
      }
      return { count: items.length, to: relative(this.root, to) }
    })
  }

  async events(query: EventQuery): Promise<Event[]> {
    const { of } = query
    if (of?.kind.file?.history) return within(query, this.historyOf(of.kind, of.id))
    for (const kind of this.kinds) this.look(kind, {})
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
      const bad = await this.unreadable(kind, {})
      const { length } = this.ledger.find(kind, {})
      const names = bad.slice(0, 5).map(({ file, line, message }) => `${file}:${line} ${message}`)
      findings.push({
        check: `${kind.name} files`,
        ok: bad.length === 0,
        detail: bad.length === 0 ? `${length}, each can be read` : `${bad.length} cannot be read: ${names.join('; ')}`,
        hint: 'Correct them by hand, or move them away; they were left as they are.',
      })
      const left = this.leftovers(kind, mend)
      if (left.length > 0) {
        const detail = mend ? `${left.length} removed` : left.map(path => relative(this.root, path)).join(', ')
        findings.push({
          check: 'files that a killed program left',
          ok: mend,
          detail,
          hint: 'Run: punchlist doctor --fix',
        })
      }
    }
    return findings
  }

  private leftovers(kind: Kind, mend: boolean): string[] {
    const all = () =>
      this.tree.places(kind, {}).flatMap(({ folder }) =>
        this.tree
          .files(folder)
          .filter(isUnfinished)
          .map(name => this.tree.path(folder, name)),
      )
    if (all().length === 0) return []
    // Nobody writes while we hold the lock: what is there now, nobody needs.
    return this.ledger.together(() => {
      const left = all()
      if (mend) for (const path of left) unlinkSync(path)
      return left
    })
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

  /** All lists of the sessions that these drafts go to. */
  private lookAround(kind: Kind, drafts: readonly Draft[]): void {
    const outer = kind.list.slice(0, -1)
    const wanted = new Map(
      drafts.map(({ fields }) => [
        outer.map(field => fields[field]).join('/'),
        Object.fromEntries(outer.map(field => [field, fields[field]])),
      ]),
    )
    for (const where of wanted.values()) this.looker.look(kind, where)
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

  private present<T extends Item>(kind: Kind<T>, id: string): { item: T; file: Seen } {
    const there = this.looker.lookAt(kind, id)
    if (!there) throw whyNot(kind, undefined, { id })
    return there
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
    const text = form.write(content)
    // What will be read is what is kept: a text that does not come back as it was given is a bug, found here.
    const read = form.read(text, name, list)
    if ('message' in read) throw new Error(`${name}:${read.line} ${read.message}`)
    const stats = writing.create(this.tree.path(folder, name), text)
    const id = idOf(kind, read.fields)
    const file = Looker.seen({ folder, name }, id, stats)
    this.ledger.discover(kind, [{ id, fields: read.fields, file, note }])
    return { item: this.ledger.find(kind, { where: { id } })[0]!, created: true }
  }

  private rewrite(
    kind: Kind,
    writing: Writing,
    file: Seen,
    change: { fields: Fields; texts?: Texts | undefined; happened?: Happening | undefined },
  ): void {
    const path = this.tree.path(file.folder, file.name)
    const look = readText(path)
    if (!look || !('text' in look)) throw changedUnderHand(path)
    if (differs(file, look.stats)) throw changedUnderHand(path)
    const given = this.given?.id === file.item ? this.given : undefined
    this.given = undefined
    if (change.texts && given && given.text !== look.text) throw changedUnderHand(path)
    const text = formOf(kind).edit(look.text, change)
    if (text === look.text) return
    const stats = writing.replace(path, text, look.stats)
    this.ledger.remember(kind, [Looker.seen(file, file.item, stats)])
  }

  private contentOf(kind: Kind, id: string): Content | undefined {
    const file = this.ledger.fileOf(kind, id)
    if (!file || !this.tree.isReachable(file.folder)) return undefined
    const [item] = this.ledger.find(kind, { where: { id } }) as unknown as Fields[]
    const list = this.tree.placeOf(kind, item ?? {}).list
    const path = this.tree.path(file.folder, file.name)
    const found = readContent(path, text => formOf(kind).read(text, file.name, list))
    if (!found) return undefined
    const { content, text } = found
    this.given = text === undefined ? undefined : { id, text }
    if (!('message' in content)) return content
    throw new Problem(
      'unreadable_file',
      `${this.shown(file)}:${content.line} ${content.message}`,
      'Correct the file by hand; nothing was written to it.',
      { file: this.shown(file), line: content.line },
    )
  }

  private historyOf(kind: Kind, id: string): Event[] {
    const content = this.contentOf(kind, id)
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

function happened(from: string, to: unknown, { at, by, why }: Note): Happening | undefined {
  return typeof to === 'string' && to !== from ? { at, from, to, by, why: why ?? null } : undefined
}

function within({ after = 0, limit, last }: EventQuery, events: readonly Event[]): Event[] {
  const wanted = events.filter(({ seq }) => seq > after)
  return last === undefined ? wanted.slice(0, limit) : wanted.slice(-last)
}
