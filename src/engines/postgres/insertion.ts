import type { Note } from '../../core/event.ts'
import { columnsOf, stored, typeOf } from '../../core/keeping.ts'
import type { Draft, Item, Kind } from '../../core/kind.ts'
import type { Added } from '../../core/store.ts'
import type { Connection, Row, Send, Value } from './connection.ts'
import { lockFor, lockNumber } from './lock.ts'
import { Places } from './places.ts'
import { isLost, violates } from './problems.ts'
import { itemOf, type Statements, wakes } from './statements.ts'

/** Adds drafts in order, all of them or none, in a number of round trips that does not depend on how many they are. */
export class Insertion<T extends Item> {
  private readonly connection: Connection
  private readonly statements: Statements
  private readonly kind: Kind<T>
  private readonly note: Note

  constructor(connection: Connection, statements: Statements, kind: Kind<T>, note: Note) {
    this.connection = connection
    this.statements = statements
    this.kind = kind
    this.note = note
  }

  /** A connection that breaks leaves open whether the batch was committed: its ids, which are the caller's, tell. */
  async run(drafts: readonly Draft[]): Promise<Added<T>[]> {
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

  private async attempt(drafts: readonly Draft[]): Promise<Added<T>[]> {
    if (await this.isPlain(drafts)) {
      try {
        const rows = await this.write((sql, values) => this.connection.once(sql, values), drafts)
        const items = new Map(rows.map(row => [row['id'], row]))
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

  private sortedIn(drafts: readonly Draft[]): Promise<Added<T>[]> {
    const { place } = this.kind
    // Rivals for the end of a list wait their turn; always in the same order, so that no two wait for each other.
    const keys = place ? new Set(drafts.map(draft => this.keyOf(draft))) : []
    const locks = Array.from(keys, key => lockFor(...this.lockNames(key))).toSorted()
    const opening = locks.length > 0 ? `SELECT ${locks.map(lock => `pg_advisory_xact_lock(${lock})`).join(', ')}` : ''
    return this.connection.together(opening, async send => {
      const held = await this.held(send, drafts)
      const fresh = drafts.filter(draft => {
        if (draft.identity === undefined) return true
        if (held.has(draft.identity)) return false
        held.set(draft.identity, draft.id)
        return true
      })
      const places = place ? await this.makeRoom(send, place, fresh) : []
      const created = new Set(fresh.map(({ id }) => id))
      const answers = drafts.map(({ id, identity }) => (created.has(id) ? id : held.get(identity!)!))
      const rows = new Map((await this.write(send, fresh, places)).map(row => [row['id'], row]))
      const missing = answers.filter(id => !rows.has(id))
      for (const row of missing.length > 0 ? await this.rowsOf(send, 'id', missing) : []) rows.set(row['id'], row)
      return answers.map((id, index) => ({ item: itemOf(this.kind, rows.get(id)!), created: id === drafts[index]!.id }))
    })
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
    const lists = [...firsts.values()].map(draft => this.list(draft))
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

  /** Rows first, and all of them, then the feed, then events: nobody waits for another's row while sharing the feed. */
  private write(send: Send, drafts: readonly Draft[], places?: readonly number[]): Promise<Row[]> {
    if (drafts.length === 0) return Promise.resolve([])
    const { statements, kind, note } = this
    const columns = columnsOf(kind).filter(name => name !== 'leaseUntil')
    const wake = drafts.some(({ status }) => wakes(kind, undefined, status))
    const given = drafts.map(
      (draft, index): Record<string, unknown> => ({
        ...draft.fields,
        id: draft.id,
        title: draft.title,
        status: draft.status,
        identity: draft.identity,
        token: 0,
        revision: 1,
        ...(kind.place ? { [kind.place]: places?.[index] } : {}),
      }),
    )
    const next = columns.length
    // Places that are not given follow the last one there is.
    const appended = kind.place !== undefined && !places
    const lists = kind.list.map((field, index) => `$${next + 6 + index}::${baseType(kind, field)}`)
    const end = `"${this.connection.schema}"."${kind.table}_end"($${next + 5}::bigint, ${lists.join(', ')})`
    const value = (name: string, index: number) => {
      if (appended && name === kind.place) return 'place + ord::int - 1'
      return typeOf(kind, name) === 'json' ? `c${index}::jsonb` : `c${index}`
    }
    const sql = `WITH ${appended ? `p AS MATERIALIZED (SELECT ${end} AS place),` : ''} u AS (
        INSERT INTO ${statements.table(kind)} (${columns.map(name => `"${name}"`).join(', ')})
        SELECT ${columns.map(value).join(', ')}
        FROM unnest(${columns.map((name, index) => `$${index + 1}::${arrayType(kind, name)}`).join(', ')})
        WITH ORDINALITY AS drafts (${columns.map((_, index) => `c${index}`).join(', ')}, ord)${appended ? ', p' : ''}
        ORDER BY ord RETURNING *
      ), g AS MATERIALIZED (
        SELECT ${statements.sharingFeed}${wake ? `, pg_notify('${statements.channel}', '')` : ''}
        FROM (SELECT count(*) AS rows FROM u) written WHERE rows > 0
      ), e AS (
        INSERT INTO ${statements.events} (at, kind, id, title, "to", by, why, revision, token)
        SELECT $${next + 1}::text, $${next + 2}::text, u.id, u.title, u.status, $${next + 3}::text, $${next + 4}::text,
          u.revision, u.token FROM g, u ORDER BY u.n
      ) SELECT ${statements.shown(kind)} FROM u`
    const list = appended ? [lockNumber(...this.lockNames(this.keyOf(drafts[0]!))), ...this.list(drafts[0]!)] : []
    const values: Value[] = columns.map(name => given.map(row => stored(kind, name, row[name])))
    return send(sql, [...values, note.at, kind.name, note.by, note.why ?? null, ...list])
  }

  /** What became of a batch that may have been committed; undefined when it was not. */
  private async landed(drafts: readonly Draft[]): Promise<Added<T>[] | undefined> {
    const send: Send = (sql, values) => this.connection.once(sql, values)
    const rows = await this.rowsOf(
      send,
      'id',
      drafts.map(({ id }) => id),
    )
    if (rows.length === 0) return undefined
    const items = new Map(rows.map(row => [String(row['id']), row]))
    // The others were held by identity then. Should one have been given up since, it is added now.
    const others = drafts.filter(({ id }) => !items.has(id))
    const rest = others.length > 0 ? await this.run(others) : []
    return drafts.map(draft => {
      const row = items.get(draft.id)
      return row ? { item: itemOf(this.kind, row), created: true } : rest[others.indexOf(draft)]!
    })
  }

  private list(draft: Draft): (string | number | null)[] {
    return this.kind.list.map(field => stored(this.kind, field, draft.fields[field]))
  }

  private keyOf(draft: Draft): string {
    return JSON.stringify(this.list(draft))
  }

  private lockNames(key: string): string[] {
    return ['list', this.connection.schema, this.kind.name, key]
  }
}

function arrayType(kind: Kind, field: string): string {
  return `${baseType(kind, field)}[]`
}

function baseType(kind: Kind, field: string): string {
  return typeOf(kind, field) === 'integer' ? 'int' : 'text'
}
