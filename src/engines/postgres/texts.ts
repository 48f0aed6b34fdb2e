import type { Kind, Texts } from '../../core/kind.ts'
import { literalOf, type Statement } from './bound.ts'
import type { Row, Value } from './connection.ts'

interface Holder {
  readonly id: string
  readonly texts?: Texts | undefined
}

/**
 * A part of a statement whose part `u` writes the items: their texts, and only
 * of those it has written. Whoever changes an item's texts holds its row.
 */
export function keepingTexts(
  schema: string,
  kind: Kind,
  add: (source: (holders: readonly Holder[]) => Value) => string,
): string {
  const column = (name: 'id' | 'name' | 'text') => `${add(holders => textsIn(holders).map(text => text[name]))}::text[]`
  return `x AS (
      INSERT INTO "${schema}".texts (kind, id, name, text)
      SELECT ${literalOf(kind.name)}, t.id, t.name, t.text
      FROM unnest(${column('id')}, ${column('name')}, ${column('text')}) AS t (id, name, text) JOIN u ON u.id = t.id
      ON CONFLICT (kind, id, name) DO UPDATE SET text = excluded.text
    )`
}

function textsIn(holders: readonly Holder[]): { readonly id: string; readonly name: string; readonly text: string }[] {
  return holders.flatMap(({ id, texts = {} }) => Object.entries(texts).map(([name, text]) => ({ id, name, text })))
}

export function textsOf(schema: string, kind: Kind, ids: readonly string[]): Statement {
  const sql = `SELECT id, name, text FROM "${schema}".texts WHERE kind = $1 AND id = ANY ($2::text[]) ORDER BY id, name`
  return { sql, values: [kind.name, ids] }
}

/** Texts by item and name. */
export function byItem(rows: readonly Row[]): Map<string, Texts> {
  const all = new Map<string, Record<string, string>>()
  for (const { id, name, text } of rows as { id: string; name: string; text: string }[]) {
    all.set(id, { ...all.get(id), [name]: text })
  }
  return all
}
