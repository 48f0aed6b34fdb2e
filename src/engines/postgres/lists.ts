import type { Note } from '../../core/event.ts'
import { ofLists } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import { Bound, column, conditions, type Statement } from './bound.ts'
import type { Statements } from './statements.ts'

type Where = Readonly<Record<string, string>>

/** The values of a list field, in the order in which the first item of each was added. */
export function namesIn(statements: Statements, kind: Kind, field: string, where: Where): Statement {
  ofLists(kind, [field, ...Object.keys(where)])
  const bound = new Bound()
  const sql = `SELECT ${column(kind, field)} AS name FROM ${statements.table(kind)}
    WHERE ${conditions(kind, { where }, bound)} GROUP BY ${column(kind, field)} ORDER BY min(n)`
  return { sql, values: bound.values }
}

/** Takes whole lists out, with their texts, and tells of each item; the first of the events has the mark. */
export function removal(statements: Statements, kind: Kind, where: Where, note: Note, mark: string): Statement {
  ofLists(kind, Object.keys(where))
  if (Object.keys(where).length === 0) throw new Error(`Which lists of ${kind.name} are to be removed?`)
  const bound = new Bound()
  const text = (value: string | null) => `${bound.add(value)}::text`
  const sql = `WITH u AS (
      DELETE FROM ${statements.table(kind)} WHERE ${conditions(kind, { where }, bound)}
      RETURNING id, title, status, revision, token, n
    ), x AS (
      DELETE FROM "${statements.schema}".texts t USING u WHERE t.kind = ${text(kind.name)} AND t.id = u.id
    ), g AS MATERIALIZED (
      SELECT ${statements.sharingFeed} FROM (SELECT count(*) AS rows FROM u) gone WHERE rows > 0
    ), e AS (
      INSERT INTO ${statements.events} (at, kind, id, title, "from", "to", by, why, revision, token, mark)
      SELECT ${text(note.at)}, ${text(kind.name)}, u.id, u.title, u.status, 'removed', ${text(note.by)},
        ${text(note.why ?? null)}, u.revision + 1, u.token,
        CASE WHEN row_number() OVER (ORDER BY u.n) = 1 THEN ${bound.add(mark)}::uuid END
      FROM g, u ORDER BY u.n
    ) SELECT count(*)::int AS count FROM u`
  return { sql, values: bound.values }
}
