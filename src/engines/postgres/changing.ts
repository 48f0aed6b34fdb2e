import type { Note } from '../../core/event.ts'
import { stored, typeOf } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Change } from '../../core/store.ts'
import { baseType, column, type Statement } from './bound.ts'
import type { Row, Value } from './connection.ts'
import { type Statements, wakes } from './statements.ts'
import { BEFORE, TURN, telling } from './telling.ts'
import { Template } from './template.ts'
import { keepingTexts } from './texts.ts'
import { keepingWaits } from './waits.ts'

/** A change, and what is to be told of it. */
export interface Wish {
  readonly change: Change
  readonly note: Note
}

interface Changing {
  readonly mark: string | undefined
  /** What the one item that is changed waits for from now on; absent where that stays as it is. */
  readonly needs?: readonly string[] | undefined
}

interface Input extends Changing {
  readonly wishes: readonly Wish[]
}

/**
 * Makes changes of one shape, each where its item is as it supposes, with their
 * events; frees what waited for them. `changedIn` reads the answer.
 */
export function changing(statements: Statements, kind: Kind, wishes: readonly Wish[], how: Changing): Statement {
  const { change, note } = wishes[0]!
  const parts = {
    single: wishes.length === 1,
    texts: wishes.some(wish => wish.change.texts),
    wake: wishes.some(wish => wakesFor(kind, wish.change)),
    rewired: how.needs !== undefined,
    alike: wishes.every(({ note: { by, at, why } }) => by === note.by && at === note.at && why === note.why),
    varied: Object.keys(change.fields).filter(name =>
      wishes.some(wish => wish.change.fields[name] !== change.fields[name]),
    ),
  }
  const shape = `change ${statements.schema} ${Object.values(parts).join()} ${shapeOf(kind, change)}`
  return Template.of<Input>(kind, shape, template => textOf(statements, kind, change, parts, template)).filled({
    ...how,
    wishes,
  })
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
  /** Whether the same is told of all. */
  readonly alike: boolean
  /** The fields that do not get the same value in all. */
  readonly varied: readonly string[]
}

function textOf(
  statements: Statements,
  kind: Kind,
  change: Change,
  { single, texts, wake, rewired, alike, varied }: Parts,
  template: Template<Input>,
): string {
  const { schema } = statements
  const { fields, given = {}, lapsed } = change
  const names = Object.keys(fields)
  const guards = (['revision', 'token'] as const).filter(name => change[name] !== undefined)
  const brought = new Brought(template, single)
  brought.add('id', 'text', wish => wish.change.id)
  brought.add('was', 'text', wish => wish.change.from)
  for (const name of guards) brought.add(name, 'bigint', wish => wish.change[name]!)
  const assigned = names.map((name, index) => {
    const type = typeOf(kind, name) === 'json' ? '::jsonb' : ''
    if (varied.includes(name)) {
      brought.add(`f${index}`, baseType(kind, name), ({ change: { fields: own } }) => stored(kind, name, own[name]))
      return `${column(kind, name)} = c.f${index}${type}, `
    }
    const same = template.add(({ wishes }) => stored(kind, name, wishes[0]!.change.fields[name]))
    return `${column(kind, name)} = ${same}::${baseType(kind, name)}${type}, `
  })
  const told = (name: 'at' | 'by' | 'why') => {
    if (alike) return `${template.add(({ wishes }) => wishes[0]!.note[name] ?? null)}::text`
    brought.add(`note_${name}`, 'text', wish => wish.note[name] ?? null)
    return `u.note_${name}`
  }
  const notes = { at: told('at'), by: told('by'), why: told('why') }
  const conditions = [
    ...guards.map(name => `t.${name} = c.${name}`),
    ...(lapsed ? ['t."leaseUntil" < clock_timestamp()'] : []),
    ...Object.entries(given).map(([field, value]) => {
      const source = template.add(({ wishes }) => wishes[0]!.change.given![field]!)
      return `t.${column(kind, field)} = ${typeof value === 'object' ? `ANY (${source}::${baseType(kind, field)}[])` : source}`
    }),
  ]
  const step = stepOf(kind, change)
  const parts = [
    // What must be so is put in a form that the server cannot look up: it would rather find everything that is in
    // progress, among all that ever was, than a hundred ids.
    `u AS (
      UPDATE ${statements.table(kind)} AS t
      SET ${assigned.join('')}
        revision = t.revision + 1
      FROM ${brought.all()}
      WHERE t.id = c.id AND CASE WHEN ${conditions.length > 0 ? conditions.join(' AND ') : 'TRUE'} THEN TRUE ELSE FALSE END
      RETURNING t.*, c.was AS ${BEFORE}, c.turn::int AS ${TURN}${alike ? '' : ', c.note_at, c.note_by, c.note_why'}
    )`,
    ...(texts
      ? [keepingTexts(schema, kind, source => template.add(({ wishes }) => source(wishes.map(wish => wish.change))))]
      : []),
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
    telling(statements, {
      kind,
      wake,
      freeing: step !== 0,
      single,
      ...notes,
      mark: template.add(({ mark }) => mark ?? null),
    }),
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

function wakesFor(kind: Kind, { from, fields }: Change): boolean {
  return wakes(kind, from, fields['status']) || fields[kind.waits?.blockers ?? ''] === 0
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

  add(name: string, type: string, value: (wish: Wish) => string | number | null): void {
    const source = this.single
      ? ({ wishes }: Input): Value => value(wishes[0]!)
      : ({ wishes }: Input): Value => wishes.map(value)
    this.columns.push({ name, value: `${this.template.add(source)}::${type}${this.single ? '' : '[]'}` })
  }

  all(): string {
    const values = this.columns.map(({ value }) => value).join(', ')
    const rows = this.single ? `(SELECT ${values}, 1)` : `unnest(${values}) WITH ORDINALITY`
    return `${rows} AS c (${this.columns.map(({ name }) => name).join(', ')}, turn)`
  }
}
