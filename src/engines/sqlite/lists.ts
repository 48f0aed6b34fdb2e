import { listKey, listOf, numberOf } from '../../core/keeping.ts'
import type { Draft, Kind } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import type { Connection } from './connection.ts'
import * as statements from './statements.ts'

/**
 * The place a draft gets in its list; what stands there or behind moves back by
 * one. `ends` keeps, for one batch, where each list ends by now.
 */
export function makeRoom(
  connection: Connection,
  kind: Kind,
  place: string,
  draft: Draft,
  ends: Map<string, number>,
): number {
  const names = listOf(kind, draft.fields)
  const key = JSON.stringify(names)
  let end = ends.get(key)
  if (end === undefined) {
    const [row] = connection.all(statements.lastPlace(kind, place), names)
    end = row?.['last'] === null || row === undefined ? 0 : Number(row['last']) + 1
  }
  ends.set(key, end + 1)
  const at = Math.min(draft.at ?? end, end)
  if (at < end) connection.run(statements.moveBack(kind, place), [...names, at])
  return at
}

/** One more than the highest number ever given in a list; it is given with this. */
export function nextNumber(connection: Connection, kind: Kind, fields: Fields): number {
  const [row] = connection.lists(
    `INSERT INTO numbers (kind, list, last) VALUES (?, ?, 1)
      ON CONFLICT (kind, list) DO UPDATE SET last = last + 1 RETURNING last`,
    [kind.name, listKey(kind, fields)],
  )
  return Number(row![0])
}

/** Sees to it that the number an item came with is not given again. */
export function keepNumber(
  connection: Connection,
  kind: Kind,
  fields: Fields,
  number: number = numberOf(kind, fields),
): void {
  if (number === 0) return
  connection.run(
    `INSERT INTO numbers (kind, list, last) VALUES (?, ?, ?)
      ON CONFLICT (kind, list) DO UPDATE SET last = max(last, excluded.last)`,
    [kind.name, listKey(kind, fields), number],
  )
}
