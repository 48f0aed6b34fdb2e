import type { Note } from '../../core/event.ts'
import { literal, stored, whole } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Claim, Query } from '../../core/store.ts'
import { arrayType, column, orderOf, type Statement } from './bound.ts'
import type { Row, Value } from './connection.ts'
import { lease, type Statements, wakes } from './statements.ts'
import { BEFORE, TURN, telling } from './telling.ts'
import { Template } from './template.ts'

export interface Taking {
  readonly note: Note
  readonly mark: string | undefined
  /** For whoever holds a matching row at the moment, instead of passing it over. */
  readonly wait: boolean
  /** For each of the looks: only what comes after this, by the values of the fields that say what comes first. */
  readonly beyond?: readonly (readonly Value[] | undefined)[] | undefined
}

interface Input extends Taking {
  readonly where: NonNullable<Query['where']>
  readonly claim: Claim
}

/** Claims the first few matches, with their events. `takenIn` reads the answer. */
export function taking(statements: Statements, kind: Kind, query: Query, claim: Claim, taken: Taking): Statement {
  const { where = {}, status = [], limit = 1 } = query
  const several = severalIn(where)
  const distinct = several === undefined ? where : { ...where, [several]: valuesOf(where, several) }
  const shape = [
    statements.schema,
    Object.entries(distinct).map(([field, value]) => [
      field,
      field === several ? [value].flat().length : value === null ? 'empty' : typeof value,
    ]),
    status,
    limit,
    Object.keys(claim.fields),
    claim.fields['status'],
    taken.wait,
    taken.beyond?.map(place => place === undefined),
  ]
  return Template.of<Input>(kind, `take ${JSON.stringify(shape)}`, template =>
    textOf(statements, kind, { ...query, where: distinct }, claim, taken, template),
  ).filled({ ...taken, where: distinct, claim })
}

/** The items in an answer: one comes as JSON, as the driver needs longer to prepare for many columns than to read them. */
export function takenIn(answer: readonly Row[]): Row[] {
  return answer.map(row => ('json' in row ? (row['json'] as Row) : row))
}

function textOf(
  statements: Statements,
  kind: Kind,
  { where = {}, status, limit = 1 }: Query,
  claim: Claim,
  { wait, beyond }: Taking,
  template: Template<Input>,
): string {
  const order = orderOf(kind)
  const by = order.join(', ')
  const columns = [...new Set(['"id"', 'status', ...order])].join(', ')
  const single = limit === 1
  const most = `LIMIT ${whole(limit)}`
  const turn = single ? '1' : `row_number() OVER (ORDER BY ${by})::int`
  const several = severalIn(where)
  const values = several === undefined ? 1 : [where[several]!].flat().length
  const looks = Array.from({ length: values }, (_, nth) => {
    const conditions = Object.keys(where).map(field => {
      if (field === several)
        return `${column(kind, field)} = ${template.add(input => [input.where[field]!].flat()[nth]!)}`
      if (where[field] === null) return `${column(kind, field)} IS NULL`
      const value = template.add(input => input.where[field]!)
      return typeof where[field] === 'object'
        ? `${column(kind, field)} = ANY (${value}::${arrayType(kind, field)})`
        : `${column(kind, field)} = ${value}`
    })
    if (status) conditions.push(`status IN (${status.map(name => literal(kind, name)).join(', ')})`)
    if (beyond?.[nth]) {
      const place = order.map((_field, at) => template.add(input => input.beyond![nth]![at]!))
      conditions.push(`(${by}) > (${place.join(', ')})`)
    }
    return `l${nth} AS MATERIALIZED (SELECT ${columns} FROM ${statements.table(kind)}
      WHERE ${conditions.length > 0 ? conditions.join(' AND ') : 'TRUE'}
      ORDER BY ${by} ${most} FOR UPDATE${wait ? '' : ' SKIP LOCKED'})`
  })
  const found = looks.map((_, nth) => `SELECT * FROM l${nth}`).join(' UNION ALL ')
  const { owner: _owner, leaseUntil: _leaseUntil, ...fields } = claim.fields
  const assigned = Object.keys(fields).map(
    field => `${column(kind, field)} = ${template.add(input => stored(kind, field, input.claim.fields[field]))}, `,
  )
  const owner = template.add(input => input.claim.owner)
  const leaseMs = template.add(input => input.claim.leaseMs ?? null)
  const told = {
    kind,
    wake: wakes(kind, undefined, fields['status']),
    freeing: false,
    single,
    at: `${template.add(({ note }) => note.at)}::text`,
    by: `${template.add(({ note }) => note.by)}::text`,
    why: `${template.add(({ note }) => note.why ?? null)}::text`,
    mark: template.add(({ mark }) => mark ?? null),
  }
  const shown = `SELECT ${statements.shown(kind)} FROM u`
  return `WITH ${looks.join(', ')},
    c AS MATERIALIZED (SELECT id, status, ${turn} AS turn FROM (${found}) found ${values > 1 ? `ORDER BY ${by} ${most}` : ''}),
    u AS (
      UPDATE ${statements.table(kind)} AS t SET ${assigned.join('')}
        owner = ${owner}, "leaseUntil" = ${lease(leaseMs)}, token = t.token + 1, revision = t.revision + 1
      FROM c WHERE t.id = c.id RETURNING t.*, c.status AS ${BEFORE}, c.turn AS ${TURN}
    ), ${telling(statements, told)}
    ${single ? `SELECT row_to_json(shown) AS json FROM (${shown}) shown` : `${shown} ORDER BY ${TURN}`}`
}

/** The conditions of the looks that a claim takes, one by one. */
export function looksFor(where: NonNullable<Query['where']>): NonNullable<Query['where']>[] {
  const several = severalIn(where)
  return several === undefined ? [where] : valuesOf(where, several).map(value => ({ ...where, [several]: value }))
}

function valuesOf(where: NonNullable<Query['where']>, field: string): (string | number)[] {
  return [...new Set([where[field]!].flat())]
}

/**
 * The field that may have one of several values, where there is one: each gets
 * a look of its own, as a single one would pass over everything that has others.
 */
function severalIn(where: NonNullable<Query['where']>): string | undefined {
  return where['id'] === undefined ? Object.keys(where).find(field => Array.isArray(where[field])) : undefined
}
