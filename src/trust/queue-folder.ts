import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join, relative } from 'node:path'
import { codeOf } from '../core/disk.ts'
import { readRegular, replaceFile } from '../core/files.ts'
import { digest } from '../core/id.ts'
import { Problem } from '../core/problem.ts'
import { identityOf, isSame, keepStore, knownStore, makeSeal } from './state.ts'
import { type Foreign, realOf, statsOf, strangeFolder, untrustedStore } from './store-file.ts'

/** What is foreign about the folder that a queue keeps its records in; undefined where nothing is, or nothing is there. */
export function foreignQueue(top: string): Foreign | undefined {
  const folder = ownFolder(top)
  const stats = statsOf(folder)
  if (!stats) return undefined
  const strange = strangeFolder(folder)
  if (strange) return strange
  // The process that makes it marks it before it writes. So what is still empty is about to be marked, or its maker was
  // killed; and what is not empty any more was marked, be it between the first two looks.
  if (isMarked(folder, stats) || isEmpty(folder) || isMarked(folder, stats)) return undefined
  return { file: folder, why: 'was not made here by you', acceptable: true }
}

/** Marks the folder as this user's, before anything is written into it. Throws `untrusted` where it is foreign. */
export function keepQueueAsOwn(top: string): void {
  const foreign = foreignQueue(top)
  if (foreign) throw untrustedStore(foreign)
  const path = realOf(ownFolder(top))
  const stats = lstatSync(path)
  if (isMarked(path, stats)) return
  makeSeal(path)
  keepStore(path, identityOf(stats), false)
}

/** Marks the folder as accepted by this user, as it lies there. The reports in it count as if they were written here. */
export function acceptQueue(top: string): void {
  const path = realOf(ownFolder(top))
  const seal = makeSeal(path)
  const reports = join(path, 'reports')
  for (const name of statsOf(reports)?.isDirectory() ? readdirSync(reports) : []) sealReport(join(reports, name), seal)
  keepStore(path, identityOf(lstatSync(path)), true)
}

/**
 * The seal of a queue: a report that carries it was written by this user. It
 * belongs to the folder, because several workspaces may share one queue.
 */
export function queueSeal(top: string): string {
  return makeSeal(realOf(ownFolder(top)))
}

/** Whatever is no report is left as it is. */
function sealReport(path: string, seal: string): void {
  const stats = statsOf(path)
  if (!stats?.isFile()) return
  const report = jsonIn(readRegular(path, LARGEST, 'anyone') ?? '')
  if (typeof report === 'object' && report !== null) replaceFile(path, JSON.stringify({ ...report, seal }))
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** What a folder holds, as its user accepts it: how much, and a hash of every name and every file. */
export function queueContent(top: string): Record<string, unknown> {
  const folder = ownFolder(top)
  const count = (name: string) =>
    statsOf(join(folder, name))?.isDirectory() ? readdirSync(join(folder, name)).length : 0
  try {
    const counts = { records: count('tasks'), reports: count('reports'), held: count('private') }
    return { folder, ...counts, sha256: digest(JSON.stringify(filesBelow(folder, folder))) }
  } catch (error) {
    throw new Problem(
      'unreadable_file',
      `${folder} cannot be read: ${codeOf(error)}`,
      'Move it away; the next write makes a new one.',
      { file: folder },
    )
  }
}

function ownFolder(top: string): string {
  return join(top, '.punchlist')
}

function isMarked(folder: string, stats: Stats): boolean {
  const known = knownStore(realOf(folder))
  return known !== undefined && isSame(known, stats)
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch {
    // Not readable for this user: what is in it is unknown.
    return false
  }
}

/** More than any report of ours. */
const LARGEST = 256 * 1024 * 1024

/** Of a link only its name counts: it is never followed. */
function filesBelow(top: string, folder: string): string[][] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  )
  return entries.flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(top, path)
    return [[relative(top, path), entry.isFile() ? digest(readRegular(path, LARGEST, 'anyone') ?? '') : '']]
  })
}
