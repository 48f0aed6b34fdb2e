import { join } from 'node:path'
import { pause } from '../../core/clock.ts'
import { codeOf } from '../../core/disk.ts'
import type { Note } from '../../core/event.ts'
import { makeLink } from '../../core/file-entries.ts'
import { whyNot } from '../../core/keeping.ts'
import type { Item, Kind } from '../../core/kind.ts'
import { openStatuses } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type { Change } from '../../core/store.ts'
import { rebuild, restoreDefinition } from './damage.ts'
import { type Desk, isWaiting } from './desk.ts'
import type { Held } from './hands.ts'
import { isLapsed, newLease } from './lease.ts'
import { inTheWay, unless } from './problems.ts'
import { entriesIn, formOf, nameOf, reader } from './reading.ts'
import { patiently } from './records.ts'
import type { Report } from './reports.ts'
import { statsAt, syncFolder } from './root.ts'
import { justWritten } from './seen.ts'
import { hasFlagLike, putTexts, removeFlags, touchFlag } from './writing.ts'

/**
 * Ends a claim. The renaming of the lease decides; everything before it can be
 * left undone, and everything after it can be done by anyone, again and again.
 */
export function leave<T extends Item>(desk: Desk, kind: Kind<T>, item: T, change: Change, note: Note): T | undefined {
  return endClaim(desk, kind, item, change, note).item
}

/** What came of ending a claim. */
interface Ended<T> {
  readonly item: T | undefined
  /** Whether it ended by this; false where another process has ended it in the same way. */
  readonly isOurs: boolean
}

/** The same, and says who has ended it. */
export function endClaim<T extends Item>(desk: Desk, kind: Kind<T>, item: T, change: Change, note: Note): Ended<T> {
  const { id } = item
  const to = String(change.fields['status'])
  if (isEnding(desk, kind, id)) throw whyNot(kind, item, { id })
  const name = nameOf(kind, item)
  if (isTaken(desk, name, item.status, to)) throw inTheWay(name, item.status, to)
  const own = change.token ?? desk.records.current(id)?.token
  const token = own ?? adopt(desk, kind, item, note)
  const lapsed = change.lapsed === true
  const wanted = {
    ...note,
    id,
    name,
    token,
    from: item.status,
    to,
    fields: change.fields,
    texts: change.texts ?? {},
    lapsed,
  }
  let report: Report | undefined
  let isOurs: boolean
  try {
    if (lapsed) refuseWhileHeld(desk, kind, item, token)
    report = desk.reports.write(wanted)
    const by = decided(desk, report)
    if (!by) throw lost(kind, item, token)
    isOurs = by === 'by us'
  } catch (error) {
    takeBack(desk, report, own === undefined ? { id, token } : undefined)
    throw error
  }
  const path = desk.root.status(item.status, name)
  try {
    if (resumeIfRenewed(desk, report) || resumeIfWaiting(desk, kind, report)) throw whyNot(kind, item, { id })
    return { item: finish(desk, kind, report).item, isOurs }
  } catch (error) {
    // The claim goes on, or what it is about is gone.
    if (!(error instanceof Problem) || ['changed_meanwhile', 'lease_lost', 'not_found'].includes(error.code))
      throw error
    desk.warnings.add(path, `${id} is ${to}; the next command brings its directory there: ${error.message}`)
    const after = { ...item, ...change.fields, status: to, leaseUntil: null, revision: item.revision + 1 }
    return { item: { ...after, token: token + (isWaiting(kind, to) ? 1 : 0) }, isOurs }
  }
}

/** Whether something else lies where a directory is to go. It may have been moved there by another program. */
export function isTaken({ root }: Desk, name: string, from: string, to: string): boolean {
  const there = statsAt(root.status(to, name))
  return there !== undefined && (!there.isDirectory() || statsAt(root.status(from, name)) !== undefined)
}

interface Adopted {
  readonly id: string
  readonly token: number
}

/** Whether the claim ended as the report says. What failed after that does not change it. */
function decided(desk: Desk, report: Report): 'by us' | 'before' | undefined {
  const { id, token, to } = report
  try {
    return decide(desk, report)
  } catch (error) {
    if (!(error instanceof Problem) || !desk.records.has(id, { what: to, token })) throw error
    desk.warnings.add(desk.root.own('tasks', id), `${id} is ${to}; that may not survive a power cut: ${error.message}`)
    return 'by us'
  }
}

/** Nothing was decided: there is no report of ours, and no lease that was made for it. */
function takeBack({ reports, records }: Desk, report: Report | undefined, adopted: Adopted | undefined): void {
  try {
    if (report) reports.remove(report)
    if (adopted) records.undo(adopted.id, adopted.token)
  } catch {
    // A report of which nothing was decided is passed over, and a lease that was made for it has run out.
  }
}

/** Whether somebody has decided how the claim ends and is not done with it yet. Anyone may help, as often as they like. */
function isEnding(desk: Desk, kind: Kind, id: string): boolean {
  const last = desk.records.of(id).at(-1)
  const report = last && last.what !== 'lease' ? desk.reports.read({ id, token: last.token, to: last.what }) : undefined
  if (!report) return false
  rollForward(desk, kind, report)
  return true
}

/**
 * Somebody without a claim acts on what a script has moved here: it becomes
 * theirs for the moment, with a lease that has run out, so that nobody waits for
 * it should they be killed before they have decided. It is looked for again once
 * it is theirs: a claim may have ended since they saw it here.
 */
function adopt(desk: Desk, kind: Kind, item: Item, { by, at }: Note): number {
  const { id, status } = item
  const token = desk.records.begin(id, item.token + 1, newLease(by, at, -1), status)
  if (statsAt(desk.root.status(status, nameOf(kind, item)))) return token
  desk.records.undo(id, token)
  throw whyNot(kind, item, { id })
}

function refuseWhileHeld(desk: Desk, kind: Kind, item: Item, token: number): void {
  const read = desk.records.lease(item.id, token)
  if (read && !isLapsed(read.lease)) throw whyNot(kind, item, { id: item.id })
}

/** Whether the claim has ended as the report says, by this or by an earlier attempt. */
function decide(desk: Desk, { id, token, to }: Report): 'by us' | 'before' | undefined {
  const ended = patiently(() => {
    if (desk.records.end(id, token, to)) return 'by us'
    return desk.records.has(id, { what: to, token }) ? 'before' : undefined
  })
  if (ended) desk.records.sync(id)
  return ended
}

/** A heartbeat that was answered while the lease was taken for lapsed is as good as any other. */
function resumeIfRenewed(desk: Desk, report: Report): boolean {
  const { id, token, to, lapsed } = report
  if (!lapsed) return false
  const read = desk.records.receipt(id, { what: to, token })
  if (!read || isLapsed(read.lease)) return false
  desk.records.resume(id, token, to)
  desk.reports.remove(report)
  return true
}

/**
 * A part that was added at the last moment is waited for all the same. Whoever
 * adds one tells of it first and then waits for how a decision ends that was
 * made meanwhile, so one of the two sees the other.
 */
function resumeIfWaiting(desk: Desk, kind: Kind, report: Report): boolean {
  const { id, token, to, name } = report
  const { waits } = kind
  if (!waits?.until.includes(to) || statsAt(desk.root.status(to, name))) return false
  const [row] = desk.ledger.find(kind, { where: { id } })
  if (!row || (row as unknown as Record<string, number>)[waits.blockers] === 0) return false
  desk.records.resume(id, token, to)
  desk.reports.remove(report)
  return true
}

function lost(kind: Kind, item: Item, token: number): Problem {
  return whyNot(kind, { ...item, token: Math.max(item.token, token) }, { id: item.id, token, renewing: true })
}

/**
 * Goes on with what a report says, if it was decided; by whoever wrote it, or
 * by the next one after a process that was killed. Undefined where it was not,
 * or where the item is somebody else's by now.
 */
export function rollForward<T extends Item>(desk: Desk, kind: Kind<T>, report: Report): Ended<T> {
  const { id, token, to } = report
  if (!desk.records.has(id, { what: to, token })) {
    // Ended otherwise, or not at all: the lease's owner will say.
    if (!desk.records.has(id, { what: 'lease', token })) desk.reports.remove(report)
    return { item: undefined, isOurs: false }
  }
  const resumed = resumeIfRenewed(desk, report) || resumeIfWaiting(desk, kind, report)
  return resumed ? { item: undefined, isOurs: false } : finish(desk, kind, report)
}

/** Ours: by whoever takes the report away, of all who carry it out at the same time. */
function finish<T extends Item>(desk: Desk, kind: Kind<T>, report: Report): Ended<T> {
  const { root } = desk
  const { id, name, from, to } = report
  root.makeStatus(to)
  const got = grab(desk, kind, report)
  if (got === 'later') {
    desk.reports.remove(report)
    return { item: desk.ledger.find(kind, { where: { id } })[0], isOurs: false }
  }
  const directory = got === 'there' ? root.status(to, name) : got.path
  try {
    if (got !== 'there') restoreDefinition(desk, kind, directory, { id, name })
    desk.sealedTexts.keep(kind, id, report.texts)
    putTexts(root, kind, { directory, name }, report.texts).keep()
    setFlags(kind, directory, report)
    if (got !== 'there') {
      syncFolder(directory)
      desk.hands.put(got, to)
    }
  } catch (error) {
    if (got !== 'there') desk.hands.putBack(got)
    throw error
  }
  syncFolder(root.status(to))
  syncFolder(root.status(from))
  const item = follow(desk, kind, report)
  if (item) linkFromParent(desk, kind, item, name)
  return { item, isOurs: desk.reports.remove(report) }
}

/**
 * The directory, from wherever it lies; `there` where it has arrived. Only once
 * it is in our hands is it looked whether it is still about this claim: before,
 * somebody could have given it back and another have claimed it.
 */
function grab(desk: Desk, kind: Kind, { id, name, token, from, to }: Report): Held | 'there' | 'later' {
  for (let attempt = 1; ; attempt++) {
    const found = desk.hands.abandoned().find(hand => hand.name === name)
    const folders = [from, ...desk.root.statuses.filter(status => status !== from && status !== to)]
    const lying = folders.find(status => statsAt(desk.root.status(status, name))?.isDirectory())
    const arrived = statsAt(desk.root.status(to, name))?.isDirectory() === true
    if (isLater(desk, id, token)) return 'later'
    if (arrived && lying === from) throw inTheWay(name, from, to)
    if (arrived) return 'there'
    const held = (lying !== undefined && desk.hands.take(lying, name)) || (found && desk.hands.takeOver(found))
    if (held && isLater(desk, id, token)) {
      desk.hands.putBack(held)
      return 'later'
    }
    if (held) return held
    if (attempt === 40) {
      // Nobody has it: it was removed, or something else was put in its place.
      const made = desk.hands.all().some(hand => hand.name === name) ? undefined : rebuild(desk, kind, id, name, from)
      if (!made) throw gone(name)
      return made
    }
    pause(5)
  }
}

function isLater({ records }: Desk, id: string, token: number): boolean {
  return (records.of(id).at(-1)?.token ?? 0) > token
}

function gone(name: string): Problem {
  return new Problem(
    'changed_meanwhile',
    `${name} is in none of the folders of the queue`,
    'Put its directory back, then run: punchlist queue recover.',
    { name },
  )
}

/** The flag of the new status; and what told of the claim goes when the item is given back. */
function setFlags(kind: Kind, directory: string, { id, to, at }: Report): void {
  const form = formOf(kind)
  const entries = entriesIn(directory) ?? []
  const { claims, ends } = form.evidence(id, entries, reader(directory))
  const flag = form.flag(id, to, at)
  // What a script has called done, and is not.
  const wrong = ends.filter(name => flag === undefined || !hasFlagLike([name], flag))
  if (!kind.waits?.until.includes(to)) removeFlags(directory, wrong)
  if (isWaiting(kind, to)) removeFlags(directory, claims)
  const names = entries.map(({ name }) => name)
  if (flag !== undefined && !hasFlagLike(names, flag)) touchFlag(directory, flag)
}

/** Tells of it, unless somebody who looked was faster. */
function follow<T extends Item>({ ledger, root }: Desk, kind: Kind<T>, report: Report): T | undefined {
  const { id, name, token, to, fields, by, at, why } = report
  return ledger.together(() => {
    const [row] = ledger.find(kind, { where: { id } })
    if (!row || row.token > token || (row.status === to && row.token === token)) return row
    const after = { ...fields, status: to, leaseUntil: null, token: token + (isWaiting(kind, to) ? 1 : 0) }
    const saved = ledger.save(kind, { id, from: row.status, fields: after }, { by, at, why })
    ledger.remember(kind, [justWritten(root, kind, { id, name, status: to })])
    return saved
  }, true)
}

/** The parent gets a link to a part that nobody waits for any longer. It is relative, and survives the parent's own moves. */
export function linkFromParent(desk: Desk, kind: Kind, item: Item, name: string): void {
  const { waits } = kind
  const parent = waits && (item as unknown as Record<string, string>)[waits.parent]
  if (!waits || !parent || !waits.until.includes(item.status)) return
  const [above] = desk.ledger.find(kind, { where: { id: parent } })
  if (!above) return
  const directory = nameOf(kind, above)
  for (let attempt = 1; attempt <= 20; attempt++) {
    for (const status of desk.root.statuses) {
      const place = desk.root.status(status, directory)
      const path = join(place, name)
      if (!statsAt(place)?.isDirectory()) continue
      if (unless(['ENOENT'], path, () => link(`../../${item.status}/${name}`, path))) return
    }
    // In somebody's hands at the moment.
    pause(5)
  }
}

/** The links that open parents lack, of parts that were completed by another program while nobody looked. */
export function linkParts(desk: Desk, kind: Kind): void {
  const { waits } = kind
  if (!waits) return
  for (const above of desk.ledger.find(kind, { status: openStatuses(kind.lifecycle) })) {
    if ((above as unknown as Record<string, number>)[waits.children] === 0) continue
    const parts = desk.ledger.find(kind, { where: { [waits.parent]: above.id }, status: waits.until })
    const place = desk.root.status(above.status, nameOf(kind, above))
    for (const part of parts) {
      if (!statsAt(join(place, nameOf(kind, part)))) linkFromParent(desk, kind, part, nameOf(kind, part))
    }
  }
}

function link(target: string, path: string): true {
  try {
    makeLink(target, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  return true
}
