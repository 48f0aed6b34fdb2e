import type { Event, Note } from '../../core/event.ts'
import { whole, whyNot } from '../../core/keeping.ts'
import type { Draft, Item, Kind, Texts } from '../../core/kind.ts'
import type { Problem } from '../../core/problem.ts'
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
import type { Statement } from './bound.ts'
import { changedIn, changing, type Wish } from './changing.ts'
import { type Connection, type ConnectionOptions, connect, type Row, type Send } from './connection.ts'
import { Feed } from './feed.ts'
import { Gathering } from './gathering.ts'
import { findings } from './health.ts'
import { Insertion } from './insertion.ts'
import { LastNumbers } from './last-numbers.ts'
import { namesIn, removal } from './lists.ts'
import { load } from './loading.ts'
import { exactlyOnce, type Outcome } from './marks.ts'
import { migrate } from './migrate.ts'
import { type Beyond, looksOf, Positions } from './positions.ts'
import { asTold, saving } from './saving.ts'
import { itemOf, Statements, wakes } from './statements.ts'
import { type Taking, takenIn, taking } from './taking.ts'
import { toldWith } from './telling.ts'
import { byItem, textsOf } from './texts.ts'
import { rewires } from './waits.ts'
import { Listener } from './wake.ts'

/** Opens the store in a database; `?schema=NAME` in the URL says where in it, `punchlist` otherwise. Made when not there. */
export async function openPostgresStore(url: string, options: ConnectionOptions = {}): Promise<Store> {
  const connection = await connect(url, options)
  try {
    await migrate(connection)
    return new PostgresStore(connection)
  } catch (error) {
    await connection.close()
    throw error
  }
}

class PostgresStore implements Store {
  private readonly connection: Connection
  private readonly statements: Statements
  private readonly feed: Feed
  private readonly listener: Listener
  private readonly positions = new Positions()
  private readonly gathering = new Gathering((kind, wishes) => this.saved(kind, wishes))
  private readonly lastNumbers = new LastNumbers()

  constructor(connection: Connection) {
    this.connection = connection
    this.statements = new Statements(connection.schema)
    this.feed = new Feed(connection, this.statements)
    this.listener = new Listener(
      () => connection.apart(),
      this.statements.channel,
      () => this.positions.forget(),
    )
  }

  async insert<T extends Item>(kind: Kind<T>, drafts: readonly Draft[], note: Note): Promise<Added<T>[]> {
    if (drafts.length === 0) return []
    const added = await new Insertion(this.connection, this.statements, kind, note, this.lastNumbers).run(drafts)
    this.positions.forget()
    return added
  }

  async find<T extends Item>(kind: Kind<T>, query: Query): Promise<T[]> {
    return (await this.answer(this.statements.find(kind, query))).map(row => itemOf(kind, row))
  }

  async texts(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Texts>> {
    return byItem(await this.answer(textsOf(this.connection.schema, kind, ids)))
  }

  async names(kind: Kind, field: string, where: Readonly<Record<string, string>>): Promise<string[]> {
    return (await this.answer(namesIn(this.statements, kind, field, where))).map(({ name }) => String(name))
  }

  async activity(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.answer(this.statements.activity(kind, ids))
    return new Map(rows.map(({ id, at }) => [String(id), String(at)]))
  }

  async unreadable(): Promise<Unreadable[]> {
    return []
  }

  async remarks(): Promise<Unreadable[]> {
    return []
  }

  async warnings(): Promise<Unreadable[]> {
    return []
  }

  async count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Promise<Record<string, number>> {
    const rows = await this.answer(this.statements.count(kind, query))
    return Object.fromEntries(rows.map(row => [String(row['status']), Number(row['n'])]))
  }

  async save<T extends Item>(kind: Kind<T>, change: Change, note: Note): Promise<T> {
    const [item] = await this.saveAll(kind, [change], note)
    if (!item) throw whyNot(kind, await this.present(kind, change.id), change)
    return item
  }

  async saveSteps<T extends Item>(kind: Kind<T>, steps: readonly [Step, ...Step[]], last?: ClaimStep): Promise<T> {
    const [{ change: first }] = steps
    const { id } = first
    const outcome = await exactlyOnce(this.connection, this.statements.events, mark =>
      this.connection.together('', async send => {
        let row: Row | undefined
        for (const [index, { change, note }] of steps.entries()) {
          const marked = { mark: index === 0 ? mark : undefined }
          const { sql, values } = changing(this.statements, kind, [{ change, note }], marked)
          row = changedIn(await send(sql, values))[0]?.row
          if (!row) throw await this.whyNotMade(send, kind, change)
        }
        if (!last) return row!
        const how = { note: last.note, mark: undefined, wait: true }
        const { sql, values } = taking(this.statements, kind, { where: { id } }, last.claim, how)
        return takenIn(await send(sql, values))[0]!
      }),
    )
    this.positions.forget()
    const written = Object.assign({}, ...steps.map(({ change }) => change.fields), last?.claim.fields)
    const row = 'answer' in outcome ? outcome.answer : (await this.toldBy(kind, outcome.event, () => written)).at(-1)!
    return itemOf(kind, row)
  }

  async saveAll<T extends Item>(kind: Kind<T>, changes: readonly Change[], note: Note): Promise<(T | undefined)[]> {
    if (changes.length === 0) return []
    const wishes = changes.map(change => ({ change, note }))
    // What changes what items wait for holds many rows, and goes by itself.
    const alone = changes.some(({ fields }) => rewires(kind, fields))
    const rows = await (alone ? this.saved(kind, wishes) : this.gathering.save(kind, wishes))
    return changes.map(change => {
      const row = rows.get(change)
      return row && itemOf(kind, row)
    })
  }

  async take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T | undefined> {
    return (await this.takeAll(kind, { ...query, limit: 1 }, claim, note))[0]
  }

  /**
   * Rows that others hold at the moment are passed over, so that claimants do
   * not queue for one item. A named item, and the last ones left, are waited
   * for instead: whoever holds them may be only renewing a lease, or moving the
   * list along, and "nothing is left" would be untrue.
   */
  async takeAll<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): Promise<T[]> {
    if (whole(query.limit ?? 1) === 0) return []
    const looks = looksOf(kind, query)
    const attempt = async (wait: boolean, beyond: Beyond = []) => {
      const found = this.positions.looking(kind, looks, beyond)
      const items = await this.taken(kind, query, claim, { note, wait, beyond })
      found(items)
      return items
    }
    if (query.where?.['id'] !== undefined) return await attempt(true)
    const beyond = this.positions.beyond(looks)
    const near = beyond.some(Boolean) ? await attempt(false, beyond) : []
    if (near.length > 0) return near
    const items = await attempt(false)
    return items.length > 0 ? items : await attempt(true)
  }

  async renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): Promise<T> {
    const [row] = await this.answer(this.statements.renew(kind, id, token, leaseMs))
    if (!row) throw whyNot(kind, await this.present(kind, id), { id, token, renewing: true })
    return itemOf(kind, row)
  }

  async lapsed<T extends Item>(kind: Kind<T>, limit: number): Promise<T[]> {
    return (await this.answer(this.statements.lapsed(kind, limit))).map(row => itemOf(kind, row))
  }

  async load(kind: Kind, items: readonly Kept[]): Promise<void> {
    await load(this.connection, this.statements, kind, items)
    this.positions.forget()
  }

  async remove(kind: Kind, where: Readonly<Record<string, string>>, note: Note): Promise<Removed> {
    const outcome = await this.once(mark => removal(this.statements, kind, where, note, mark))
    if ('answer' in outcome) return { count: Number(outcome.answer[0]!['count']), to: null }
    const told = await this.answer(toldWith(this.statements, String(outcome.event['seq'])))
    return { count: told.length, to: null }
  }

  async recover(): Promise<Recovered[]> {
    return []
  }

  async events(query: EventQuery): Promise<Event[]> {
    return this.feed.read(query)
  }

  async changed(seq: number, ms: number, signal?: AbortSignal): Promise<void> {
    await this.listener.wait(() => this.feed.has(seq), ms, signal)
  }

  async inspect(): Promise<Finding[]> {
    return await findings(this.connection, this.statements)
  }

  async close(): Promise<void> {
    await this.listener.close()
    await this.connection.close()
  }

  private answer({ sql, values }: Statement): Promise<Row[]> {
    return this.connection.all(sql, values)
  }

  private once(statement: (mark: string) => Statement): Promise<Outcome<Row[]>> {
    return exactlyOnce(this.connection, this.statements.events, mark => {
      const { sql, values } = statement(mark)
      return this.connection.once(sql, values)
    })
  }

  private async taken<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, how: Look): Promise<T[]> {
    const outcome = await this.once(mark => taking(this.statements, kind, query, claim, { mark, ...how }))
    const written = { ...claim.fields, owner: claim.owner }
    const rows = 'answer' in outcome ? takenIn(outcome.answer) : await this.toldBy(kind, outcome.event, () => written)
    return rows.map(row => itemOf(kind, row))
  }

  private async saved(kind: Kind, wishes: readonly Wish[]): Promise<ReadonlyMap<Change, Row>> {
    const outcome = await exactlyOnce(this.connection, this.statements.events, mark =>
      saving(this.connection, this.statements, kind, wishes, mark),
    )
    const changes = wishes.map(({ change }) => change)
    const { rows, freed } =
      'answer' in outcome ? outcome.answer : { rows: await this.savedBy(kind, outcome.event, changes), freed: true }
    if (freed || changes.some(({ from, fields }) => wakes(kind, from, fields['status']))) this.positions.forget()
    return rows
  }

  /** Which changes were made, where the answer was lost with the connection. */
  private async savedBy(kind: Kind, event: Row, changes: readonly Change[]): Promise<Map<Change, Row>> {
    const left = [...changes]
    const rows = await this.toldBy(kind, event, id => left.find(change => change.id === id)?.fields ?? {})
    return new Map(
      rows.flatMap(row => {
        const index = left.findIndex(({ id }) => id === row['id'])
        return index === -1 ? [] : [[left.splice(index, 1)[0]!, row] as const]
      }),
    )
  }

  /** The rows of a write whose answer was lost with the connection. `written` is what it set. */
  private async toldBy(
    kind: Kind,
    { seq }: Row,
    written: (id: string) => Readonly<Record<string, unknown>>,
  ): Promise<Row[]> {
    const told = await this.answer(toldWith(this.statements, String(seq)))
    const items = await this.find(kind, { where: { id: told.map(({ id }) => String(id)) } })
    return asTold(items, told, written)
  }

  private async whyNotMade(send: Send, kind: Kind, change: Change): Promise<Problem> {
    const { sql, values } = this.statements.find(kind, { where: { id: change.id }, limit: 1 })
    const [row] = await send(sql, values)
    return whyNot(kind, row && itemOf(kind, row), change)
  }

  /** How an item stands that a write did not find as it should. */
  private async present(kind: Kind, id: string): Promise<Item | undefined> {
    return (await this.find(kind, { where: { id } }))[0]
  }
}

type Look = Omit<Taking, 'mark'>
