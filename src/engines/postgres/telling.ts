import type { Kind } from '../../core/kind.ts'
import { literalOf, type Statement } from './bound.ts'
import type { Statements } from './statements.ts'

interface Told {
  readonly kind: Kind
  /** Whether what is written makes something claimable in any case. */
  readonly wake: boolean
  /** Whether there is a part `f`: what waits for nothing more because of what is in `u`. */
  readonly freeing: boolean
  /** Whether `u` has one row at most, whose turn is 1. */
  readonly single: boolean
  /** What is told with them, as it is written in a statement about `u`. */
  readonly at: string
  readonly by: string
  readonly why: string
  readonly mark: string
}

/** What an item's status was, and where it stands among those written with it: beside the columns of `u`. */
export const BEFORE = '"statusBefore"'
export const TURN = '"turn"'

/**
 * The events of the rows in `u`: their numbers are drawn only once the feed is
 * shared (see feed.ts), when all rows that this writes are had. The first of
 * them has the mark.
 */
export function telling(statements: Statements, told: Told): string {
  const { kind, wake, freeing, single, at, by, why, mark } = told
  const notice = `pg_notify('${statements.channel}', '')`
  const notices = freeing && !wake ? `, CASE WHEN free > 0 THEN ${notice} END` : wake ? `, ${notice}` : ''
  const freed = freeing
    ? `UNION ALL SELECT f.id, f.title, f.status, f.revision, f.token, f.status, ${at}, ${by}, f.needs || ' is ' || u.status,
        2147483647 FROM f JOIN u ON u.id = f.needs`
    : ''
  const first = single ? TURN : `row_number() OVER (ORDER BY ${TURN}, id)`
  // Not merged with what reads it (OFFSET 0): the feed is shared before the first number is drawn.
  return `e AS (
      INSERT INTO ${statements.events} (at, kind, id, title, "from", "to", by, why, revision, token, mark)
      SELECT at, ${literalOf(kind.name)}, id, title, ${BEFORE}, status, by, why, revision, token,
        CASE WHEN ${first} = 1 THEN ${mark}::uuid END
      FROM (
        SELECT ${statements.sharingFeed}${notices} FROM (SELECT count(*) AS rows FROM u) written
          ${freeing ? ', (SELECT count(*) AS free FROM f) released' : ''} WHERE rows > 0 OFFSET 0
      ) g, (
        SELECT id, title, status, revision, token, ${BEFORE}, ${at} AS at, ${by} AS by, ${why} AS why, ${TURN} FROM u ${freed}
      ) told ${single && !freeing ? '' : `ORDER BY ${TURN}, id`}
    )`
}

/** What was written together with the event of this number, in order. */
export function toldWith(statements: Statements, seq: string): Statement {
  const { events } = statements
  const sql = `SELECT kind, id, "from", "to", revision, token FROM ${events}
    WHERE seq >= $1 AND xmin = (SELECT xmin FROM ${events} WHERE seq = $1) ORDER BY seq`
  return { sql, values: [seq] }
}
