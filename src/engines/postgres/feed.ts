import type { Event } from '../../core/event.ts'
import { whole } from '../../core/keeping.ts'
import type { EventQuery } from '../../core/store.ts'
import type { Connection, Row } from './connection.ts'
import { codeOf } from './problems.ts'
import type { Statements } from './statements.ts'

/** How long a reader holds up writers at most, to learn what became of a missing number. */
const CLOSED_MS = 1_000

/**
 * The log of what happened, in the order of its numbers.
 *
 * A number is drawn before its transaction commits, so a higher one may be seen
 * while a lower one is still to come, and whoever went on from the higher one
 * would never see the lower. Therefore every writer shares a lock from before
 * it draws its number until it has committed. A reader that finds a number
 * missing takes that lock for itself for a moment: then every writer that had a
 * number has ended, and what is still missing up to the last number drawn
 * was rolled back.
 */
export class Feed {
  private readonly connection: Connection
  private readonly statements: Statements
  /** Below this number nothing that is missing can still come. */
  private settled = 0

  constructor(connection: Connection, statements: Statements) {
    this.connection = connection
    this.statements = statements
  }

  async read(query: EventQuery): Promise<Event[]> {
    const events = await this.upTo(null, query)
    // Whoever draws a number for an item holds its row: the numbers of one item come in their order.
    if (query.of) return events
    const gap = this.gapIn(events, query)
    if (gap === undefined) return events
    const drawn = await this.lastDrawn()
    if (drawn === undefined) return events.slice(0, gap)
    const complete = await this.upTo(drawn, query)
    // Not up to what was drawn: after a crash the server may draw again the numbers that no commit has made lasting.
    this.settled = Math.max(this.settled, complete.at(-1)?.seq ?? 0)
    return complete
  }

  /** Whether there is anything after `seq`; not asked twice. */
  async has(seq: number): Promise<boolean> {
    return (
      (await this.connection.once(`SELECT 1 FROM ${this.statements.events} WHERE seq > $1 LIMIT 1`, [seq])).length > 0
    )
  }

  private async upTo(end: number | null, { after = 0, limit, last, of }: EventQuery): Promise<Event[]> {
    const count = last ?? limit
    const rows = await this.connection.all(
      `SELECT seq, at, kind, id, title, "from", "to", by, why, revision, token FROM ${this.statements.events}
        WHERE seq > $1 AND seq <= coalesce($2::bigint, 9223372036854775807) ${of ? 'AND kind = $4 AND id = $5' : ''}
        ORDER BY seq ${last === undefined ? 'ASC' : 'DESC'} LIMIT $3`,
      [Math.max(0, after), end, count === undefined ? null : whole(count), ...(of ? [of.kind.name, of.id] : [])],
    )
    if (last !== undefined) rows.reverse()
    return rows.map((row: Row) => ({ ...row, seq: Number(row['seq']) }) as unknown as Event)
  }

  /** The index of the first event before which a number is missing that may still come. */
  private gapIn(events: readonly Event[], { after = 0, last }: EventQuery): number | undefined {
    let before = last === undefined ? Math.max(0, after) : (events[0]?.seq ?? 0) - 1
    for (const [index, { seq }] of events.entries()) {
      if (seq !== before + 1 && seq > this.settled) return index
      before = seq
    }
    return undefined
  }

  /** Undefined when a writer took too long. */
  private async lastDrawn(): Promise<number | undefined> {
    const { connection, statements } = this
    const sql = `SET LOCAL lock_timeout = ${CLOSED_MS}; SELECT ${statements.closingFeed};
      SELECT last_value FROM "${connection.schema}".events_seq_seq`
    return connection.patiently(async () => {
      try {
        return Number((await connection.script(sql))[0]!['last_value'])
      } catch (error) {
        if (codeOf(error) === '55P03') return undefined
        throw error
      }
    })
  }
}
