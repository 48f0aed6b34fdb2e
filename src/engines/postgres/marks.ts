import { randomUUID } from 'node:crypto'
import type { Connection, Row } from './connection.ts'
import { isLost } from './problems.ts'

/** What came of a write: its answer, or the event it left when the answer was lost with the connection. */
export type Outcome<T> = { readonly answer: T } | { readonly event: Row }

/**
 * Carries out one write, a statement or a transaction whose event has the mark,
 * once, however often the connection breaks.
 *
 * A broken connection leaves open whether the server carried the write out, and
 * even whether it still will: the statement may be waiting for a row, or be
 * under way in a network that comes back. So the write's mark is claimed for a
 * row that tells of nothing. Marks are unique: either the write's own event is
 * there first, after a wait if the write is just committing, and it counts; or
 * ours is, and the write can never happen and may be sent again.
 */
export async function exactlyOnce<T>(
  connection: Connection,
  events: string,
  write: (mark: string) => Promise<T>,
): Promise<Outcome<T>> {
  let mark = newMark()
  let doubtful = false
  return connection.patiently(async () => {
    if (doubtful) {
      const event = await claimed(connection, events, mark)
      if (event) return { event }
      mark = newMark()
      doubtful = false
    }
    try {
      return { answer: await write(mark) }
    } catch (error) {
      doubtful = isLost(error)
      throw error
    }
  })
}

/**
 * A UUID that begins with the time. Each then follows the last one in their
 * index; marks all over it made a claim a tenth slower.
 */
function newMark(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

async function claimed(connection: Connection, events: string, mark: string): Promise<Row | undefined> {
  await connection.once(
    `INSERT INTO ${events} (seq, at, kind, id, title, "to", by, revision, token, mark)
      VALUES (-nextval(pg_get_serial_sequence('${events}', 'seq')), '', '', '', '', '', '', 0, 0, $1)
      ON CONFLICT (mark) WHERE mark IS NOT NULL DO NOTHING`,
    [mark],
  )
  const [event] = await connection.once(`SELECT seq, id, "to", revision, token FROM ${events} WHERE mark = $1`, [mark])
  return Number(event?.['seq']) > 0 ? event : undefined
}
