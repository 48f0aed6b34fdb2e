import type { Note } from '../../core/event.ts'
import { listKey, listOf, type Named, named, referring } from '../../core/keeping.ts'
import type { Draft, Item, Kind } from '../../core/kind.ts'
import type { Added } from '../../core/store.ts'
import { addition } from './addition.ts'
import { arrayType } from './bound.ts'
import type { Connection, Row, Send } from './connection.ts'
import type { LastNumbers } from './last-numbers.ts'
import { listLock, lockFor } from './lock.ts'
import { exactlyOnce } from './marks.ts'
import { withIds } from './numbering.ts'
import { Places } from './places.ts'
import { Beaten, isLost, violates } from './problems.ts'
import { itemOf, type Statements } from './statements.ts'
import { waitsForOthers, wiringOf } from './waits.ts'

/** Is told of the drafts as they are about to be added, and which of them will be: the others' identities are held. */
type Trying = (drafts: readonly Draft[], added: readonly Named[]) => void

/** Adds drafts in order, all of them or none, in a number of round trips that does not depend on how many they are. */
export class Insertion<T extends Item> {
  private readonly connection: Connection
  private readonly statements: Statements
  private readonly kind: Kind<T>
  private readonly note: Note
  private readonly lastNumbers: LastNumbers

  constructor(connection: Connection, statements: Statements, kind: Kind<T>, note: Note, lastNumbers: LastNumbers) {
    this.connection = connection
    this.lastNumbers = lastNumbers
    this.statements = statements
    this.kind = kind
    this.note = note
  }

  async run(drafts: readonly Draft[]): Promise<Added<T>[]> {
    if (this.kind.numbers || drafts.some(isItsOwnIdentity)) return this.runMarked(drafts)
    return this.runNamed(drafts.map(draft => named(this.kind, draft, () => 0)))
  }

  /**
   * A connection that breaks leaves open whether the batch was committed. Ids
   * that come of numbers do not tell, as a rival may have got the same ones
   * since, and those that stand for what they name have been there before: the
   * mark does.
   */
  private async runMarked(drafts: readonly Draft[]): Promise<Added<T>[]> {
    let tried = drafts
    let fresh = new Set<string>()
    const trying: Trying = (given, added) => {
      tried = given
      fresh = new Set(added.map(({ id }) => id))
    }
    const outcome = await exactlyOnce(
      this.connection,
      this.statements.events,
      async mark => (await this.inOneGo(drafts, mark, trying)) ?? (await this.sortedIn(drafts, mark, trying)),
    )
    const landed = async () => {
      const found = await this.landed(tried)
      // What is its own identity may have been there before.
      const isNew = ({ item, created }: Added<T>, draft: Draft) =>
        created && (fresh.has(item.id) || !isItsOwnIdentity(draft))
      return found?.map((one, index) => ({ ...one, created: isNew(one, drafts[index]!) }))
    }
    const added = 'answer' in outcome ? outcome.answer : ((await landed()) ?? (await this.run(drafts)))
    if (this.kind.numbers) this.lastNumbers.keep(this.kind, added)
    return added
  }

  /** Adds by one statement what waits for nothing and holds no identity, with the numbers that should come next; undefined where they do not. */
  private async inOneGo(drafts: readonly Draft[], mark: string, trying: Trying): Promise<Added<T>[] | undefined> {
    const { statements, kind } = this
    const expected = this.lastNumbers.expected(kind, drafts)
    if (expected === undefined) return undefined
    const added = drafts.map((draft, index) => named(kind, draft, () => expected + index + 1))
    const ids = added.map(({ id }) => id)
    trying(added, added)
    const whole = added.map(draft => referring(kind, draft, ids))
    const { sql, values } = addition(statements, kind, whole, this.note, { mark, expected })
    const rows = new Map((await this.connection.once(sql, values)).map(row => [row['id'], row]))
    if (rows.size === 0) this.lastNumbers.forget(kind, drafts[0]!)
    return rows.size === 0 ? undefined : ids.map(id => ({ item: itemOf(kind, rows.get(id)!), created: true }))
  }

  /** The same where the ids are the caller's: they tell. */
  private async runNamed(drafts: readonly Named[]): Promise<Added<T>[]> {
    let doubtful = false
    return this.connection.patiently(async () => {
      const before = doubtful ? await this.landed(drafts) : undefined
      if (before) return before
      try {
        return await this.attempt(drafts)
      } catch (error) {
        // It was committing while we looked.
        const late = doubtful && violates(error, '_pkey') ? await this.landed(drafts) : undefined
        if (late) return late
        doubtful ||= isLost(error)
        throw error
      }
    })
  }

  private async attempt(drafts: readonly Named[]): Promise<Added<T>[]> {
    if (await this.isPlain(drafts)) {
      try {
        const ids = drafts.map(({ id }) => id)
        const whole = drafts.map(draft => referring(this.kind, draft, ids))
        const { sql, values } = addition(this.statements, this.kind, whole, this.note, {})
        const items = new Map((await this.connection.once(sql, values)).map(row => [row['id'], row]))
        return drafts.map(({ id }) => ({ item: itemOf(this.kind, items.get(id)!), created: true }))
      } catch (error) {
        // A rival was first with an identity; nothing was added.
        if (!violates(error, '_identity')) throw error
      }
    }
    return this.sortedIn(drafts)
  }

  /** Whether all go to the end of one list, and nobody holds their identities: the usual case, one statement. */
  private async isPlain(drafts: readonly Draft[]): Promise<boolean> {
    const identities = drafts.flatMap(({ identity }) => identity ?? [])
    if (this.kind.place && drafts.some(({ at }) => at !== undefined)) return false
    if (this.kind.place && new Set(drafts.map(draft => this.keyOf(draft))).size > 1) return false
    if (new Set(identities).size < identities.length) return false
    return (await this.held((sql, values) => this.connection.once(sql, values), drafts)).size === 0
  }

  private sortedIn(drafts: readonly Draft[], mark?: string, trying?: Trying): Promise<Added<T>[]> {
    const { connection, statements, kind } = this
    // Rivals for the end of a list wait their turn; always in the same order, so that no two wait for each other.
    const keys = kind.place ? new Set(drafts.map(draft => this.keyOf(draft))) : []
    const locks = Array.from(keys, key => lockFor(...listLock(connection.schema, kind.name, key))).toSorted()
    const taking = [
      ...locks.map(lock => `pg_advisory_xact_lock(${lock})`),
      ...(kind.waits ? [statements.addingTo(kind, waitsForOthers(kind, drafts))] : []),
    ]
    const opening = taking.length > 0 ? `SELECT ${taking.join(', ')}` : ''
    return connection.together(opening, async send => {
      const held = await this.held(send, drafts)
      const seen = new Set(held.keys())
      const fresh = [...drafts.keys()].filter(index => {
        const { identity } = drafts[index]!
        return identity === undefined || seen.size < seen.add(identity).size
      })
      const added = await withIds(
        send,
        statements.schema,
        kind,
        fresh.map(index => drafts[index]!),
      )
      const created = new Map(fresh.map((index, at) => [index, added[at]!]))
      trying?.(
        drafts.map((draft, index) => created.get(index) ?? draft),
        added,
      )
      for (const { id, identity } of added) if (identity !== undefined) held.set(identity, id)
      const answers = drafts.map(({ identity }, index) => created.get(index)?.id ?? held.get(identity!)!)
      const whole = added.map(draft => referring(kind, draft, answers))
      const rows = await this.write(send, whole, mark)
      const missing = answers.filter(id => !rows.has(id))
      for (const row of missing.length > 0 ? await this.rowsOf(send, 'id', missing) : []) rows.set(row['id'], row)
      return answers.map((id, index) => ({ item: itemOf(kind, rows.get(id)!), created: created.has(index) }))
    })
  }

  private async write(send: Send, drafts: readonly Named[], mark?: string): Promise<Map<unknown, Row>> {
    if (drafts.length === 0) return new Map()
    const places = this.kind.place ? await this.makeRoom(send, this.kind.place, drafts) : undefined
    const { drafts: counted, wiring } = await wiringOf(send, this.statements, this.kind, drafts)
    const { sql, values } = addition(this.statements, this.kind, counted, this.note, { places, mark, wiring })
    try {
      return new Map((await send(sql, values)).map(row => [row['id'], row]))
    } catch (error) {
      // Their ids are their identities, and a rival has just added one of them.
      throw drafts.some(isItsOwnIdentity) && violates(error, '_pkey') ? new Beaten(error) : error
    }
  }

  /** Which items hold the identities of these drafts. */
  private async held(send: Send, drafts: readonly Draft[]): Promise<Map<string, string>> {
    const identities = drafts.flatMap(({ identity }) => identity ?? [])
    const rows = identities.length > 0 ? await this.rowsOf(send, 'identity', identities) : []
    return new Map(rows.map(row => [String(row['identity']), String(row['id'])]))
  }

  private rowsOf(send: Send, column: 'id' | 'identity', values: readonly string[]): Promise<Row[]> {
    const { statements, kind } = this
    return send(`SELECT ${statements.shown(kind)} FROM ${statements.table(kind)} WHERE ${column} = ANY ($1)`, [values])
  }

  /** The places the drafts get; what stands there or behind has moved back. */
  private async makeRoom(send: Send, place: string, drafts: readonly Draft[]): Promise<number[]> {
    const { statements, kind } = this
    const firsts = new Map(drafts.map(draft => [this.keyOf(draft), draft]))
    const lists = [...firsts.values()].map(({ fields }) => listOf(kind, fields))
    const table = statements.table(kind)
    const names = kind.list.map((_, index) => `l${index}`)
    const isList = kind.list.map((field, index) => `t."${field}" = l${index}`).join(' AND ')
    const ends = await send(
      `SELECT (SELECT t."${place}" FROM ${table} t WHERE ${isList} ORDER BY t."${place}" DESC LIMIT 1) + 1 AS end
        FROM unnest(${kind.list.map((field, index) => `$${index + 1}::${arrayType(kind, field)}`).join(', ')})
        WITH ORDINALITY AS lists (${names.join(', ')}, ord) ORDER BY ord`,
      kind.list.map((_, index) => lists.map(values => values[index]!)),
    )
    const all = new Map([...firsts.keys()].map((key, index) => [key, new Places(Number(ends[index]!['end'] ?? 0))]))
    const added = drafts.map(draft => {
      const places = all.get(this.keyOf(draft))!
      return { places, index: places.add(draft.at) }
    })
    for (const [index, { moved }] of [...all.values()].entries()) {
      if (moved.length === 0) continue
      const here = kind.list.map((field, at) => `"${field}" = $${at + 2}`).join(' AND ')
      await send(
        `UPDATE ${table} SET "${place}" = "${place}" + (SELECT count(*)::int FROM unnest($1::int[]) step WHERE step <= "${place}")
          WHERE ${here} AND "${place}" >= (SELECT min(step) FROM unnest($1::int[]) step)`,
        [moved, ...lists[index]!],
      )
    }
    return added.map(({ places, index }) => places.placeOf(index))
  }

  /** What became of a batch that may have been committed; undefined when it was not. */
  private async landed(drafts: readonly Draft[]): Promise<Added<T>[] | undefined> {
    const send: Send = (sql, values) => this.connection.once(sql, values)
    const rows = await this.rowsOf(
      send,
      'id',
      drafts.flatMap(({ id }) => id ?? []),
    )
    if (rows.length === 0) return undefined
    const items = new Map(rows.map(row => [String(row['id']), row]))
    // The others were held by identity then. Should one have been given up since, it is added now.
    const others = drafts.filter(({ id }) => id === undefined || !items.has(id))
    const rest = others.length > 0 ? await this.run(others) : []
    return drafts.map(draft => {
      const row = draft.id === undefined ? undefined : items.get(draft.id)
      return row ? { item: itemOf(this.kind, row), created: true } : rest[others.indexOf(draft)]!
    })
  }

  private keyOf({ fields }: Draft): string {
    return listKey(this.kind, fields)
  }
}

/** Whether adding a draft twice is adding the same thing. */
function isItsOwnIdentity({ id, identity }: Draft): boolean {
  return id !== undefined && id === identity
}
