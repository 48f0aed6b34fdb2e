import type { Event, Note } from '../../core/event.ts'
import {
  alreadyThere,
  columnsOf,
  type Named,
  named,
  ofLists,
  pastOf,
  referring,
  repeated,
  rowOf,
  stored,
  whyNot,
} from '../../core/keeping.ts'
import type { Draft, Item, Kind, Texts } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { refuseParts } from '../../core/parts.ts'
import type { Added, Change, Claim, ClaimStep, EventQuery, Kept, Query, Removed, Step } from '../../core/store.ts'
import { LeaseClock } from './clock.ts'
import type { Connection, Value } from './connection.ts'
import { keepNumber, makeRoom, nextNumber } from './lists.ts'
import { eventOf, eventsIn, tell } from './log.ts'
import { isTwice } from './problems.ts'
import * as statements from './statements.ts'
import { awaited, countDown, isWired, parentsOf, rewires, wire } from './waits.ts'

/** Items as rows. Nothing here begins a transaction: whoever writes does so inside one, and may do more in it. */
export class Rows {
  private readonly connection: Connection
  private readonly clock: LeaseClock

  constructor(connection: Connection) {
    this.connection = connection
    this.clock = new LeaseClock(connection)
  }

  insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Added<T>[] {
    const ends = new Map<string, number>()
    const known = drafts.map(({ identity }) =>
      identity === undefined ? undefined : this.find(kind, { where: { identity } })[0],
    )
    const taken = new Map<string, number>()
    // A draft that comes twice is added once: the second stands for the first.
    const twin = drafts.map(({ identity }, index) => {
      if (identity === undefined || known[index]) return undefined
      const earlier = taken.get(identity)
      if (earlier === undefined) taken.set(identity, index)
      return earlier
    })
    const isNew = (index: number) => !known[index] && twin[index] === undefined
    const fresh = drafts.map((draft, index) => (isNew(index) ? this.name(kind, draft) : undefined))
    for (const parent of parentsOf(kind, fresh)) {
      const whole = this.present(kind, parent)
      if (whole) refuseParts(kind, whole)
    }
    const ids = drafts.map((_, index) => known[index]?.id ?? fresh[twin[index] ?? index]!.id)
    const added: Added<T>[] = []
    for (const [index, draft] of drafts.entries()) {
      const own = fresh[index]
      const item = own
        ? this.add(kind, referring(kind, own, ids), draft, note, ends)
        : (known[index] ?? added[twin[index]!]!.item)
      added.push({ item, created: own !== undefined })
    }
    const wired = wire(
      this.connection,
      kind,
      fresh.flatMap(one => (one && isWired(kind, one.fields) ? one.id : [])),
    )
    if (!wired && drafts.every(({ at }) => at === undefined)) return added
    // A later draft has moved earlier ones along, or is what they wait for.
    return added.map(({ item, created }) => ({ item: this.present(kind, item.id)!, created }))
  }

  find<T extends Item>(kind: Kind<T>, query: Query): T[] {
    const rows = this.connection.lists(statements.find(kind, query), statements.valuesOf(query))
    const columns = query.fields && ['id', ...query.fields]
    return rows.map(row => this.item(kind, row, columns))
  }

  count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Record<string, number> {
    const rows = this.connection.all(statements.count(kind, query), statements.valuesOf(query))
    return Object.fromEntries(rows.map(row => [String(row['status']), Number(row['n'])]))
  }

  texts(kind: Kind, ids: readonly string[]): Map<string, Texts> {
    const rows = this.connection.lists(
      `SELECT id, name, text FROM texts WHERE kind = ? AND ${AMONG} ORDER BY id, name`,
      [kind.name, JSON.stringify(ids)],
    ) as string[][]
    return new Map(
      Object.entries(Object.groupBy(rows, ([id]) => id!)).map(([id, mine]) => [
        id,
        Object.fromEntries(mine!.map(([, name, text]) => [name, text])) as Texts,
      ]),
    )
  }

  names(kind: Kind, field: string, where: Readonly<Record<string, string>>): string[] {
    ofLists(kind, [field, ...Object.keys(where)])
    const rows = this.connection.lists(statements.names(kind, field, where), Object.values(where))
    return rows.map(([name]) => String(name))
  }

  activity(kind: Kind, ids: readonly string[]): Map<string, string> {
    const rows = this.connection.lists(
      `SELECT id, (SELECT at FROM events WHERE kind = ? AND id = item.id ORDER BY seq DESC LIMIT 1)
        FROM ${kind.table} AS item WHERE ${AMONG}`,
      [kind.name, JSON.stringify(ids)],
    )
    return new Map(rows.flatMap(([id, at]) => (at ? [[String(id), String(at)] as const] : [])))
  }

  save<T extends Item>(kind: Kind<T>, change: Change, note: Note): T {
    const item = this.saveIf(kind, change, note)
    if (!item) throw whyNot(kind, this.present(kind, change.id), change)
    return item
  }

  /** The same, where the item is as the change supposes; undefined otherwise. */
  saveIf<T extends Item>(kind: Kind<T>, change: Change, note: Note): T | undefined {
    const { id, revision, token, given, lapsed, from, fields, texts } = change
    const where = {
      id,
      ...(revision === undefined ? {} : { revision }),
      ...(token === undefined ? {} : { token }),
      ...given,
    }
    const changed = Object.keys(fields)
    const values = [...changed.map(field => stored(kind, field, fields[field])), ...statements.valuesOf({ where })]
    if (lapsed) values.push(this.clock.now())
    const [row] = this.connection.lists(statements.save(kind, changed, where, lapsed), values)
    if (!row) return undefined
    const written = this.item(kind, row)
    const item = rewires(kind, fields) && wire(this.connection, kind, [id]) ? this.present(kind, id)! : written
    this.keepTexts(kind, id, texts)
    this.record(kind, item, from, note)
    for (const one of awaited(this.connection, kind, [item])) this.free(kind, one, from, note)
    return item
  }

  saveSteps<T extends Item>(kind: Kind<T>, steps: readonly [Step, ...Step[]], last?: ClaimStep): T {
    const { id } = steps[0].change
    let item: T | undefined
    for (const { change, note } of steps) item = this.save(kind, change, note)
    return last ? this.take(kind, { where: { id } }, last.claim, last.note)! : item!
  }

  /** Several changes, each if it can be made; those that say the same of items that are named by their tokens in one go. */
  saveAll<T extends Item>(kind: Kind<T>, changes: readonly Change[], note: Note): (T | undefined)[] {
    const [first] = changes
    if (!first || changes.length === 1 || !areAlike(kind, changes)) {
      return changes.map(change => this.saveIf(kind, change, note))
    }
    const { fields, given = {}, from } = first
    const changed = Object.keys(fields)
    const which = JSON.stringify(changes.map(({ id, token }) => [id, token]))
    const values = [...changed.map(field => stored(kind, field, fields[field])), which]
    const sql = statements.saveAll(kind, changed, given)
    const rows = this.connection.lists(sql, [...values, ...statements.valuesOf({ where: given })])
    const saved = new Map(rows.map(row => this.item(kind, row)).map(item => [item.id, item]))
    const items = changes.map(({ id }) => saved.get(id))
    const made = items.filter(item => item !== undefined)
    tell(
      this.connection,
      made.map(item => eventOf(kind, item, from, note)),
    )
    for (const item of awaited(this.connection, kind, made)) this.free(kind, item, from, note)
    return items
  }

  take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): T | undefined {
    return this.takeAll(kind, { ...query, limit: 1 }, claim, note)[0]
  }

  takeAll<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): T[] {
    const first = this.firstOf(kind, query, 'rowid, status', 2)
    if (first.length === 0) return []
    const until = claim.leaseMs === undefined ? null : this.clock.now() + claim.leaseMs
    const changed = Object.keys(claim.fields)
    const brought = changed.map(field => stored(kind, field, claim.fields[field]))
    const several = first.length > 1
    const which = several ? `[${first.map(([row]) => row).join()}]` : first[0]![0]!
    const taken = this.connection.lists(statements.take(kind, changed, several), [
      ...brought,
      claim.owner,
      until,
      which,
    ])
    const byRow = new Map(taken.map(row => [row.at(-1), row]))
    const items = first.map(([row]) => this.item(kind, byRow.get(row)!))
    tell(
      this.connection,
      items.map((item, index) => eventOf(kind, item, String(first[index]![1]), note)),
    )
    return items
  }

  /** What `take` would give out first. */
  first<T extends Item>(kind: Kind<T>, query: Query): T[] {
    const columns = query.fields ? ['id', ...query.fields] : columnsOf(kind)
    return this.firstOf(kind, query, columns.join(', '), columns.length).map(row => this.item(kind, row, columns))
  }

  /**
   * Some columns of the first matches. Where a field may have one of several
   * values, one look for each: a single one would pass over everything that has
   * others.
   */
  private firstOf(kind: Kind, query: Query, columns: string, count: number): Value[][] {
    const { where = {}, limit = 1 } = query
    const several = Object.keys(where).find(field => Array.isArray(where[field]))
    const values = several === undefined ? [] : (where[several] as readonly (string | number)[])
    const looks = several === undefined ? [where] : values.map(value => ({ ...where, [several]: value }))
    const found = looks.flatMap(one => {
      const look = { ...query, where: one, limit }
      return this.connection.lists(statements.first(kind, look, columns), statements.valuesOf(look))
    })
    if (looks.length > 1 && found.length > 1) found.sort(byColumns(count))
    return found.slice(0, limit)
  }

  renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): T {
    const [row] = this.connection.lists(statements.renew(kind), [this.clock.now() + leaseMs, id, token])
    if (!row) throw whyNot(kind, this.present(kind, id), { id, token, renewing: true })
    return this.item(kind, row)
  }

  lapsed<T extends Item>(kind: Kind<T>, limit: number): T[] {
    return this.connection.lists(statements.lapsed(kind, limit), [this.clock.now()]).map(row => this.item(kind, row))
  }

  load(kind: Kind, items: readonly Kept[]): void {
    const ids = items.map(({ id }) => id)
    const there = this.connection.lists(`SELECT id FROM ${kind.table} WHERE ${AMONG}`, [JSON.stringify(ids)])
    const taken = [...there.map(([id]) => String(id)), ...repeated(ids)]
    if (taken.length > 0) throw alreadyThere(kind, taken)
    for (const kept of items) {
      try {
        this.write(kind, rowOf(kept))
      } catch (error) {
        throw isTwice(error) ? alreadyThere(kind, [kept.id]) : error
      }
      this.keepTexts(kind, kept.id, kept.texts)
      keepNumber(this.connection, kind, kept.fields)
      tell(this.connection, pastOf(kind, kept))
    }
    wire(this.connection, kind, ids)
  }

  remove(kind: Kind, where: Readonly<Record<string, string>>, note: Note): Removed {
    ofLists(kind, Object.keys(where))
    if (Object.keys(where).length === 0) throw new Error(`Which lists of ${kind.name} are to be removed?`)
    const gone = this.find(kind, { where })
    const ids = JSON.stringify(gone.map(({ id }) => id))
    this.connection.run(`DELETE FROM texts WHERE kind = ? AND ${AMONG}`, [kind.name, ids])
    this.connection.run(statements.remove(kind, where), Object.values(where))
    for (const item of gone) {
      this.record(kind, { ...item, status: 'removed', revision: item.revision + 1 }, item.status, note)
    }
    return { count: gone.length, to: null }
  }

  events(query: EventQuery): Event[] {
    return eventsIn(this.connection, query)
  }

  /** Writes down that an item has come to stand as it does. */
  record(
    kind: Kind,
    item: Pick<Item, 'id' | 'title' | 'status' | 'revision' | 'token'>,
    from: string | null,
    note: Note,
  ): void {
    tell(this.connection, [eventOf(kind, item, from, note)])
  }

  /** Tells of everything that waits for nothing more, now that this item is where nobody waits for it. */
  private free(kind: Kind, { id, status }: Item, from: string, note: Note): void {
    for (const freed of countDown(this.connection, kind, id, from, status)) {
      this.record(kind, freed, freed.status, { ...note, why: `${id} is ${status}` })
    }
  }

  private name(kind: Kind, draft: Draft): Named {
    const own = named(kind, draft, () => nextNumber(this.connection, kind, draft.fields))
    if (draft.id !== undefined) keepNumber(this.connection, kind, own.fields)
    return own
  }

  private add<T extends Item>(kind: Kind<T>, own: Named, draft: Draft, note: Note, ends: Map<string, number>): T {
    const { id, title, status, identity, fields, texts } = own
    const fresh = { id, title, status, token: 0, revision: 1 }
    const place = kind.place ? { [kind.place]: makeRoom(this.connection, kind, kind.place, draft, ends) } : {}
    const values = this.write(kind, { ...fields, ...fresh, identity, ...place })
    this.keepTexts(kind, id, texts)
    this.record(kind, fresh, null, note)
    return this.item(kind, values)
  }

  private write(kind: Kind, fields: Fields): Value[] {
    const values = columnsOf(kind).map(name => stored(kind, name, fields[name]))
    this.connection.run(statements.insert(kind), values)
    return values
  }

  private keepTexts(kind: Kind, id: string, texts: Texts = {}): void {
    for (const [name, text] of Object.entries(texts)) {
      this.connection.run(
        `INSERT INTO texts (kind, id, name, text) VALUES (?, ?, ?, ?)
          ON CONFLICT (kind, id, name) DO UPDATE SET text = excluded.text`,
        [kind.name, id, name, text],
      )
    }
  }

  private present<T extends Item>(kind: Kind<T>, id: string): T | undefined {
    return this.find(kind, { where: { id } })[0]
  }

  /** An item from the values of its columns, in their order. */
  private item<T extends Item>(kind: Kind<T>, row: readonly Value[], columns = columnsOf(kind)): T {
    const item: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) item[columns[index]!] = row[index]
    for (const name of jsonFields(kind)) {
      const value = item[name]
      if (typeof value === 'string') item[name] = value === '[]' ? [] : value === '{}' ? {} : JSON.parse(value)
    }
    if (typeof item['leaseUntil'] === 'number') item['leaseUntil'] = this.clock.wall(item['leaseUntil'])
    return item as unknown as T
  }
}

const json = new WeakMap<Kind, readonly string[]>()

function jsonFields(kind: Kind): readonly string[] {
  let names = json.get(kind)
  if (!names) json.set(kind, (names = Object.keys(kind.fields).filter(name => kind.fields[name] === 'json')))
  return names
}

/** Whether changes differ in nothing but the item and its token. */
function areAlike(kind: Kind, changes: readonly Change[]): boolean {
  const [{ fields, given, from }] = changes as [Change]
  const same = (one: Change) =>
    one.token !== undefined &&
    one.revision === undefined &&
    one.texts === undefined &&
    !one.lapsed &&
    one.from === from &&
    (one.fields === fields || JSON.stringify(one.fields) === JSON.stringify(fields)) &&
    (one.given === given || JSON.stringify(one.given) === JSON.stringify(given))
  return changes.every(same) && !rewires(kind, fields)
}

/** Compares rows by the values they have from a column on. */
function byColumns(first: number): (one: readonly Value[], other: readonly Value[]) => number {
  return (one, other) => {
    for (let index = first; index < one.length; index++) {
      if (one[index] !== other[index]) return one[index]! < other[index]! ? -1 : 1
    }
    return 0
  }
}

/** Any number of ids in one value, so that the text of the statement does not depend on how many they are. */
const AMONG = 'id IN (SELECT value FROM json_each(?))'
