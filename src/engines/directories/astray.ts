import type { Item, Kind } from '../../core/kind.ts'
import { type Desk, isActive } from './desk.ts'
import { entriesIn, formOf, nameOf, reader } from './reading.ts'
import { statsAt, syncFolder } from './root.ts'
import { removeFlags } from './writing.ts'

/** The status in whose folder an item's directory lies: another than its own where a program has called a guarded item done. */
export function lyingIn({ root }: Pick<Desk, 'root'>, kind: Kind, item: Item): string {
  const name = nameOf(kind, item)
  if (!isActive(kind, item.status) || statsAt(root.status(item.status, name))) return item.status
  return kind.waits?.until.find(status => statsAt(root.status(status, name))) ?? item.status
}

/** Brings an item back that was called done and is not, and takes away what said so. Whose claim is not guarded is left alone. */
export function bringBack(desk: Desk, kind: Kind, item: Item): void {
  const { hands, records, root } = desk
  const { id, status } = item
  if (!isActive(kind, status) || !records.current(id)?.lease.guarded) return
  const name = nameOf(kind, item)
  const from = lyingIn(desk, kind, item)
  const path = root.status(status, name)
  if (from !== status) {
    const held = hands.take(from, name)
    if (held) hands.put(held, status)
    syncFolder(root.status(status))
    syncFolder(root.status(from))
  }
  removeFlags(path, formOf(kind).evidence(id, entriesIn(path) ?? [], reader(path)).ends)
}
