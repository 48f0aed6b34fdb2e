import type { Note } from '../../core/event.ts'
import type { Kind } from '../../core/kind.ts'
import { literalOf, type Statement } from './bound.ts'
import type { Value } from './connection.ts'
import type { Statements } from './statements.ts'

export interface Noted {
  readonly note: Note
  readonly mark: string | undefined
}

interface Told {
  readonly kind: Kind
  /** Whether what is written makes something claimable in any case. */
  readonly wake: boolean
  /** Whether there is a part `f`: what waits for nothing more because of what is in `u`. */
  readonly freeing: boolean
  /** Whether `u` has one row at most, whose turn is 1. */
  readonly single: boolean
}

/** What an item's status was, and where it stands among those written with it: beside the columns of `u`. */
export const BEFORE = '"statusBefore"'
export const TURN = '"turn"'

/**
 * The events of the rows in `u`: their numbers are drawn only once the feed is
 * shared (see feed.ts), when all rows that this writes are had. The first of
 * them has the mark.
 */
export function telling(
  statements: Statements,
  { kind, wake, freeing, single }: Told,
  add: (source: (input: Noted) => Value) => string,
): string {
  const notice = `pg_notify('${statements.channel}', '')`
  const notices = freeing && !wake ? `, CASE WHEN free > 0 THEN ${notice} END` : wake ? `, ${notice}` : ''
  const freed = freeing
    ? `UNION ALL SELECT f.id, f.title, f.status, f.revision, f.token, f.status, f.needs || ' is ' || u.status,
        2147483647 FROM f JOIN u ON u.id = f.needs`
    : ''
  const first = single ? TURN : `row_number() OVER (ORDER BY ${TURN}, id)`
  const at = add(({ note }) => note.at)
  const by = add(({ note }) => note.by)
  const why = add(({ note }) => note.why ?? null)
  const mark = add(input => input.mark ?? null)
  // Not merged with what reads it (OFFSET 0): the feed is shared before the first number is drawn.
  return `e AS (
      INSERT INTO ${statements.events} (at, kind, id, title, "from", "to", by, why, revision, token, mark)
      SELECT ${at}::text, ${literalOf(kind.name)}, id, title, ${BEFORE}, status, ${by}::text, why, revision, token,
        CASE WHEN ${first} = 1 THEN ${mark}::uuid END
      FROM (
        SELECT ${statements.sharingFeed}${notices} FROM (SELECT count(*) AS rows FROM u) written
          ${freeing ? ', (SELECT count(*) AS free FROM f) released' : ''} WHERE rows > 0 OFFSET 0
      ) g, (
        SELECT id, title, status, revision, token, ${BEFORE}, ${why}::text AS why, ${TURN} FROM u ${freed}
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
