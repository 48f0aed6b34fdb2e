import { alreadyThere, repeated } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import type { Kept } from '../../core/store.ts'
import { appear, type Built, build } from './building.ts'
import { type Desk, isActive, isWaiting } from './desk.ts'
import { newLease } from './lease.ts'
import { formOf } from './reading.ts'
import { justWritten } from './seen.ts'
import { hasFlagLike, touchFlag } from './writing.ts'

/** Adds items as another store kept them. */
export function load(desk: Desk, kind: Kind, items: readonly Kept[]): void {
  const { ledger } = desk
  const ids = items.map(({ id }) => id)
  const taken = ids.filter(id => desk.records.isReserved(id))
  if (taken.length > 0 || repeated(ids).length > 0) throw alreadyThere(kind, [...taken, ...repeated(ids)])
  const built = items.map(kept => {
    desk.records.reserve(kept.id)
    const { id, fields, texts, token } = kept
    const own = build(desk, kind, { id, fields, status: String(fields['status']) }, texts)
    setFlags(kind, own, kept)
    keepToken(desk, kind, id, fields, token)
    return own
  })
  appear(desk, built)
  ledger.together(() => {
    ledger.load(kind, items)
    ledger.remember(
      kind,
      built.map(one => justWritten(desk.root, kind, one)),
    )
  })
}

/** The flags that tell what happened to an item, where those it came with do not. */
function setFlags(kind: Kind, { path, id, status }: Built, { texts, history }: Kept): void {
  const passed = history.filter(({ to }, index) => to === status || isActive(kind, to) || index === history.length - 1)
  for (const { to, at } of passed.slice(-2)) {
    const flag = isWaiting(kind, status) ? undefined : formOf(kind).flag(id, to, at)
    if (flag !== undefined && !hasFlagLike(Object.keys(texts), flag)) touchFlag(path, flag)
  }
}

/** Claims go on being counted from where they were. */
function keepToken(desk: Desk, kind: Kind, id: string, fields: Fields, token: number): void {
  const status = String(fields['status'])
  const owner = fields['owner'] as string | null | undefined
  const lease = newLease(owner ?? '', new Date().toISOString(), undefined)
  if (isWaiting(kind, status)) {
    if (token > 1) desk.records.write(id, { what: status, token: token - 1 }, lease)
  } else if (token > 0) {
    const held = isActive(kind, status) && (owner ?? null) !== null
    desk.records.write(id, { what: held ? 'lease' : status, token }, lease)
  }
}
