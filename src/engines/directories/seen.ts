import { type Stats } from 'node:fs'
import { join } from 'node:path'
import type { Complaint, Kind } from '../../core/kind.ts'
import type { Ledger, Seen } from '../../core/ledger.ts'
import type { Desk } from './desk.ts'
import { fileOf, formOf } from './reading.ts'
import { type Root, statsAt } from './root.ts'

/** Under this name, instead of a folder's, the directories of items are remembered: they keep it wherever they are moved. */
export const TASKS = 'tasks'

/** Under this name, what a definition says in vain; its directory is an item all the same, wherever it is moved. */
const REMARKS = 'remarks'

/** File systems tell time in steps: what changes twice within one looks the same. */
const STEP_MS = 50
/** Those that tell whole seconds only. */
const COARSE_STEP_MS = 2000

/** How an item's directory looks: `node` is when the file that defines it was written, `changed` when a file in it came or went. */
export function seenDirectory(name: string, id: string, changed: number, written: number): Seen {
  return { folder: TASKS, name, item: id, node: written, changed, written: changed, complaint: null }
}

/** Remembers what a definition that was just read says in vain, or that it says nothing so. */
export function rememberRemark(ledger: Ledger, kind: Kind, { name, id, remark }: Remarked): void {
  if (!remark) return ledger.forget(REMARKS, name)
  const seen = { folder: REMARKS, name, item: id, node: 0, changed: 0, written: Date.now() }
  ledger.remember(kind, [{ ...seen, complaint: remark }])
}

/** By the names of directories, what their definitions say in vain. */
export function remarks(ledger: Ledger): Seen[] {
  return ledger.complaints(REMARKS)
}

interface Remarked {
  readonly name: string
  readonly id: string
  readonly remark: Complaint | undefined
}

/** How a folder of a status looked when it was listed. */
export function seenFolder(status: string, { mtimeMs, ino }: Stats): Seen {
  const seen = { folder: status, name: '.', item: null, complaint: null }
  return { ...seen, node: ino, changed: doubtful(mtimeMs), written: Date.now() }
}

/** Negative where something was looked at so soon after it changed that another change might not show. */
export function doubtful(time: number): number {
  const step = time % 1000 === 0 ? COARSE_STEP_MS : STEP_MS
  return time > Date.now() - step ? -time : time
}

/** How a directory looks that we have just written ourselves: nobody else can have written it since, but for the blink of an eye. */
export function justWritten(
  root: Root,
  kind: Kind,
  { id, name, status }: { readonly id: string; readonly name: string; readonly status: string },
): Seen {
  const times = timesOf(kind, root.status(status, name), name)
  return seenDirectory(name, id, times?.changed ?? 0, times?.written ?? 0)
}

/** Whether a directory may have changed since it was read; undefined where it is not there. */
export function isChanged({ ledger, root }: Pick<Desk, 'ledger' | 'root'>, kind: Kind, name: string, status: string) {
  const times = timesOf(kind, root.status(status, name), name)
  if (!times) return undefined
  const seen = ledger.file(TASKS, name)
  return !seen || seen.changed !== times.changed || seen.node !== times.written
}

function timesOf(kind: Kind, path: string, name: string): { changed: number; written: number } | undefined {
  const directory = statsAt(path)
  if (!directory?.isDirectory()) return undefined
  const definition = join(path, fileOf(kind, name, formOf(kind).definition))
  const file = statsAt(definition, ['EACCES', 'EPERM'])
  return { changed: directory.mtimeMs, written: file?.mtimeMs ?? 0 }
}
