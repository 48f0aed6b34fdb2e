import { listKey, type Named, named, numberOf } from '../../core/keeping.ts'
import type { Draft, Kind } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import type { Send } from './connection.ts'

/**
 * The drafts with their ids; those without get the next numbers of their lists.
 * From then on the lists' rows are held, so rivals wait until these numbers are
 * given for good or given back.
 */
export async function withIds(send: Send, schema: string, kind: Kind, drafts: readonly Draft[]): Promise<Named[]> {
  await keepNumbers(
    send,
    schema,
    kind,
    drafts.flatMap(({ id, fields }) => (id === undefined ? [] : [fields])),
  )
  const counts = new Map<string, number>()
  for (const { id, fields } of drafts) {
    const key = listKey(kind, fields)
    if (id === undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const rows = counts.size === 0 ? [] : await changed(send, schema, kind, counts, 'n.last + excluded.last')
  const next = new Map(rows.map(({ list, last }) => [String(list), Number(last) - counts.get(String(list))! + 1]))
  return drafts.map(draft =>
    named(kind, draft, () => {
      const key = listKey(kind, draft.fields)
      const number = next.get(key)!
      next.set(key, number + 1)
      return number
    }),
  )
}

/** Sees to it that the numbers items came with are not given again. */
export async function keepNumbers(send: Send, schema: string, kind: Kind, items: readonly Fields[]): Promise<void> {
  const highest = new Map<string, number>()
  for (const fields of items) {
    const number = numberOf(kind, fields)
    const key = listKey(kind, fields)
    if (number > (highest.get(key) ?? 0)) highest.set(key, number)
  }
  if (highest.size > 0) await changed(send, schema, kind, highest, 'greatest(n.last, excluded.last)')
}

/** Always in the same order, so that no two wait for each other. */
function changed(send: Send, schema: string, kind: Kind, lists: ReadonlyMap<string, number>, last: string) {
  return send(
    `INSERT INTO "${schema}".numbers AS n (kind, list, last)
      SELECT $1, list, last FROM unnest($2::text[], $3::bigint[]) AS given (list, last) ORDER BY list
      ON CONFLICT (kind, list) DO UPDATE SET last = ${last} RETURNING list, last`,
    [kind.name, [...lists.keys()], [...lists.values()]],
  )
}
