import { readdirSync } from 'node:fs'
import { removeTree } from '../../core/file-entries.ts'
import type { Kind } from '../../core/kind.ts'
import { Problem, type ProblemCode } from '../../core/problem.ts'
import { isGone, parseWorker } from '../../core/process.ts'
import type { Recovered } from '../../core/store.ts'
import { goOn } from './building.ts'
import { type Desk, isActive, isWaiting } from './desk.ts'
import type { InHand } from './hands.ts'
import { rollForward } from './leaving.ts'
import { unless } from './problems.ts'
import { entriesIn, formOf, reader } from './reading.ts'
import { statsAt } from './root.ts'
import { removeFlags } from './writing.ts'

/** Finishes or undoes what processes that are gone have left half done. Every command does, before it looks. */
export function rescue(desk: Desk, kind: Kind, id?: string): Recovered[] {
  const done: Recovered[] = []
  for (const batch of desk.batches.abandoned()) {
    const moved = passingOver(desk, batch.path, () => goOn(desk, batch)) ?? []
    for (const one of moved) {
      const what = 'it was added with others, and whoever did was stopped before it was moved here: moved now'
      done.push({ id: one.id, from: one.status, to: one.status, what })
    }
  }
  const reports = desk.reports.abandoned((path, { message }) => desk.warnings.add(path, message))
  for (const report of reports) {
    if (id !== undefined && report.id !== id) continue
    const ended = passingOver(desk, desk.reports.path(report), () => rollForward(desk, kind, report))
    if (ended?.item && ended.isOurs)
      done.push({
        id: report.id,
        from: report.from,
        to: report.to,
        what: `${report.by} had reported it as ${report.to}, and was stopped before it was moved: moved now`,
      })
  }
  for (const hand of desk.hands.abandoned()) {
    const named = formOf(kind).named(hand.name)
    if ('message' in named || (id !== undefined && named.id !== id)) continue
    const back = passingOver(desk, hand.path, () => giveBack(desk, kind, named.id, hand))
    if (back) done.push(back)
  }
  return done
}

/** What is in the way of one is named in a warning, and keeps nothing else from being done. */
function passingOver<T>({ warnings }: Desk, path: string, work: () => T): T | undefined {
  const finish = () => unlessEnded(work)
  return warnings.unlessHindered(path, 'cannot be finished', finish, () => undefined)
}

/** What another process has finished first needs no warning. */
function unlessEnded<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Problem && (error.code === 'lease_lost' || error.code === 'not_found')) return undefined
    throw error
  }
}

/** What is in the way of one, or what another process has finished first, keeps nothing else from being done. */
export function tolerating<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Problem && TOLERATED.has(error.code)) return undefined
    throw error
  }
}

const TOLERATED: ReadonlySet<ProblemCode> = new Set([
  'move_refused',
  'changed_meanwhile',
  'lease_lost',
  'not_found',
  'untrusted',
  'store_read_only',
])

/** Puts a directory back that a process held when it was stopped, without the flags of a claim or an end that was not answered. */
function giveBack(desk: Desk, kind: Kind, id: string, hand: InHand): Recovered | undefined {
  const held = desk.hands.takeOver(hand)
  if (!held) return undefined
  const { origin } = held
  try {
    if (isWaiting(kind, origin)) {
      const entries = entriesIn(held.path) ?? []
      const { claims, ends } = formOf(kind).evidence(id, entries, reader(held.path))
      removeFlags(held.path, [...claims, ...ends])
      for (const { what, token } of desk.records.of(id)) if (what === 'lease') desk.records.end(id, token, origin)
    }
    desk.hands.put(held, origin)
  } catch (error) {
    desk.hands.putBack(held)
    throw error
  }
  const what = isActive(kind, origin) ? 'a report about it' : isWaiting(kind, origin) ? 'a claim of it' : 'a move of it'
  return { id, from: origin, to: origin, what: `${what} was stopped half-way: put back` }
}

/** What waits in `new` for the rest of its batch disturbs nobody, and a batch may be large. */
const LONGEST_BATCH_MS = 24 * 3_600_000

/** What was being written when its writer was stopped: nobody ever saw it. */
export function clearAway(desk: Desk): string[] {
  const folder = desk.root.own('new')
  const names = unless(['ENOENT'], folder, () => readdirSync(folder)) ?? []
  const waiting = desk.batches.waiting()
  const left = names.filter(name => {
    if (waiting.has(name)) return false
    const worker = parseWorker(name.slice(name.lastIndexOf('~') + 1))
    const stats = worker && statsAt(desk.root.own('new', name))
    return worker === undefined || (stats !== undefined && isGone(worker, stats.ctimeMs, LONGEST_BATCH_MS))
  })
  for (const name of left) removeTree(desk.root.own('new', name))
  return left
}
