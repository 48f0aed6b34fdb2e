import { stored, typeOf } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Change } from '../../core/store.ts'
import { baseType, column, type Statement } from './bound.ts'
import type { Row, Value } from './connection.ts'
import { type Statements, wakes } from './statements.ts'
import { BEFORE, type Noted, TURN, telling } from './telling.ts'
import { Template } from './template.ts'
import { keepingTexts } from './texts.ts'
import { keepingWaits } from './waits.ts'

interface Changing extends Noted {
  /** What the one item that is changed waits for from now on; absent where that stays as it is. */
  readonly needs?: readonly string[] | undefined
}

interface Input extends Changing {
  readonly changes: readonly Change[]
}

/**
 * Makes changes of one shape, each where its item is as it supposes, with their
 * events; frees what waited for them. `changedIn` reads the answer.
 */
export function changing(statements: Statements, kind: Kind, changes: readonly Change[], how: Changing): Statement {
  const single = changes.length === 1
  const texts = changes.some(change => change.texts)
  const wake = wakesAny(kind, changes)
  const shape = `change ${statements.schema} ${single} ${texts} ${wake} ${how.needs !== undefined} ${shapeOf(kind, changes[0]!)}`
  return Template.of<Input>(kind, shape, template =>
    textOf(statements, kind, changes[0]!, { single, texts, wake, rewired: how.needs !== undefined }, template),
  ).filled({ ...how, changes })
}

interface Changed {
  readonly row: Row
  /** Which of the changes it was, counted from 0. */
  readonly index: number
  readonly freed: boolean
}

/** What was changed: one comes as JSON, as the driver needs longer to prepare for many columns than to read them. */
export function changedIn(answer: readonly Row[]): Changed[] {
  return answer.map(given => {
    const { turn, freed, ...row } = 'json' in given ? (given['json'] as Row) : given
    return { row, index: Number(turn) - 1, freed: freed === true }
  })
}

/** What changes must have in common to be made by one statement. */
export function shapeOf(kind: Kind, change: Change): string {
  const { revision, token, given = {}, lapsed = false, fields } = change
  const supposed = Object.entries(given).map(([field, value]) => `${field} ${JSON.stringify(value)}`)
  return `${revision === undefined} ${token === undefined} ${lapsed} ${stepOf(kind, change)} ${supposed.join()} ${Object.keys(fields).join()}`
}

interface Parts {
  readonly single: boolean
  readonly texts: boolean
  readonly wake: boolean
  readonly rewired: boolean
}

function textOf(
  statements: Statements,
  kind: Kind,
  change: Change,
  { single, texts, wake, rewired }: Parts,
  template: Template<Input>,
): string {
  const { schema } = statements
  const { fields, given = {}, lapsed } = change
  const names = Object.keys(fields)
  const guards = (['revision', 'token'] as const).filter(name => change[name] !== undefined)
  const brought = new Brought(template, single)
  brought.add('id', 'text', ({ id }) => id)
  brought.add('was', 'text', ({ from }) => from)
  for (const name of guards) brought.add(name, 'bigint', one => one[name]!)
  for (const [index, name] of names.entries()) {
    brought.add(`f${index}`, baseType(kind, name), one => stored(kind, name, one.fields[name]))
  }
  const conditions = [
    ...guards.map(name => `t.${name} = c.${name}`),
    ...(lapsed ? ['t."leaseUntil" < clock_timestamp()'] : []),
    ...Object.entries(given).map(([field, value]) => {
      const source = template.add(({ changes }) => changes[0]!.given![field]!)
      return `t.${column(kind, field)} = ${typeof value === 'object' ? `ANY (${source}::${baseType(kind, field)}[])` : source}`
    }),
  ]
  const step = stepOf(kind, change)
  const parts = [
    // What must be so is put in a form that the server cannot look up: it would rather find everything that is in
    // progress, among all that ever was, than a hundred ids.
    `u AS (
      UPDATE ${statements.table(kind)} AS t
      SET ${names.map((name, index) => `${column(kind, name)} = c.f${index}${typeOf(kind, name) === 'json' ? '::jsonb' : ''}, `).join('')}
        revision = t.revision + 1
      FROM ${brought.all()}
      WHERE t.id = c.id AND CASE WHEN ${conditions.length > 0 ? conditions.join(' AND ') : 'TRUE'} THEN TRUE ELSE FALSE END
      RETURNING t.*, c.was AS ${BEFORE}, c.turn::int AS ${TURN}
    )`,
    ...(texts ? [keepingTexts(schema, kind, source => template.add(({ changes }) => source(changes)))] : []),
    ...(rewired
      ? [
          keepingWaits(
            schema,
            kind,
            template.add(({ needs }) => needs!),
          ),
        ]
      : []),
    ...(step === 0 ? [] : [freeing(schema, kind, step)]),
    telling(statements, { kind, wake, freeing: step !== 0, single }, source => template.add(source)),
  ]
  const freed = step === 0 ? '' : ', EXISTS (SELECT FROM f) AS "freed"'
  const shown = `SELECT ${statements.shown(kind)}, ${TURN}${freed} FROM u`
  return `WITH ${parts.join(', ')} ${single ? `SELECT row_to_json(shown) AS json FROM (${shown}) shown` : shown}`
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

function wakesAny(kind: Kind, changes: readonly Change[]): boolean {
  return changes.some(
    ({ from, fields }) => wakes(kind, from, fields['status']) || fields[kind.waits?.blockers ?? ''] === 0,
  )
}

/**
 * What changes bring, as the rows of `c`. Those of a single one are no arrays:
 * the server expects ten of an array it has not seen, finds a plan for one
 * cheaper, and so would make a plan every time, which took longer than the change.
 */
class Brought {
  private readonly template: Template<Input>
  private readonly single: boolean
  private readonly columns: { readonly name: string; readonly value: string }[] = []

  constructor(template: Template<Input>, single: boolean) {
    this.template = template
    this.single = single
  }

  add(name: string, type: string, value: (change: Change) => string | number | null): void {
    const source = this.single
      ? ({ changes }: Input): Value => value(changes[0]!)
      : ({ changes }: Input): Value => changes.map(value)
    this.columns.push({ name, value: `${this.template.add(source)}::${type}${this.single ? '' : '[]'}` })
  }

  all(): string {
    const values = this.columns.map(({ value }) => value).join(', ')
    const rows = this.single ? `(SELECT ${values}, 1)` : `unnest(${values}) WITH ORDINALITY`
    return `${rows} AS c (${this.columns.map(({ name }) => name).join(', ')}, turn)`
  }
}
