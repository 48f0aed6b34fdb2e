import { existsSync, readdirSync } from 'node:fs'
import { sinceBoot } from '../../core/clock.ts'
import type { Note } from '../../core/event.ts'
import { activeStatuses } from '../../core/keeping.ts'
import type { Item, Kind } from '../../core/kind.ts'
import type { Discovery } from '../../core/ledger.ts'
import { type Fields, openStatuses } from '../../core/lifecycle.ts'
import { same } from '../../core/move.ts'
import { Problem } from '../../core/problem.ts'
import { isAboutOne } from './damage.ts'
import { type Desk, isActive, isWaiting } from './desk.ts'
import { isLapsed, type Lease, msLeft, newLease } from './lease.ts'
import { linkFromParent } from './leaving.ts'
import { guarded } from './problems.ts'
import { type Found, formOf, nameOf, namingFields, readByKept, readDirectory, reader } from './reading.ts'
import { tokenOf } from './records.ts'
import { rescue, tolerating } from './rescuing.ts'
import { statsAt } from './root.ts'
import { doubtful, isChanged, rememberRemark, seenDirectory, seenFolder, TASKS } from './seen.ts'

/** Whoever claims one item after another looks so often; others who look meanwhile look for them too. */
const NOW_AND_THEN_MS = 250
/** And spends no more than this part of the time on it, however long the folder is. */
const SHARE = 1 / 25

/** A look that takes no longer is taken before each completion. */
const QUICK_MS = 3

/** Of more than these that wait, not each is looked at: whoever names one, or claims it, looks at that one. */
const FEW = 2000

/** Keeps the ledger up with the directories, which people and scripts move too. */
export class Looker {
  private readonly desk: Desk
  private readonly asData: boolean
  private looked = -Infinity
  private took = 0
  /** The names of directories, by id, as far as they were ever needed: they do not change. */
  private readonly names = new Map<string, string>()
  private readonly arrived = new Set<string>()

  /** `asData`: nothing is put right on the way. */
  constructor(desk: Desk, asData = false) {
    this.desk = desk
    this.asData = asData
  }

  /** Looks at the folders that are claimed from, unless somebody has just looked. */
  lookNowAndThen(kind: Kind, statuses: readonly string[]): void {
    const pause = Math.max(NOW_AND_THEN_MS, this.took / SHARE)
    if (sinceBoot() - this.looked < pause) return
    this.looked = sinceBoot()
    const latest = statuses.map(status => this.desk.ledger.file(status, '.')?.written ?? 0)
    if (Math.abs(Date.now() - Math.min(...latest)) < pause) return
    this.look(kind, statuses)
    this.took = sinceBoot() - this.looked
  }

  /**
   * Looks at the folders of what is open, or at those of some statuses: they
   * are listed only if they changed. `closely`: also whether what waits there was
   * edited where it lies. Says whether anything had to be taken in.
   */
  look(kind: Kind, statuses: readonly string[] = openStatuses(kind.lifecycle), closely = false): boolean {
    this.looked = sinceBoot()
    if (!this.desk.root.isThere) return this.refuseIfLost(kind)
    // Whatever somebody left half done is finished first: then everything lies where it belongs.
    let changed = !this.asData && rescue(this.desk, kind).length > 0
    const unknown = new Set<string>()
    for (const status of statuses) changed = this.lookAt(kind, status, unknown, closely) || changed
    const others = unknown.size === 0 ? [] : this.desk.root.statuses.filter(status => !statuses.includes(status))
    for (const status of others) changed = this.lookAt(kind, status, new Set()) || changed
    this.linkArrived(kind)
    return changed
  }

  /**
   * Looks for parts that other programs have added, before an item ends: everything where a look is short, and as rarely
   * as claims do where it is not.
   */
  lookForParts(kind: Kind): void {
    const open = openStatuses(kind.lifecycle)
    if (this.took > QUICK_MS) return this.lookNowAndThen(kind, open)
    const began = sinceBoot()
    this.look(kind, open)
    this.took = sinceBoot() - began
  }

  /** Looks at one item's directory. */
  lookOnce(kind: Kind, id: string): void {
    const [row] = this.desk.root.isThere ? this.desk.ledger.find(kind, { where: { id } }) : []
    const name = row && nameOf(kind, row)
    const changed = row && isChanged(this.desk, kind, name!, row.status)
    if (!row || changed === undefined) return void this.look(kind, this.desk.root.statuses)
    // Decided by a process that was hindered, or killed, before it moved the directory.
    if (this.isLeaving(kind, row.status, id) && !this.asData && rescue(this.desk, kind, id).length > 0)
      return void this.look(kind, this.desk.root.statuses)
    if (changed || (isActive(kind, row.status) && !this.isHeldAsKnown(row)))
      this.desk.ledger.together(() => this.refresh(kind, row.status, name!), true)
    this.linkArrived(kind)
  }

  /** The same for one that is about to be claimed: where it is gone, nothing else is looked at for its sake. */
  lookBeforeClaim(kind: Kind, id: string): void {
    const [row] = this.desk.ledger.find(kind, { where: { id } })
    const name = row && nameOf(kind, row)
    if (!row || !isChanged(this.desk, kind, name!, row.status)) return
    this.desk.ledger.together(() => this.refresh(kind, row.status, name!), true)
  }

  /** Whether an item's directory is in none of these folders any more, as far as that can be told without asking for the item. */
  isElsewhere(kind: Kind, id: string, statuses: readonly string[]): boolean {
    let name = this.names.get(id)
    if (name === undefined) {
      const [row] = this.desk.ledger.find(kind, { where: { id }, fields: namingFields(kind) })
      if (!row) return true
      if (this.names.size > 100_000) this.names.clear()
      this.names.set(id, (name = nameOf(kind, row)))
    }
    return !statuses.some(status => existsSync(this.desk.root.status(status, name)))
  }

  private isHeldAsKnown({ id, token, owner }: Item): boolean {
    return owner === null
      ? this.desk.records.current(id) === undefined
      : this.desk.records.has(id, { what: 'lease', token })
  }

  /** Says nothing of items where the folder of them all has gone: that is no reason to forget them. */
  private refuseIfLost(kind: Kind): false {
    if (this.desk.ledger.find(kind, { limit: 1, fields: ['status'] }).length === 0) return false
    throw new Problem(
      'unreadable_file',
      `${this.desk.root.top} is gone, and there were tasks in it`,
      'Bring the folder back, or correct paths.queue in punchlist.json; nothing was forgotten.',
      { file: this.desk.root.top },
    )
  }

  private lookAt(kind: Kind, status: string, unknown: Set<string>, closely = false): boolean {
    const { root, ledger } = this.desk
    const stats = root.folder(status)
    const seen = ledger.file(status, '.')
    const each = isActive(kind, status) || (closely && isWaiting(kind, status))
    if (stats && seen?.changed === stats.mtimeMs && seen.node === stats.ino && !each) return false
    const all = stats ? guarded(root.status(status), () => readdirSync(root.status(status))) : []
    const names = all.filter(name => !name.startsWith('.'))
    const known = this.known(kind, status)
    const appeared = names.filter(name => !known.has(name))
    const there = new Set(names)
    const vanished = [...known].filter(([name]) => !there.has(name))
    const few = isActive(kind, status) || names.length <= FEW
    // Undefined where something else than a directory has its name.
    const isTouched = (name: string) => known.has(name) && isChanged(this.desk, kind, name, status) !== false
    const touched = each && few ? names.filter(isTouched) : []
    const bad = ledger.complaints(status).filter(({ name }) => !there.has(name) && !known.has(name))
    const folder = stats && seenFolder(status, stats)
    const stale = folder && (seen?.changed !== folder.changed || seen.node !== folder.node)
    if (![appeared, vanished, touched, bad].some(list => list.length > 0) && !stale) return false
    return ledger.together(() => {
      let changed = false
      // Whoever held the lock until now may have seen the same, or have moved something.
      const now = appeared.length + vanished.length > 0 ? this.known(kind, status) : known
      for (const { name } of bad) ledger.forget(status, name)
      for (const [name, id] of vanished) changed = (now.has(name) && this.find(kind, status, name, id)) || changed
      const fresh = appeared.filter(name => !now.has(name))
      changed = this.takeIn(kind, status, fresh, unknown) || fresh.length < appeared.length || changed
      for (const name of touched) changed = this.refresh(kind, status, name) || changed
      if (folder) ledger.remember(kind, [folder])
      return changed
    }, true)
  }

  /** The names of the directories that are known to lie in a folder, with their items. */
  private known(kind: Kind, status: string): Map<string, string> {
    const rows = this.desk.ledger.find(kind, { status: [status], fields: namingFields(kind) })
    const named = new Map(rows.map(row => [nameOf(kind, row), row.id]))
    if (isWaiting(kind, status)) for (const [name, id] of named) this.names.set(id, name)
    return named
  }

  /** Looks where a directory is that was here: whoever moved it did not ask us. */
  private find(kind: Kind, status: string, name: string, id: string): boolean {
    const { root, ledger, hands } = this.desk
    // Twice, as it may be on its way from one folder to another that was looked at before.
    for (let attempt = 1; attempt <= 3; attempt++) {
      for (const other of [status, ...root.statuses]) {
        if (!statsAt(root.status(other, name))) continue
        return other !== status && this.refresh(kind, other, name)
      }
      if (hands.all().some(hand => hand.name === name)) return false
    }
    const [row] = ledger.find(kind, { where: { id } })
    if (row && this.isKept(kind, row)) {
      this.complain(kind, status, name, { line: 1, message: 'is gone' }, id)
      return false
    }
    if (row) ledger.drop(kind, row, { by: 'someone', at: new Date().toISOString(), why: 'its directory is gone' })
    ledger.forget(TASKS, name)
    return true
  }

  private takeIn(kind: Kind, status: string, names: readonly string[], unknown: Set<string>): boolean {
    const { ledger } = this.desk
    const fresh: Discovery[] = []
    let changed = false
    for (const name of names) {
      const named = formOf(kind).named(name)
      const [row] = 'id' in named ? ledger.find(kind, { where: { id: named.id } }) : []
      const twin = row && this.twinOf(kind, row, status, name)
      if (twin !== undefined) this.complain(kind, status, name, { line: 1, message: `is the same task as ${twin}` })
      else if (row) changed = this.refresh(kind, status, name) || changed
      else
        this.eachByItself(kind, status, name, null, () => {
          const found = this.read(kind, status, name)
          if (found) fresh.push(this.discovery(kind, status, found))
        })
    }
    const seen = new Set<string>()
    const once = fresh.filter(({ id, file }) => {
      const twice = seen.size === seen.add(id).size
      if (twice) this.complain(kind, status, file.name, { line: 1, message: `has the same id as another: ${id}` })
      return !twice
    })
    if (once.length > 0) ledger.discover(kind, once)
    for (const { id, fields } of once) this.noteUnknown(kind, id, fields, unknown)
    for (const { id } of once) this.noteArrived(kind, id, status)
    return changed || once.length > 0
  }

  /** What an item waits for may lie among what is finished, which is not looked at otherwise. */
  private noteUnknown(kind: Kind, id: string, fields: Fields, unknown: Set<string>): void {
    const { waits } = kind
    const on = waits ? [fields[waits.on] ?? [], fields[waits.parent] || []].flat() : []
    for (const needed of on as string[]) {
      if (needed !== id && this.desk.ledger.find(kind, { where: { id: needed }, fields: ['status'] }).length === 0)
        unknown.add(needed)
    }
  }

  /** Another directory of the same item, which is still there. */
  private twinOf(kind: Kind, row: Item, status: string, name: string): string | undefined {
    const own = nameOf(kind, row)
    if (row.status === status && own === name) return undefined
    return statsAt(this.desk.root.status(row.status, own)) && `${row.status}/${own}`
  }

  /** Brings an item up to what its directory says, which lies in the folder of this status. */
  private refresh(kind: Kind, status: string, name: string): boolean {
    const item = this.desk.ledger.file(TASKS, name)?.item ?? null
    return this.eachByItself(kind, status, name, item, () => this.refreshOne(kind, status, name)) ?? false
  }

  /** What is wrong with the files of one item is told of that one, and keeps nobody from the others. */
  private eachByItself<T>(kind: Kind, status: string, name: string, item: string | null, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!isAboutOne(error, this.desk.root, status)) throw error
      this.complain(kind, status, name, { line: 1, message: `cannot be read: ${error.message}` }, item)
      return undefined
    }
  }

  private refreshOne(kind: Kind, status: string, name: string): boolean {
    const { ledger } = this.desk
    const found = this.read(kind, status, name)
    const [row] = found ? ledger.find(kind, { where: { id: found.id } }) : []
    if (!found || !row) return false
    if (row.status === status && this.isRobbed(kind, row) && !this.restoreLease(row)) return false
    if (isWaiting(kind, status)) this.endLease(status, found)
    const { lease, fields } = this.standing(kind, status, found)
    // Asked last: a claim that ends while it is read is neither held nor given back.
    if (this.isLeaving(kind, status, found.id)) return false
    const changed = Object.entries(fields).filter(([field, value]) => !isSame(({ ...row } as Fields)[field], value))
    ledger.remember(kind, [seenDirectory(name, found.id, doubtful(found.stats.mtimeMs), found.written)])
    const left = lease && msLeft(lease)
    if (changed.length === 0) return false
    const after = { ...Object.fromEntries(changed), leaseUntil: null }
    const saved = ledger.save(
      kind,
      { id: row.id, from: row.status, fields: after },
      this.noteOf(kind, row, status, found, lease?.owner, lease?.at),
    )
    if (left !== undefined && isActive(kind, fields.status)) ledger.renew(kind, row.id, saved.token, left)
    if (row.status !== fields.status) this.noteArrived(kind, row.id, fields.status)
    return true
  }

  /**
   * Ends the claim of an item that another program has moved back to those that wait: its token must not be good again
   * once a script has claimed the item. Our own moves end the lease before they move the directory.
   */
  private endLease(status: string, { id, name }: Found): void {
    const { records, root } = this.desk
    const current = this.asData ? undefined : records.current(id)
    // Who cancels what waits takes a lease that has expired for the moment.
    if (!current || isLapsed(current.lease) || !statsAt(root.status(status, name))) return
    records.end(id, current.token, status)
  }

  /** A part that another program has completed: its parent gets the link to it once this look is over. */
  private noteArrived({ waits }: Kind, id: string, status: string): void {
    if (!this.asData && waits?.until.includes(status)) this.arrived.add(id)
  }

  private linkArrived(kind: Kind): void {
    for (const id of this.arrived) {
      const [item] = this.desk.ledger.find(kind, { where: { id } })
      if (item) tolerating(() => linkFromParent(this.desk, kind, item, nameOf(kind, item)))
    }
    this.arrived.clear()
  }

  /** Whether the records of a claim were removed: a folder of them is otherwise never. */
  private isRobbed(kind: Kind, { id, status, owner, token }: Item): boolean {
    return isActive(kind, status) && owner !== null && token > 0 && !this.desk.records.isReserved(id)
  }

  /** Writes a claim down again as it was last seen; of all processes that do, one makes the folder of its records. */
  private restoreLease({ id, owner, token, leaseUntil }: Item): boolean {
    const { records, root } = this.desk
    // Whoever only reads makes no folder.
    if (this.asData || !root.isMade) return false
    root.make()
    const leaseMs = leaseUntil === null ? undefined : Date.parse(leaseUntil) - Date.now()
    const lease = newLease(owner!, new Date().toISOString(), leaseMs)
    return records.reserve(id) && records.write(id, { what: 'lease', token }, lease)
  }

  /** Whether its claimant's report was decided and is being carried out: whoever does that tells of it. */
  private isLeaving(kind: Kind, status: string, id: string): boolean {
    const last = isActive(kind, status) ? this.desk.records.of(id).at(-1) : undefined
    if (!last || last.what === 'lease') return false
    try {
      return this.desk.reports.read({ id, token: last.token, to: last.what }) !== undefined
    } catch (error) {
      // One that cannot be read is there all the same; `rescue` names it.
      if (!(error instanceof Problem)) throw error
      return true
    }
  }

  /** How an item stands: by where its directory lies, what is in it, and what we know of its claims. */
  private standing(kind: Kind, status: string, { id, name, fields }: Found) {
    const marks = this.desk.records.of(id)
    const last = marks.at(-1)
    const waiting = (what: string) => isWaiting(kind, what === 'lease' && !isActive(kind, status) ? status : what)
    const lease = last && !isWaiting(kind, status) ? this.desk.records.receipt(id, last)?.lease : undefined
    // What was given back says nothing of who ended it after that.
    const isHeld = last && (isActive(kind, status) ? last.what === 'lease' : !isWaiting(kind, last.what))
    const held = isHeld ? lease : undefined
    const owner = held?.owner ?? null
    const stands = (last?.what === 'lease' && guardedStatus(kind, status, lease)) || status
    const told = this.desk.sealedTexts.believed(kind, id, fields, reader(this.desk.root.status(status, name)))
    return { lease: held, fields: { ...told, status: stands, owner, token: tokenOf(marks, waiting) } }
  }

  private discovery(kind: Kind, status: string, found: Found): Discovery {
    const { id, name, stats, written } = found
    const { waits } = kind
    const counted = waits ? { [waits.blockers]: 0, [waits.children]: 0 } : {}
    const { fields, lease } = this.standing(kind, status, found)
    const added = this.desk.records.added(id)
    const seen = new Date().toISOString()
    const note = added ?? {
      by: 'someone',
      at: new Date(stats.ctimeMs).toISOString(),
      why: `found in ${status}, seen ${seen}`,
    }
    return {
      id,
      fields: { ...fields, ...counted, identity: added?.identity ?? null },
      file: seenDirectory(name, id, doubtful(stats.mtimeMs), written),
      note,
      leaseMs: isActive(kind, fields.status) && lease ? msLeft(lease) : undefined,
    }
  }

  /** Who did it, as far as that can be told. */
  private noteOf(kind: Kind, row: Item, status: string, { stats }: Found, owner?: string, claimedAt?: string): Note {
    const seen = new Date().toISOString()
    const at = new Date(stats.ctimeMs).toISOString()
    if (status === row.status) return { by: 'someone', at: seen, why: 'changed on disk' }
    const last = this.desk.records.of(row.id).at(-1)
    const report = last && this.desk.reports.read({ id: row.id, token: last.token, to: status })
    if (report) return { by: report.by, at: report.at, why: report.why }
    if (isActive(kind, status) && owner !== undefined) return { by: owner, at: claimedAt || at }
    const moved = `moved from ${row.status} to ${status} by another program, seen ${seen}`
    const awaited =
      last?.what === 'lease' && guardedStatus(kind, status, this.desk.records.receipt(row.id, last)?.lease)
    const why = awaited ? `${moved}: claimed, and not judged yet` : moved
    return { by: owner ?? row.owner ?? 'someone', at, why }
  }

  /** What a directory says; where that cannot be told, why not is remembered, and the item is none any longer. */
  private read(kind: Kind, status: string, name: string): Found | undefined {
    const { ledger } = this.desk
    const found = readDirectory(kind, this.desk.root.status(status, name), name)
    if (!found) return undefined
    if (!('message' in found)) {
      ledger.forget(status, name)
      rememberRemark(ledger, kind, found)
      return found
    }
    const named = formOf(kind).named(name)
    const kept = 'id' in named && !isWaiting(kind, status) ? this.desk.records.definition(named.id) : undefined
    const path = this.desk.root.status(status, name)
    const claimed = kept === undefined ? undefined : readByKept(kind, path, name, kept)
    if (claimed) {
      this.complain(kind, status, name, found, claimed.id)
      return claimed
    }
    const item = ledger.file(TASKS, name)?.item
    const [row] = item ? ledger.find(kind, { where: { id: item } }) : []
    if (row && row.status === status && this.isKept(kind, row)) {
      this.complain(kind, status, name, found, row.id)
      return undefined
    }
    this.complain(kind, status, name, found)
    if (row) ledger.drop(kind, row, { by: 'someone', at: new Date().toISOString(), why: found.message })
    ledger.forget(TASKS, name)
    return undefined
  }

  /** Whether an item can be restored that is claimed: its claimant may still report on it. */
  private isKept(kind: Kind, { id, status }: Item): boolean {
    if (!isActive(kind, status) || this.desk.records.definition(id) === undefined) return false
    return this.desk.records.of(id).at(-1)?.what === 'lease' || this.isLeaving(kind, status, id)
  }

  private complain(
    kind: Kind,
    status: string,
    name: string,
    { line, message }: { line: number; message: string },
    item: string | null = null,
  ): void {
    const known = this.desk.ledger.file(status, name)
    if (known?.complaint?.message === message && known.complaint.line === line && known.item === item) return
    const seen = { folder: status, name, item, node: 0, changed: 0, written: Date.now() }
    this.desk.ledger.remember(kind, [{ ...seen, complaint: { line, message } }])
  }
}

/**
 * The status that an item keeps although another program has called it done:
 * its claim is guarded, and its claimant has not judged that yet.
 */
function guardedStatus(kind: Kind, status: string, lease: Lease | undefined): string | undefined {
  if (!lease?.guarded || isLapsed(lease) || !kind.waits?.until.includes(status)) return undefined
  return activeStatuses(kind)[0]
}

/** Whether two values are one; flags tell whole seconds only. */
function isSame(left: unknown, right: unknown): boolean {
  const second = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/
  if (typeof left === 'string' && typeof right === 'string') {
    const [one, other] = [second.exec(left)?.[0], second.exec(right)?.[0]]
    if (one !== undefined && one === other) return true
  }
  return same(left, right)
}
