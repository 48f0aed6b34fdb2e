import { join } from 'node:path'
import { sinceBoot } from '../../core/clock.ts'
import type { Note } from '../../core/event.ts'
import type { Item, Kind } from '../../core/kind.ts'
import { openStatuses } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type { Claim, Query } from '../../core/store.ts'
import { isAboutOne } from './damage.ts'
import type { Desk } from './desk.ts'
import type { Held } from './hands.ts'
import { newLease } from './lease.ts'
import { Line } from './line.ts'
import type { Looker } from './look.ts'
import { entriesIn, fileOf, formOf, nameOf, reader, readText } from './reading.ts'
import { removeFlags, touchFlag } from './writing.ts'

/** Claims that follow each other closer than this are told of together: each by itself would wait for the ledger's lock. */
const CLOSE_MS = 100
/** But no later than this, and no more of them. */
const TOLD_WITHIN_MS = 50
const TOLD_AT_ONCE = 64

/** A claim that was made. */
interface Made {
  readonly item: Item
  readonly token: number
  readonly claim: Claim
  readonly note: Note
}

/**
 * Gives items to exactly one caller each. The ledger says which comes first;
 * the renaming of its directory decides whose it is. The ledger is told last:
 * whoever is killed before has claimed nothing that the next look does not give
 * back or take in.
 */
export class Claims {
  private readonly desk: Desk
  private readonly looker: Looker
  private readonly line: Line
  private readonly untold: Made[] = []
  private last = -Infinity
  private first = 0
  private timer: NodeJS.Timeout | undefined

  constructor(desk: Desk, looker: Looker) {
    this.desk = desk
    this.looker = looker
    this.line = new Line(desk)
  }

  take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): T | undefined {
    const { desk, looker, line } = this
    const { where = {}, status = openStatuses(kind.lifecycle) } = query
    looker.lookNowAndThen(kind, status)
    for (;;) {
      for (const id of line.of(kind, query)) {
        line.pass(id)
        if (looker.isElsewhere(kind, id, status)) continue
        // Somebody may have edited it where it lies.
        if (!this.isBusy()) looker.lookBeforeClaim(kind, id)
        const [item] = desk.ledger.find(kind, { where: { ...where, id }, status })
        const taken = item && this.claimOne(kind, item, claim, note, where['id'] !== undefined)
        if (taken) return taken
      }
      // Nothing is left, as far as is known: what others have done meanwhile is taken in before that is said.
      this.settle(kind)
      if (!looker.look(kind)) return undefined
    }
  }

  /** Tells of every claim that was made. Whoever wants to know how anything stands does this first. */
  settle(kind: Kind): void {
    this.line.forget()
    if (this.untold.length === 0) return
    clearTimeout(this.timer)
    this.timer = undefined
    const made = this.untold.splice(0)
    try {
      this.desk.ledger.together(() => {
        for (const one of made) follow(this.desk, kind, one)
      }, true)
    } catch (error) {
      // They are made, and were answered: the next look at the directories tells of them.
      if (!(error instanceof Problem)) throw error
    }
  }

  /** When nobody asks for it, nobody is there to be told what went wrong either. */
  private settleAnyway(kind: Kind): void {
    try {
      this.settle(kind)
    } catch {
      // The ledger was closed meanwhile, say: the next look at the directories tells of them.
    }
  }

  private claimOne<T extends Item>(kind: Kind<T>, item: T, claim: Claim, note: Note, named: boolean): T | undefined {
    const { desk } = this
    const to = String(claim.fields['status'])
    const held = this.takeUp(kind, item, named)
    if (!held) return undefined
    const lease = newLease(claim.owner, note.at, claim.leaseMs, claim.guarded)
    let token: number | undefined
    try {
      token = desk.records.begin(item.id, item.token + 1, lease, item.status)
      const flag = formOf(kind).flag(item.id, to, note.at)
      if (flag !== undefined) touchFlag(held.path, flag)
      const text = readText(join(held.path, fileOf(kind, held.name, formOf(kind).definition)))
      if (typeof text === 'string') desk.records.keepDefinition(item.id, text)
      desk.hands.put(held, to)
    } catch (error) {
      undo(desk, kind, held, item, token)
      // What is in the way of one is none of the others' concern.
      if (!named && [item.status, to].every(status => isAboutOne(error, desk.root, status))) return undefined
      throw error
    }
    const made = { item, token, claim, note }
    const busy = this.isBusy()
    this.last = sinceBoot()
    if (busy) return this.later(kind, made)
    const told = () => desk.ledger.together(() => follow(desk, kind, made), true) as T | undefined
    const path = desk.root.status(to, held.name)
    return desk.warnings.unlessHindered(path, 'claimed; the index does not say so yet', told, () => standing(made) as T)
  }

  private takeUp<T extends Item>(kind: Kind<T>, item: T, named: boolean): Held | undefined {
    try {
      return this.desk.hands.take(item.status, nameOf(kind, item))
    } catch (error) {
      if (!named && isAboutOne(error, this.desk.root, item.status)) return undefined
      throw error
    }
  }

  private isBusy(): boolean {
    return sinceBoot() - this.last < CLOSE_MS
  }

  /** How the item stands now, which is told when there are more of them, or nothing else is done for a moment. */
  private later<T extends Item>(kind: Kind<T>, made: Made): T {
    if (this.untold.push(made) === 1) this.first = this.last
    this.timer ??= setTimeout(() => this.settleAnyway(kind), TOLD_WITHIN_MS)
    if (this.untold.length >= TOLD_AT_ONCE || this.last - this.first > TOLD_WITHIN_MS) this.settle(kind)
    return standing(made) as T
  }
}

/** How an item stands that was claimed, as far as its claimant has to know. */
function standing({ item, token, claim }: Made): Item {
  const { owner, leaseMs, fields } = claim
  const leaseUntil = leaseMs === undefined ? null : new Date(Date.now() + leaseMs).toISOString()
  return { ...item, ...fields, owner, token, leaseUntil, revision: item.revision + 1 }
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
function follow(desk: Desk, kind: Kind, { item, token, claim, note }: Made): Item | undefined {
  const { ledger } = desk
  const { id, status } = item
  const { owner, leaseMs } = claim
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
}
