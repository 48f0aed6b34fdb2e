import type { Note } from '../../core/event.ts'
import type { Item, Kind } from '../../core/kind.ts'
import { type Fields, openStatuses, standing } from '../../core/lifecycle.ts'
import { same } from '../../core/move.ts'
import type { Recovered, Recovery } from '../../core/store.ts'
import { repair } from './damage.ts'
import { type Desk, isActive, isWaiting } from './desk.ts'
import { isLapsed } from './lease.ts'
import { endClaim } from './leaving.ts'
import { entriesIn, formOf, nameOf, reader } from './reading.ts'
import { rescue, tolerating } from './rescuing.ts'
import { statsAt } from './root.ts'
import { removeFlags } from './writing.ts'

/** Something that does not lie where it belongs, and how it is put right. */
interface Fault extends Recovered {
  /** False where another process was faster. */
  readonly mend: () => boolean
}

/** Puts right what can be put right, and says what it did itself; done again, it finds nothing more. */
export function recover(desk: Desk, kind: Kind, note: Note, only: Recovery = {}): Recovered[] {
  const done = rescue(desk, kind, only.id)
  for (const { mend, ...fault } of faults(desk, kind, note, only)) {
    if (tolerating(mend)) done.push(fault)
  }
  return done
}

/** What a look finds wrong that processes still alive have not begun to put right. */
export function faults(desk: Desk, kind: Kind, note: Note, { id, graceMs }: Recovery = {}): Fault[] {
  const where = id === undefined ? {} : { id }
  const items = desk.ledger.find(kind, { where, status: openStatuses(kind.lifecycle) })
  const grace = graceMs ?? formOf(kind).graceMs
  return items.flatMap(
    item =>
      tolerating(() => [
        ...damaged(desk, kind, item),
        ...misplaced(desk, kind, item, note, grace),
        ...startedTwice(desk, kind, item),
      ]) ?? [],
  )
}

/** A claimed item that cannot be read any more. */
function damaged(desk: Desk, kind: Kind, item: Item): Fault[] {
  const { id, status } = item
  const name = nameOf(kind, item)
  const seen = isActive(kind, status) ? desk.ledger.file(status, name) : undefined
  if (!seen?.complaint || seen.item !== id || desk.records.current(id) === undefined) return []
  const damage = `its directory ${seen.complaint.message}`
  const what = `${damage}: restored as it was claimed`
  return [{ id, from: status, to: status, what, damage, mend: () => repair(desk, kind, item) !== undefined }]
}

function misplaced(desk: Desk, kind: Kind, item: Item, note: Note, graceMs: number): Fault[] {
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
      const change = { id, from, fields, lapsed: only, token: held?.token }
      return endClaim(desk, kind, item, change, { ...note, why }).isOurs
    },
  })
  if (!isActive(kind, from)) return []
  // Its claimant has the last word about that.
  if (verdict && held?.lease.guarded && !lapsed && kind.waits?.until.includes(verdict.to)) return []
  if (verdict?.isEarly === true && Date.now() - arrivalOf(path) < graceMs) return []
  if (verdict) return [end(verdict.to, verdict.why, false)]
  if (!lapsed) return []
  const back = Object.keys(kind.lifecycle.statuses).find(
    to => isWaiting(kind, to) && kind.lifecycle.statuses[from]!.to.includes(to),
  )
  return back === undefined ? [] : [end(back, `the lease of ${held.lease.owner} has run out`, true)]
}

/**
 * When a directory came to where it lies, or was changed there. A rename sets the
 * time of change of what is renamed on ext4, XFS, Btrfs, tmpfs and overlayfs; the
 * time of modification stays what it was before the move.
 */
function arrivalOf(path: string): number {
  return statsAt(path)?.ctimeMs ?? Infinity
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
  return [{ id, from: status, to: status, what, mend: () => removeFlags(path, older) > 0 }]
}
