import type { Note } from '../../core/event.ts'
import { columnsOf, listKey, listOf, type Named, stored, typeOf } from '../../core/keeping.ts'
import type { Kind, Texts } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { arrayType, Bound, baseType, literalOf, type Statement } from './bound.ts'
import { listLock, lockNumber } from './lock.ts'
import { type Statements, wakes } from './statements.ts'
import { keepingTexts } from './texts.ts'
import { addingWaits, type Wiring } from './waits.ts'

interface Addition {
  readonly places?: readonly number[] | undefined
  readonly mark?: string | undefined
  readonly wiring?: Wiring | undefined
  /** The last number of the list, as far as known: nothing is added unless it still is. */
  readonly expected?: number | undefined
}

/**
 * Adds drafts with their texts and events. Rows first, and all of them, then
 * the feed, then events: nobody waits for another's row while sharing the feed.
 * Places that are not given follow the last one there is; the first of the
 * events has the mark.
 */
export function addition(
  statements: Statements,
  kind: Kind,
  drafts: readonly Named[],
  note: Note,
  { places, mark, wiring, expected }: Addition,
): Statement {
  const bound = new Bound()
  const text = (value: string | null) => `${bound.add(value)}::text`
  const wake = drafts.some(({ status }) => wakes(kind, undefined, status))
  const rows = drafts.map(({ id, title, status, identity, fields }, index) => ({
    ...fields,
    id,
    title,
    status,
    identity,
    token: 0,
    revision: 1,
    ...(kind.place ? { [kind.place]: places?.[index] } : {}),
  }))
  const appended = kind.place !== undefined && !places
  const sql = `WITH ${appended ? `p AS MATERIALIZED (SELECT ${endOf(statements, kind, drafts[0]!, bound)} AS place),` : ''}
    ${expected === undefined ? '' : `${following(statements, kind, drafts, expected, bound)},`}
    u AS (${inserting(statements, kind, rows, bound, { appended, expecting: expected !== undefined })} RETURNING *),
    ${drafts.some(({ texts }) => texts) ? `${keepingTexts(statements.schema, kind, source => bound.add(source(drafts)))},` : ''}
    ${wiring ? `${addingWaits(statements, kind, wiring, bound)},` : ''}
    g AS MATERIALIZED (
      SELECT ${statements.sharingFeed}${wake ? `, pg_notify('${statements.channel}', '')` : ''}
      FROM (SELECT count(*) AS rows FROM u) written WHERE rows > 0
    ), e AS (
      INSERT INTO ${statements.events} (at, kind, id, title, "to", by, why, revision, token${mark ? ', mark' : ''})
      SELECT ${text(note.at)}, ${text(kind.name)}, u.id, u.title, u.status, ${text(note.by)}, ${text(note.why ?? null)},
        u.revision, u.token
        ${mark ? `, CASE WHEN row_number() OVER (ORDER BY u.n) = 1 THEN ${bound.add(mark)}::uuid END` : ''}
      FROM g, u ORDER BY u.n
    ) SELECT ${statements.shown(kind)} FROM u`
  return { sql, values: bound.values }
}

/** Adds rows as they are, with their texts. */
export function copying(
  statements: Statements,
  kind: Kind,
  items: readonly { readonly id: string; readonly row: Fields; readonly texts: Texts }[],
): Statement {
  const bound = new Bound()
  const rows = items.map(({ row }) => row)
  const sql = `WITH u AS (${inserting(statements, kind, rows, bound)} RETURNING id),
    ${keepingTexts(statements.schema, kind, source => bound.add(source(items)))} SELECT count(*) FROM u`
  return { sql, values: bound.values }
}

/**
 * Many rows in their order, without leases. `appended`: each gets the next place
 * behind `p`. `expecting`: only if there is a `k`. A single one comes without
 * arrays: see `Brought` in changing.ts.
 */
function inserting(
  statements: Statements,
  kind: Kind,
  rows: readonly Fields[],
  bound: Bound,
  { appended = false, expecting = false } = {},
): string {
  const columns = columnsOf(kind).filter(name => name !== 'leaseUntil')
  const given = columns.map(name => {
    const values = rows.map(row => stored(kind, name, row[name]))
    return values.length === 1
      ? `${bound.add(values[0]!)}::${baseType(kind, name)}`
      : `${bound.add(values)}::${arrayType(kind, name)}`
  })
  const value = (name: string, index: number) => {
    if (appended && name === kind.place) return 'place + ord::int - 1'
    return typeOf(kind, name) === 'json' ? `c${index}::jsonb` : `c${index}`
  }
  const all = given.join(', ')
  return `INSERT INTO ${statements.table(kind)} (${columns.map(name => `"${name}"`).join(', ')})
    SELECT ${columns.map(value).join(', ')} FROM ${rows.length === 1 ? `(SELECT ${all}, 1)` : `unnest(${all}) WITH ORDINALITY`}
    AS rows (${columns.map((_, index) => `c${index}`).join(', ')}, ord)${appended ? ', p' : ''}${expecting ? ', k' : ''} ORDER BY ord`
}

/** Gives the next numbers of the drafts' list, if the last one is still the one that was expected. */
function following(
  statements: Statements,
  kind: Kind,
  drafts: readonly Named[],
  expected: number,
  bound: Bound,
): string {
  const held = `(SELECT ${statements.addingTo(kind, false)} OFFSET 0) AS l`
  return `k AS (
      UPDATE "${statements.schema}".numbers AS n SET last = n.last + ${bound.add(drafts.length)}::int FROM ${held}
      WHERE n.kind = ${literalOf(kind.name)} AND n.list = ${bound.add(listKey(kind, drafts[0]!.fields))}
        AND n.last = ${bound.add(expected)}::bigint RETURNING 1
    )`
}

function endOf({ schema }: Statements, kind: Kind, { fields }: Named, bound: Bound): string {
  const lock = bound.add(lockNumber(...listLock(schema, kind.name, listKey(kind, fields))))
  const list = listOf(kind, fields).map((value, index) => `${bound.add(value)}::${baseType(kind, kind.list[index]!)}`)
  return `"${schema}"."${kind.table}_end"(${lock}::bigint, ${list.join(', ')})`
}
