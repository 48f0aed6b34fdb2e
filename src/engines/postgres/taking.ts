import type { Note } from '../../core/event.ts'
import { whole } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Claim, Query } from '../../core/store.ts'
import { assignments, Bound, conditions, orderOf, type Statement } from './bound.ts'
import type { Value } from './connection.ts'
import { lease, type Statements, wakes } from './statements.ts'
import { BEFORE, TURN, telling } from './telling.ts'

interface Taking {
  readonly note: Note
  readonly mark: string
  /** For whoever holds a matching row at the moment, instead of passing it over. */
  readonly wait: boolean
  /** Only what comes after this, by the values of the fields that say what comes first. */
  readonly beyond?: readonly Value[] | undefined
}

/** Claims the first few matches, with their events. */
export function taking(
  statements: Statements,
  kind: Kind,
  query: Query,
  claim: Claim,
  { note, mark, wait, beyond }: Taking,
): Statement {
  const bound = new Bound()
  const { owner: _owner, leaseUntil: _leaseUntil, ...fields } = claim.fields
  const by = orderOf(kind).join(', ')
  const columns = [...new Set(['"id"', 'status', ...orderOf(kind)])].join(', ')
  const single = (query.limit ?? 1) === 1
  const limit = `LIMIT ${whole(query.limit ?? 1)}`
  const after = beyond ? `AND (${by}) > (${beyond.map(value => bound.add(value)).join(', ')})` : ''
  const turn = single ? '1' : `row_number() OVER (ORDER BY ${by})::int`
  const looks = alternatives(query.where).map((where, index) => {
    const condition = conditions(kind, { ...query, where }, bound)
    return `l${index} AS MATERIALIZED (SELECT ${columns} FROM ${statements.table(kind)} WHERE ${condition} ${after}
      ORDER BY ${by} ${limit} FOR UPDATE${wait ? '' : ' SKIP LOCKED'})`
  })
  const found = looks.map((_, index) => `SELECT * FROM l${index}`).join(' UNION ALL ')
  const first = looks.length > 1 ? `ORDER BY ${by} ${limit}` : ''
  const wake = wakes(kind, undefined, fields['status'])
  const sql = `WITH ${looks.join(', ')},
    c AS MATERIALIZED (SELECT id, status, ${turn} AS turn FROM (${found}) found ${first}),
    u AS (
      UPDATE ${statements.table(kind)} AS t SET ${assignments(kind, fields, bound)}
        owner = ${bound.add(claim.owner)}, "leaseUntil" = ${lease(bound.add(claim.leaseMs ?? null))},
        token = t.token + 1, revision = t.revision + 1
      FROM c WHERE t.id = c.id RETURNING t.*, c.status AS ${BEFORE}, c.turn AS ${TURN}
    ), ${telling(statements, { kind, note, mark, wake, freeing: false, single }, bound)}
    SELECT ${statements.shown(kind)} FROM u${single ? '' : ` ORDER BY ${TURN}`}`
  return { sql, values: bound.values }
}

/**
 * Where a field may have one of several values, one condition for each: a
 * single look would pass over everything that has others, one by one.
 */
function alternatives(where: Query['where'] = {}): NonNullable<Query['where']>[] {
  const several = Object.keys(where).find(field => typeof where[field] === 'object')
  if (several === undefined || where['id'] !== undefined) return [where]
  return [...new Set([where[several]!].flat())].map(value => ({ ...where, [several]: value }))
}
