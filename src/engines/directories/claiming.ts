import type { Note } from '../../core/event.ts'
import type { Item, Kind } from '../../core/kind.ts'
import { openStatuses } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type { Claim, Query } from '../../core/store.ts'
import type { Desk } from './desk.ts'
import type { Held } from './hands.ts'
import { newLease } from './lease.ts'
import type { Looker } from './look.ts'
import { entriesIn, formOf, nameOf, reader } from './reading.ts'
import { removeFlags, touchFlag } from './writing.ts'

/** So many are looked up at first: others are claiming at the same time, and what they have in their hands is passed by. */
const FIRST = 20

/**
 * Gives the first match to exactly one caller. The ledger says which comes
 * first; the renaming of its directory decides whose it is. The ledger is told
 * last: whoever is killed before has claimed nothing that the next look does not
 * give back or take in.
 */
export function take<T extends Item>(
  desk: Desk,
  looker: Looker,
  kind: Kind<T>,
  query: Query,
  claim: Claim,
  note: Note,
): T | undefined {
  // Nothing but what the index of claims holds: the rows themselves lie all over the database.
  const fields: string[] = []
  looker.lookNowAndThen(kind, query.status ?? openStatuses(kind.lifecycle))
  for (;;) {
    const missed = new Set<string>()
    for (let limit = FIRST; ; limit *= 4) {
      const candidates = desk.ledger.first(kind, { ...query, limit, fields })
      for (const { id } of candidates) {
        if (missed.has(id)) continue
        missed.add(id)
        if (looker.isElsewhere(kind, id, query.status ?? [])) continue
        const [item] = desk.ledger.find(kind, { where: { id }, status: query.status ?? [] })
        const taken = item && claimOne(desk, kind, item, claim, note, query)
        if (taken) return taken
      }
      if (candidates.length < limit) break
    }
    // Nothing is left, as far as is known: what others have done meanwhile is taken in before that is said.
    if (!looker.look(kind)) return undefined
  }
}

function claimOne<T extends Item>(
  desk: Desk,
  kind: Kind<T>,
  item: T,
  claim: Claim,
  note: Note,
  { where = {} }: Query,
): T | undefined {
  const form = formOf(kind)
  const to = String(claim.fields['status'])
  const held = desk.hands.take(item.status, nameOf(kind, item))
  if (!held) return undefined
  let token: number | undefined
  try {
    token = desk.records.begin(item.id, item.token + 1, newLease(claim.owner, note.at, claim.leaseMs), item.status)
    const flag = form.flag(item.id, to, note.at)
    if (flag !== undefined) touchFlag(held.path, flag)
    desk.hands.put(held, to)
  } catch (error) {
    undo(desk, kind, held, item, token)
    // What is in the way of one is none of the others' concern.
    if (error instanceof Problem && error.code === 'move_refused' && where['id'] === undefined) return undefined
    throw error
  }
  try {
    return follow(desk, kind, item, token, claim, note)
  } catch (error) {
    const again = desk.hands.take(to, held.name)
    if (again) undo(desk, kind, { ...again, origin: item.status }, item, token)
    throw error
  }
}

/** Nobody was told of the claim: it did not happen. */
function undo(desk: Desk, kind: Kind, held: Held, { id }: Item, token: number | undefined): void {
  try {
    const entries = entriesIn(held.path) ?? []
    removeFlags(held.path, formOf(kind).evidence(id, entries, reader(held.path)).claims)
    if (token !== undefined) desk.records.undo(id, token)
  } finally {
    desk.hands.putBack(held)
  }
}

/** Tells of it, unless somebody who looked was faster. */
function follow<T extends Item>(
  desk: Desk,
  kind: Kind<T>,
  item: T,
  token: number,
  claim: Claim,
  note: Note,
): T | undefined {
  const { ledger } = desk
  const { id, status } = item
  const { owner, leaseMs } = claim
  return ledger.together(() => {
    if (token === item.token + 1) {
      const taken = ledger.take(kind, { where: { id, token: item.token }, status: [status], limit: 1 }, claim, note)
      if (taken) return taken
    }
    const [row] = ledger.find(kind, { where: { id } })
    if (!row || row.token > token) return undefined
    if (row.token === token) return row
    const saved = ledger.save(
      kind,
      { id, from: status, fields: { ...claim.fields, owner, token, leaseUntil: null } },
      note,
    )
    return leaseMs === undefined ? saved : ledger.renew(kind, id, token, leaseMs)
  }, true)
}
