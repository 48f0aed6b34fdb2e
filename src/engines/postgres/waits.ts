import { literal } from '../../core/keeping.ts'
import type { Item, Kind, Waits } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { refuseParts } from '../../core/parts.ts'
import type { Change } from '../../core/store.ts'
import { type Bound, literalOf } from './bound.ts'
import type { Row, Send } from './connection.ts'
import type { Statements } from './statements.ts'

/**
 * What items of a kind wait for: one row in `waits` for each pair, and in each
 * item the count of those that are open.
 *
 * Whoever changes what waits for what first holds the rows of everything that is
 * waited for, in the order of their ids: from then on nobody can complete one
 * of them unseen. What is not there cannot be held; so that it is not added, and
 * completed, unseen either, whoever waits for something adds to the kind alone.
 */

/** Whether adding these needs to be alone. */
export function waitsForOthers(kind: Kind, drafts: readonly { readonly fields: Fields }[]): boolean {
  const { waits } = kind
  return (
    waits !== undefined && drafts.some(({ fields }) => listed(fields[waits.on]).some(name => !name.startsWith('#')))
  )
}

/** Whether a change of these fields changes what an item waits for. */
export function rewires({ waits }: Kind, fields: Fields): boolean {
  return waits !== undefined && [waits.on, waits.without].some(field => Object.hasOwn(fields, field))
}

export interface Wiring {
  readonly items: readonly string[]
  readonly needs: readonly string[]
  /** Items there already that the new ones are parts of: how many more of them, and how many open. */
  readonly parents: ReadonlyMap<string, { blockers: number; children: number }>
}

interface New {
  readonly id: string
  readonly status: string
  readonly fields: Fields
}

/** Counts what new items wait for. From here on everything they refer to is held. */
export async function wiringOf<T extends New>(
  send: Send,
  statements: Statements,
  kind: Kind,
  drafts: readonly T[],
): Promise<{ readonly drafts: readonly T[]; readonly wiring?: Wiring }> {
  const { waits } = kind
  if (!waits) return { drafts }
  const referred = drafts.flatMap(({ fields }) => [...listed(fields[waits.on]), parentIn(waits, fields)])
  if (referred.every(id => id === '')) return { drafts }
  const own = new Map(drafts.map(draft => [draft.id, draft]))
  const there = await held(
    send,
    statements,
    kind,
    waits,
    referred.filter(id => !own.has(id)),
  )
  const pairs: { item: string; needs: string }[] = []
  const parents = new Map<string, { blockers: number; children: number }>()
  const children = new Map<string, number>()
  const isOpen = (id: string) => !waits.until.includes(String((own.get(id) ?? there.get(id))?.status))
  for (const { id, fields } of drafts) {
    for (const needs of needed(waits, fields, [])) pairs.push({ item: id, needs })
    const parent = parentIn(waits, fields)
    const outside = there.get(parent)
    const waiver = own.get(parent)?.fields[waits.without] ?? outside?.[waits.without] ?? {}
    if (!own.has(parent) && !outside) continue
    children.set(parent, (children.get(parent) ?? 0) + 1)
    if (outside) refuseParts(kind, outside as unknown as Item)
    if (!Object.hasOwn(waiver, id)) pairs.push({ item: parent, needs: id })
  }
  const open = Map.groupBy(
    pairs.filter(({ needs }) => isOpen(needs)),
    ({ item }) => item,
  )
  const counts = (id: string) => ({ blockers: open.get(id)?.length ?? 0, children: children.get(id) ?? 0 })
  for (const id of children.keys()) if (!own.has(id)) parents.set(id, counts(id))
  const counted = drafts.map(draft => {
    const { blockers, children: parts } = counts(draft.id)
    return { ...draft, fields: { ...draft.fields, [waits.blockers]: blockers, [waits.children]: parts } }
  })
  const wiring = { items: pairs.map(({ item }) => item), needs: pairs.map(({ needs }) => needs), parents }
  return { drafts: counted, wiring }
}

/** Parts of a statement whose part `u` adds items: what they wait for, and the counts of those they are parts of. */
export function addingWaits(
  statements: Statements,
  kind: Kind,
  { items, needs, parents }: Wiring,
  bound: Bound,
): string {
  const { blockers, children } = kind.waits!
  const text = (values: readonly string[]) => `${bound.add(values)}::text[]`
  const numbers = (values: readonly number[]) => `${bound.add(values)}::int[]`
  const counts = [...parents.values()]
  return `w AS (
      INSERT INTO "${statements.schema}".waits (list, item, needs)
      SELECT ${bound.add(kind.table)}::text, item, needs FROM unnest(${text(items)}, ${text(needs)}) AS pairs (item, needs)
      ON CONFLICT DO NOTHING
    ), p AS (
      UPDATE ${statements.table(kind)} AS t SET "${blockers}" = t."${blockers}" + more.open,
        "${children}" = t."${children}" + more.parts, revision = t.revision + 1
      FROM unnest(${text([...parents.keys()])}, ${numbers(counts.map(count => count.blockers))},
        ${numbers(counts.map(count => count.children))}) AS more (id, open, parts) WHERE t.id = more.id
    )`
}

/** A change with the count of what the item waits for afterwards, and what that is. From here on all of it is held. */
export async function rewired(
  send: Send,
  statements: Statements,
  kind: Kind,
  change: Change,
): Promise<{ readonly change: Change; readonly needs: readonly string[] }> {
  const waits = kind.waits!
  const { id, fields } = change
  const before = await send(
    `SELECT needs AS id FROM "${statements.schema}".waits WHERE list = $1 AND item = $2
      UNION SELECT jsonb_array_elements_text("${waits.on}") FROM ${statements.table(kind)} WHERE id = $2
      UNION SELECT id FROM ${statements.table(kind)} WHERE "${waits.parent}" = $2`,
    [kind.table, id],
  )
  const all = [id, ...before.map(row => String(row['id'])), ...listed(fields[waits.on])]
  const there = await held(send, statements, kind, waits, all)
  const after = { ...there.get(id), ...fields }
  const parts = [...there.values()].filter(row => row[waits.parent] === id).map(row => String(row['id']))
  const needs = needed(waits, after, parts)
  const open = needs.filter(one => !waits.until.includes(String(there.get(one)?.['status'])))
  return { change: { ...change, fields: { ...fields, [waits.blockers]: open.length } }, needs }
}

/** A part of a statement whose part `u` changes one item: what it waits for from now on. */
export function keepingWaits(schema: string, kind: Kind, needs: string): string {
  const list = literalOf(kind.table)
  return `v AS (
      DELETE FROM "${schema}".waits w USING u WHERE w.list = ${list} AND w.item = u.id AND NOT w.needs = ANY (${needs}::text[])
    ), w AS (
      INSERT INTO "${schema}".waits (list, item, needs)
      SELECT ${list}, u.id, needs FROM u, unnest(${needs}::text[]) AS needs ON CONFLICT DO NOTHING
    )`
}

/** Notes down what loaded items wait for and what they are parts of, and counts anew. */
export async function wire(send: Send, statements: Statements, kind: Kind, ids: readonly string[]): Promise<void> {
  const { waits } = kind
  if (!waits) return
  const { on, parent, without, blockers, children } = waits
  const table = statements.table(kind)
  const list = `"${statements.schema}".waits`
  const among = '= ANY ($1::text[])'
  await send(
    `INSERT INTO ${list} (list, item, needs) SELECT '${kind.table}', t.id, d.needs
      FROM ${table} t, jsonb_array_elements_text(t."${on}") AS d (needs)
      WHERE t.id ${among} AND NOT coalesce(t."${without}", '{}') ? d.needs
      UNION SELECT '${kind.table}', p.id, c.id FROM ${table} c JOIN ${table} p ON p.id = c."${parent}"
      WHERE (c.id ${among} OR c."${parent}" ${among}) AND NOT coalesce(p."${without}", '{}') ? c.id
      ON CONFLICT DO NOTHING`,
    [ids],
  )
  const affected = await send(
    `SELECT $1::text[] || ARRAY (
        SELECT "${parent}" FROM ${table} WHERE id ${among} UNION SELECT needs FROM ${list} WHERE list = '${kind.table}' AND item ${among}
        UNION SELECT item FROM ${list} WHERE list = '${kind.table}' AND needs ${among}
      ) AS ids`,
    [ids],
  )
  const all = affected[0]!['ids'] as string[]
  await held(send, statements, kind, waits, all)
  const met = waits.until.map(status => literal(kind, status)).join(', ')
  await send(
    `UPDATE ${table} t SET "${blockers}" = c.open, "${children}" = c.parts, revision = t.revision + (t.id <> ALL ($2::text[]))::int
      FROM (
        SELECT i.id, (SELECT count(*) FROM ${list} w LEFT JOIN ${table} d ON d.id = w.needs WHERE w.list = '${kind.table}'
            AND w.item = i.id AND coalesce(d.status, '') NOT IN (${met})) AS open,
          (SELECT count(*) FROM ${table} p WHERE p."${parent}" = i.id AND p."${parent}" <> '') AS parts
        FROM ${table} i WHERE i.id ${among}
      ) c WHERE t.id = c.id AND (t."${blockers}", t."${children}") IS DISTINCT FROM (c.open, c.parts)`,
    [all, ids],
  )
}

async function held(
  send: Send,
  statements: Statements,
  kind: Kind,
  waits: Waits,
  ids: readonly string[],
): Promise<Map<string, Row>> {
  const rows = await send(
    `SELECT id, title, status, "${waits.on}", "${waits.parent}", "${waits.without}" FROM ${statements.table(kind)}
      WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
    [[...new Set(ids)]],
  )
  return new Map(rows.map(row => [String(row['id']), row]))
}

/** Everything an item with these fields and parts waits for. */
function needed(waits: Waits, fields: Fields, parts: readonly string[]): string[] {
  const without = (fields[waits.without] ?? {}) as Fields
  return [...new Set([...listed(fields[waits.on]), ...parts])].filter(id => !Object.hasOwn(without, id))
}

function parentIn(waits: Waits, fields: Fields): string {
  const parent = fields[waits.parent]
  return typeof parent === 'string' ? parent : ''
}

function listed(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
