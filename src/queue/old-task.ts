import type { Entry } from '../core/kind.ts'
import { flagsIn } from './flags.ts'
import { directoryName, readDirectoryName, slugOf } from './names.ts'
import { isoTime } from './times.ts'

/** A directory that may be a task in an older form. */
export interface OldDirectory {
  /** The folder it lies in; empty for the root itself. */
  readonly folder: string
  readonly name: string
  /** What lies in it, not in folders below. */
  readonly entries: readonly Entry[]
}

/** What the names tell of a task in an older form. */
export interface OldTask extends OldDirectory {
  readonly path: string
  /** The task's name without what was put before it. */
  readonly bare: string
  readonly slug: string
  /** Absent where no name has one. */
  readonly id: string | undefined
  /** The file that defines it, under whatever name. */
  readonly file: Entry
  /** The process that claimed it, and when. */
  readonly pid: string | undefined
  readonly claimedAt: string | undefined
  readonly completions: readonly { readonly entry: Entry; readonly pid: string | undefined }[]
}

/** What an older form tells; undefined for a directory that has none, and a refusal where it cannot be told. */
export function oldTask(directory: OldDirectory): OldTask | { readonly refused: string } | undefined {
  const { folder, name, entries } = directory
  const [, date, time, claimant, rest] = CLAIMED.exec(name) ?? []
  if (name.startsWith('claimed_') && rest === undefined)
    return { refused: 'is not named claimed_, a date, a time, a process and the name of a task' }
  const bare = rest ?? name
  // In the root itself lies much that is no task.
  if (folder === '' && rest === undefined && !/^req_\d/i.test(name)) return undefined
  const { id, slug } = partsOf(bare, entries)
  const files = entries.filter(({ isFile }) => isFile)
  const target = id === undefined ? undefined : `${directoryName({ id, slug })}.md`
  const plain = files.find(entry => entry.name === `${bare}.md` || entry.name === target)
  const owned = ownedFiles(files, bare, rest !== undefined && !plain)
  const completions = files.flatMap(entry => {
    const found = COMPLETION.exec(entry.name)
    return found ? [{ entry, pid: found[1] }] : []
  })
  const isNew = readDirectoryName(name) !== undefined && owned.length === 0 && completions.length === 0
  if (isNew || (rest === undefined && !plain && owned.length === 0 && completions.length === 0)) return undefined
  const defining = [...owned.map(({ entry }) => entry), ...(plain ? [plain] : [])]
  if (defining.length > 1)
    return { refused: `has more than one task file: ${defining.map(each => each.name).join(', ')}` }
  const [file] = defining
  if (!file) return { refused: `has no task file: there is no ${bare}.md, nor one with a process in its name` }
  const at =
    date === undefined ? undefined : isoTime(`${digits(date, '-', 4)}T${digits(time!.padEnd(6, '0'), ':', 2)}Z`)
  if (date !== undefined && at === undefined) return { refused: 'has a claim time in its name that is none' }
  return {
    ...directory,
    path: folder === '' ? name : `${folder}/${name}`,
    bare,
    slug,
    id,
    file,
    pid: claimant ?? owned[0]?.pid,
    claimedAt: at,
    completions,
  }
}

// The time has no letter of its own, so that digits of a name are not taken for it.
const CLAIMED = /^claimed_(\d{8}|\d{4}-\d{2}-\d{2})[T_-](\d{4}|\d{6}|\d{2}[-:]\d{2}[-:]\d{2})Z?_(\d{1,10})_(.+)$/s
const OWNED = /^(.+)\.(\d{1,10})\.md$/s
const COMPLETION = /^.+?(?:\.(\d{1,10}))?\.completion\.md$/s
const NUMBERED = /^req_(\d{1,15})((?:_\d{2})*)(?:_(?!\d{2}(?:_|$))(.+))?$/is

/** The id and the slug in an older name. Where it has no id, one that an earlier run gave is found in the files. */
function partsOf(bare: string, entries: readonly Entry[]): { readonly id: string | undefined; readonly slug: string } {
  const [, number, parts = '', words] = NUMBERED.exec(bare) ?? []
  if (number !== undefined) {
    const id = `req_${number.padStart(4, '0')}${parts}`
    const kept = words !== undefined && readDirectoryName(`${id}_${words}`)?.id === id
    return { id, slug: kept ? words : slugOf(words ?? '', 60) }
  }
  const slug = slugOf(bare, 60)
  const given = entries.flatMap(({ name }) => {
    const flagged = /^(req_\d{4,15})_\d{8}T\d{6}_[a-z]+$/.exec(name)?.[1]
    const file = readDirectoryName(name)
    return flagged ?? (file && name === `${directoryName({ id: file.id, slug })}.md` ? file.id : [])
  })
  const id = given.find(each => flagsIn(each, entries).flags.length > 0) ?? given[0]
  return { id, slug }
}

/** Task files with a process in their name; any will do in a directory that was claimed and has only that one. */
function ownedFiles(files: readonly Entry[], bare: string, any: boolean): { entry: Entry; pid: string }[] {
  const owned = files.flatMap(entry => {
    const [, base, pid] = OWNED.exec(entry.name) ?? []
    return base !== undefined && pid !== undefined ? [{ entry, base, pid }] : []
  })
  const own = owned.filter(({ base }) => base === bare)
  return own.length === 0 && any && owned.length === 1 ? owned : own
}

/** Digits in groups of two, but for the first. */
function digits(text: string, between: string, first: number): string {
  const all = text.replaceAll(/\D/g, '')
  return [all.slice(0, first), ...(all.slice(first).match(/../g) ?? [])].join(between)
}
