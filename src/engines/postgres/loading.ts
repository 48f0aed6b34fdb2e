import type { Event } from '../../core/event.ts'
import { alreadyThere, pastOf, repeated, rowOf } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Kept } from '../../core/store.ts'
import { copying } from './addition.ts'
import type { Connection, Send } from './connection.ts'
import { exactlyOnce } from './marks.ts'
import { keepNumbers } from './numbering.ts'
import { type Statements, wakes } from './statements.ts'
import { wire } from './waits.ts'

/** How many rows go in one statement: each has to end well before a call is given up. */
const BATCH = 500

/** Adds items as another store kept them, in one transaction. */
export async function load(
  connection: Connection,
  statements: Statements,
  kind: Kind,
  items: readonly Kept[],
): Promise<void> {
  if (items.length === 0) return
  const past = items.flatMap(kept => pastOf(kind, kept))
  const wake = items.some(({ fields }) => wakes(kind, undefined, fields['status']))
  await exactlyOnce(connection, statements.events, mark =>
    connection.together(kind.waits ? `SELECT ${statements.addingTo(kind, true)}` : '', async send => {
      await refuseTaken(send, statements, kind, items)
      await keepNumbers(
        send,
        statements.schema,
        kind,
        items.map(({ fields }) => fields),
      )
      for (const batch of batches(items)) {
        const rows = batch.map(kept => ({ id: kept.id, row: rowOf(kept), texts: kept.texts }))
        const { sql, values } = copying(statements, kind, rows)
        await send(sql, values)
      }
      await wire(
        send,
        statements,
        kind,
        items.map(({ id }) => id),
      )
      // Every row is there before the first number is drawn (see feed.ts).
      await send(`SELECT ${statements.sharingFeed}${wake ? `, pg_notify('${statements.channel}', '')` : ''}`)
      for (const [index, batch] of batches(past).entries())
        await tell(send, statements, batch, index === 0 ? mark : null)
    }),
  )
}

async function refuseTaken(send: Send, statements: Statements, kind: Kind, items: readonly Kept[]): Promise<void> {
  const ids = items.map(({ id }) => id)
  const identities = items.flatMap(({ fields }) => (typeof fields['identity'] === 'string' ? fields['identity'] : []))
  const there = await send(
    `SELECT id, identity FROM ${statements.table(kind)} WHERE id = ANY ($1::text[]) OR identity = ANY ($2::text[])`,
    [ids, identities],
  )
  const takenIds = new Set([...there.map(({ id }) => String(id)), ...repeated(ids)])
  const takenIdentities = new Set([...there.map(({ identity }) => String(identity)), ...repeated(identities)])
  const taken = items.filter(
    ({ id, fields: { identity } }) =>
      takenIds.has(id) || (typeof identity === 'string' && takenIdentities.has(identity)),
  )
  if (taken.length > 0) throw alreadyThere(kind, [...new Set(taken.map(({ id }) => id))])
}

/** The first of the events has the mark. */
async function tell(
  send: Send,
  { events }: Statements,
  past: readonly Omit<Event, 'seq'>[],
  mark: string | null,
): Promise<void> {
  const texts = ['at', 'kind', 'id', 'title', 'from', 'to', 'by', 'why'] as const
  const numbers = ['revision', 'token'] as const
  const columns = [...texts, ...numbers].map(name => `"${name}"`).join(', ')
  await send(
    `INSERT INTO ${events} (${columns}, mark)
      SELECT ${columns}, CASE WHEN ord = 1 THEN $11::uuid END
      FROM unnest(${texts.map((_, index) => `$${index + 1}::text[]`).join(', ')}, $9::int[], $10::int[])
      WITH ORDINALITY AS past (${columns}, ord) ORDER BY ord`,
    [
      ...texts.map(name => past.map(event => event[name])),
      ...numbers.map(name => past.map(event => event[name])),
      mark,
    ],
  )
}

function batches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, index) =>
    all.slice(index * BATCH, (index + 1) * BATCH),
  )
}
