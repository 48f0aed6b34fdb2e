import type { Note } from '../../core/event.ts'
import type { Item, Kind } from '../../core/kind.ts'
import { type Fields, openStatuses, standing } from '../../core/lifecycle.ts'
import { same } from '../../core/move.ts'
import type { Recovered } from '../../core/store.ts'
import { type Desk, isActive, isWaiting } from './desk.ts'
import { isLapsed } from './lease.ts'
import { leave } from './leaving.ts'
import { entriesIn, formOf, nameOf, reader } from './reading.ts'
import { rescue, tolerating } from './rescuing.ts'
import { removeFlags } from './writing.ts'

/** Something that does not lie where it belongs, and how it is put right. */
interface Fault extends Recovered {
  readonly mend: () => unknown
}

/** Puts right what can be put right, and says what it did; done again, it finds nothing more. */
export function recover(desk: Desk, kind: Kind, note: Note, id?: string): Recovered[] {
  const done = rescue(desk, kind, id)
  for (const { mend, ...fault } of faults(desk, kind, note, id)) {
    if (tolerating(() => (mend(), true))) done.push(fault)
  }
  return done
}

/** What a look finds wrong that processes still alive have not begun to put right. */
export function faults(desk: Desk, kind: Kind, note: Note, id?: string): Fault[] {
  const where = id === undefined ? {} : { id }
  const items = desk.ledger.find(kind, { where, status: openStatuses(kind.lifecycle) })
  return items.flatMap(item => [...misplaced(desk, kind, item, note), ...startedTwice(desk, kind, item)])
}

function misplaced(desk: Desk, kind: Kind, item: Item, note: Note): Fault[] {
  const { id, status: from } = item
  const form = formOf(kind)
  const path = desk.root.status(from, nameOf(kind, item))
  const entries = entriesIn(path)
  if (!entries) return []
  const held = isActive(kind, from) ? desk.records.current(id) : undefined
  const lapsed = held !== undefined && isLapsed(held.lease)
  const verdict = form.verdict(id, from, entries, reader(path), held !== undefined && !lapsed)
  const end = (to: string, why: string, only: boolean): Fault => ({
    id,
    from,
    to,
    what: why,
    mend: () => {
      const read = reader(path)
      const { fields: said } = form.evidence(id, entries, read)
      const told = isWaiting(kind, to) ? {} : desk.sealedTexts.believed(kind, id, said, read)
      const before: Fields = { ...item }
      const after = Object.entries(standing(kind.lifecycle, before, to, told, note.at))
      const fields = Object.fromEntries(after.filter(([field, value]) => !same(before[field], value)))
      leave(desk, kind, item, { id, from, fields, lapsed: only, token: held?.token }, { ...note, why })
    },
  })
  if (!isActive(kind, from)) return []
  // Its claimant has the last word about that.
  if (verdict && held?.lease.guarded && !lapsed && kind.waits?.until.includes(verdict.to)) return []
  if (verdict) return [end(verdict.to, verdict.why, false)]
  if (!lapsed) return []
  const back = Object.keys(kind.lifecycle.statuses).find(
    to => isWaiting(kind, to) && kind.lifecycle.statuses[from]!.to.includes(to),
  )
  return back === undefined ? [] : [end(back, `the lease of ${held.lease.owner} has run out`, true)]
}

/** Two flags of one meaning tell of two claims: the newest counts. */
function startedTwice(desk: Desk, kind: Kind, { id, status, ...item }: Item): Fault[] {
  const form = formOf(kind)
  if (!isActive(kind, status)) return []
  const path = desk.root.status(status, form.name({ ...item, id }))
  const { claims } = form.evidence(id, entriesIn(path) ?? [], reader(path))
  const older = claims.toSorted().slice(0, -1)
  if (older.length === 0) return []
  const what = `it was started more than once: ${older.join(', ')} taken away, the newest counts`
  return [{ id, from: status, to: status, what, mend: () => removeFlags(path, older) }]
}
