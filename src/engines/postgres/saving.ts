import type { Item, Kind } from '../../core/kind.ts'
import type { Change } from '../../core/store.ts'
import { changedIn, changing, shapeOf, type Wish } from './changing.ts'
import type { Connection, Row } from './connection.ts'
import type { Statements } from './statements.ts'
import { rewired, rewires } from './waits.ts'

/** What came of changes: the rows of those that were made, and whether that freed anything. */
export interface Saved {
  readonly rows: ReadonlyMap<Change, Row>
  readonly freed: boolean
}

/**
 * Makes changes, each if it can be made, in one transaction: by one statement
 * where they are of one shape, which is all that claimants send.
 */
export async function saving(
  connection: Connection,
  statements: Statements,
  kind: Kind,
  wishes: readonly Wish[],
  mark: string,
): Promise<Saved> {
  const groups = grouped(kind, wishes)
  const rows = new Map<Change, Row>()
  let freed = false
  const keep = (group: readonly Wish[], answer: readonly Row[]) => {
    for (const { row, index, freed: also } of changedIn(answer)) {
      rows.set(group[index]!.change, row)
      freed ||= also
    }
  }
  if (groups.length === 1 && !rewires(kind, wishes[0]!.change.fields)) {
    const { sql, values } = changing(statements, kind, groups[0]!, { mark })
    keep(groups[0]!, await connection.once(sql, values))
    return { rows, freed }
  }
  const opening = kind.waits ? `SELECT ${statements.addingTo(kind, true)}` : ''
  await connection.together(opening, async send => {
    for (const group of groups) {
      const { change, note } = group[0]!
      const { change: counted, needs } = rewires(kind, change.fields)
        ? await rewired(send, statements, kind, change)
        : { change: undefined, needs: undefined }
      const unused = rows.size === 0 ? mark : undefined
      const made = counted ? [{ change: counted, note }] : group
      const { sql, values } = changing(statements, kind, made, { mark: unused, needs })
      keep(group, await send(sql, values))
    }
  })
  return { rows, freed }
}

/** Changes of one shape, no item twice, in the order of ids: so that no two who change many wait for each other. */
function grouped(kind: Kind, wishes: readonly Wish[]): Wish[][] {
  const groups = new Map<string, Wish[]>()
  const times = new Map<string, number>()
  for (const wish of wishes) {
    const { change } = wish
    const time = (times.get(change.id) ?? 0) + 1
    times.set(change.id, time)
    const key = `${time} ${rewires(kind, change.fields) ? change.id : ''} ${shapeOf(kind, change)}`
    const group = groups.get(key)
    if (group) group.push(wish)
    else groups.set(key, [wish])
  }
  return [...groups.values()].map(group => group.toSorted((one, other) => (one.change.id < other.change.id ? -1 : 1)))
}

/** How items stand that were written together, by what was told of them, for when their rows were lost with the connection. */
export function asTold(
  items: readonly Item[],
  told: readonly Row[],
  written: (id: string) => Readonly<Record<string, unknown>>,
): Row[] {
  const present = new Map(items.map(item => [item.id, item]))
  return told.map(({ id, to: status, revision, token }) => {
    const item = present.get(String(id))
    // Others may have changed it since: what this write made of it is answered, as it would have been.
    return item?.revision === revision ? { ...item } : { ...item, ...written(String(id)), id, status, revision, token }
  })
}
