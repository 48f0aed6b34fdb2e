import type { Note } from '../../core/event.ts'
import { stored, typeOf } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Change } from '../../core/store.ts'
import { arrayType, Bound, column, conditions, type Statement } from './bound.ts'
import { type Statements, wakes } from './statements.ts'
import { BEFORE, TURN, telling } from './telling.ts'
import { keepingTexts } from './texts.ts'
import { keepingWaits } from './waits.ts'

interface Changing {
  readonly note: Note
  readonly mark: string | undefined
  /** What the one item that is changed waits for from now on; absent where that stays as it is. */
  readonly needs?: readonly string[] | undefined
}

/**
 * Makes changes of one shape, each where its item is as it supposes, with their
 * events; frees what waited for them. With each row comes whose turn it was,
 * counted from 1, and which items were freed.
 */
export function changing(
  statements: Statements,
  kind: Kind,
  changes: readonly Change[],
  { note, mark, needs }: Changing,
): Statement {
  const bound = new Bound()
  const { schema } = statements
  const { fields, given, lapsed } = changes[0]!
  const names = Object.keys(fields)
  const brought = new Columns(bound, changes)
  const identified = [brought.of('id', 'text', ({ id }) => id), brought.of('was', 'text', ({ from }) => from)]
  const guards = (['revision', 'token'] as const)
    .filter(name => changes[0]![name] !== undefined)
    .map(name => brought.of(name, 'bigint', change => change[name]!))
  const values = names.map((name, index) =>
    brought.of(`f${index}`, arrayType(kind, name).slice(0, -2), change => stored(kind, name, change.fields[name])),
  )
  const columns = [...identified, ...guards, ...values]
  const step = stepOf(kind, changes[0]!)
  const parts = [
    `u AS (
      UPDATE ${statements.table(kind)} AS t
      SET ${names.map((name, index) => `${column(kind, name)} = c.f${index}${typeOf(kind, name) === 'json' ? '::jsonb' : ''}, `).join('')}
        revision = t.revision + 1
      FROM unnest(${columns.map(({ array }) => array).join(', ')})
        WITH ORDINALITY AS c (${columns.map(({ name }) => name).join(', ')}, turn)
      WHERE t.id = c.id ${guards.map(({ name }) => `AND t.${name} = c.${name}`).join(' ')}
        ${lapsed ? 'AND t."leaseUntil" < clock_timestamp()' : ''} AND ${conditions(kind, { where: given ?? {} }, bound, 't.')}
      RETURNING t.*, c.was AS ${BEFORE}, c.turn::int AS ${TURN}
    )`,
    ...(changes.some(({ texts }) => texts) ? [keepingTexts(schema, kind, changes, bound)] : []),
    ...(needs ? [keepingWaits(schema, kind, needs, bound)] : []),
    ...(step === 0 ? [] : [freeing(schema, kind, step)]),
    telling(
      statements,
      { kind, note, mark, wake: wakesAny(kind, changes), freeing: step !== 0, single: changes.length === 1 },
      bound,
    ),
  ]
  const sql = `WITH ${parts.join(', ')} SELECT ${statements.shown(kind)}, ${TURN}${step === 0 ? '' : `, ${FREED}`} FROM u`
  return { sql, values: bound.values }
}

/** What changes must have in common to be made by one statement. */
export function shapeOf(kind: Kind, change: Change): string {
  const { revision, token, given = {}, lapsed = false, fields } = change
  const shape = [revision === undefined, token === undefined, given, lapsed, stepOf(kind, change), Object.keys(fields)]
  return JSON.stringify(shape)
}

/** By how much the count of those who wait for an item changes with its move. */
function stepOf({ waits }: Kind, { from, fields: { status = from } }: Change): number {
  return waits ? Number(waits.until.includes(from)) - Number(waits.until.includes(String(status))) : 0
}

function freeing(schema: string, kind: Kind, step: number): string {
  return `f AS MATERIALIZED (
      SELECT freed.* FROM (SELECT array_agg(id) AS ids FROM u) moved,
        "${schema}"."${kind.table}_freed"(moved.ids, ${step}) freed WHERE moved.ids IS NOT NULL
    )`
}

const FREED = 'ARRAY (SELECT id FROM f) AS "freed"'

function wakesAny(kind: Kind, changes: readonly Change[]): boolean {
  return changes.some(
    ({ from, fields }) => wakes(kind, from, fields['status']) || fields[kind.waits?.blockers ?? ''] === 0,
  )
}

/** Values of changes as arrays, one for each column. */
class Columns {
  private readonly bound: Bound
  private readonly changes: readonly Change[]

  constructor(bound: Bound, changes: readonly Change[]) {
    this.bound = bound
    this.changes = changes
  }

  of(name: string, type: string, value: (change: Change) => string | number | null) {
    return { name, array: `${this.bound.add(this.changes.map(value))}::${type}[]` }
  }
}
