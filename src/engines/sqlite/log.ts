import type { Event, Note } from '../../core/event.ts'
import { whole } from '../../core/keeping.ts'
import type { Item, Kind } from '../../core/kind.ts'
import type { EventQuery } from '../../core/store.ts'
import type { Connection, Value } from './connection.ts'
import { insertMany } from './many.ts'

const INTO_EVENTS = 'INSERT INTO events (at, kind, id, title, "from", "to", by, why, revision, token)'

/** Writes down what happened, in the transaction that it happens in. */
export function tell(connection: Connection, events: readonly Omit<Event, 'seq'>[]): void {
  insertMany(
    connection,
    INTO_EVENTS,
    10,
    events,
    ({ at, kind, id, title, from, to, by, why, revision, token }, put) => {
      for (const value of [at, kind, id, title, from, to, by, why, revision, token]) put(value)
    },
  )
}

/** The event of an item that stands as it is after a write. */
export function eventOf(
  kind: Kind,
  { id, title, status, revision, token }: Pick<Item, 'id' | 'title' | 'status' | 'revision' | 'token'>,
  from: string | null,
  { at, by, why }: Note,
): Omit<Event, 'seq'> {
  return { at, kind: kind.name, id, title, from, to: status, by, why: why ?? null, revision, token }
}

export function eventsIn(connection: Connection, { after = 0, limit, last, of }: EventQuery): Event[] {
  const count = last ?? limit
  const mine = of ? 'kind = ? AND id = ? AND' : ''
  const values: Value[] = of ? [of.kind.name, of.id, after] : [after]
  const rows = connection.all(
    `SELECT * FROM events WHERE ${mine} seq > ? ORDER BY seq ${last === undefined ? 'ASC' : 'DESC'}
      ${count === undefined ? '' : `LIMIT ${whole(count)}`}`,
    values,
  )
  if (last !== undefined) rows.reverse()
  return rows.map(row => ({ ...row }) as unknown as Event)
}
