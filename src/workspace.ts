import { existsSync, lstatSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { CompletionMode } from './core/completion.ts'
import { isOwn, readRegular } from './core/files.ts'
import { Problem } from './core/problem.ts'
import { configFile } from './core/state-file.ts'
import type { Ward } from './core/wards.ts'
import type { Settings } from './settings.ts'
import type { Applied } from './trust/applied.ts'
import type { TrustItem } from './trust/judgement.ts'

/** Where a command works: the folder, what is set there, and the URL of its store. */
export interface Workspace {
  readonly root: string
  /** The same folder in the worktree that the command was given in: the root itself but in a linked worktree. */
  readonly here: string
  readonly settings: Settings
  /** `sqlite:/absolute/path`, `sqlite::memory:` or `postgres://…`: where plan, state and events are kept. */
  readonly store: string
  /** The folder of the files of backlog and worklog, below the root. */
  readonly work: string
  /** The folder of the tasks' directories, below the root. */
  readonly queue: string
  /** Whether lists that have a form as files are kept in files. */
  readonly inFiles: boolean
  /** Whether the user named this very store, by flag or environment, and not a file in the folder. */
  readonly chosen: boolean
  /** What of the folder's settings is in effect only once its user accepted it. */
  readonly items: readonly TrustItem[]
  /** What of it waits for that, and is not in effect. Commands are judged when they are to be run. */
  readonly pending: readonly TrustItem[]
  readonly completion: CompletionMode
  /** The commands that must exit 0. */
  readonly wards: readonly Ward[]
}

export interface WorkspaceWish {
  readonly cwd: string
  readonly root?: string | undefined
  readonly store?: string | undefined
}

/** Finds the workspace of a folder. Nothing is made or written. */
export async function findWorkspace({ cwd, root: wanted, store }: WorkspaceWish): Promise<Workspace> {
  const { root, here } = wanted === undefined ? rootOf(cwd) : itself(existing(resolve(cwd, wanted)))
  const file = join(root, 'punchlist.json')
  // Most commands run without settings: what reads them is loaded only when there are some.
  const some = lstatSync(file, QUIETLY) !== undefined || existsSync(configFile('config.json'))
  const { settings, items, pending, wards }: Applied = some
    ? (await import('./trust/applied.ts')).appliedSettings(file, root)
    : { settings: {}, items: [], pending: [], wards: [] }
  return {
    root,
    here,
    settings,
    store: storeUrl(store ?? settings.store, root),
    work: relative(root, resolve(root, settings.paths?.work ?? 'tmp')),
    queue: relative(root, resolve(root, settings.paths?.queue ?? 'coordination')),
    inFiles: (store ?? settings.store ?? 'files') === 'files',
    // The word names no file: what lies in the folder is judged like without it.
    chosen: store !== undefined && store !== 'files',
    items,
    pending,
    completion: settings.plan?.completion ?? 'self',
    wards,
  }
}

/** The nearest folder upwards that is marked as a workspace, in the main worktree of its repository; else the folder itself. */
function rootOf(cwd: string): Pick<Workspace, 'root' | 'here'> {
  const here = upwards(cwd, ['punchlist.json', '.punchlist', '.git'])
  if (here === undefined) return itself(cwd)
  const worktree = upwards(here, ['.git'])
  const main = worktree && mainWorktree(worktree)
  if (!worktree || !main) return itself(here)
  // All worktrees share one live list: the same folder there, if it has one.
  const twin = join(main, relative(worktree, here))
  return { root: existsSync(twin) ? twin : main, here }
}

function itself(folder: string): Pick<Workspace, 'root' | 'here'> {
  return { root: folder, here: folder }
}

function upwards(from: string, names: readonly string[]): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (names.some(name => marks(folder, name, from))) return folder
    if (dirname(folder) === folder) return undefined
  }
}

/** Whether an entry makes a folder a workspace. A repository of another user's is none for the folders below it. */
function marks(folder: string, name: string, from: string): boolean {
  const path = join(folder, name)
  if (!existsSync(path)) return false
  return name !== '.git' || folder === resolve(from) || isOwn(lstatSync(path).uid)
}

/** Git writes a path into them, and a line's end. */
const LARGEST = 64 * 1024

/**
 * For a linked worktree, the main one. A submodule's `.git` is a file too, but it has no commondir.
 *
 * Anyone can write a `.git` file that names another project. Only the other
 * project's own repository says which worktrees it has: its record of this one
 * has to name this `.git` file, and both have to be this user's.
 */
function mainWorktree(worktree: string): string | undefined {
  const file = join(worktree, '.git')
  const gitdir = /^gitdir: (.+)$/m.exec(lineIn(file) ?? '')?.[1]?.trim()
  if (!gitdir) return undefined
  const folder = resolve(worktree, gitdir)
  const named = lineIn(join(folder, 'commondir'))
  const back = lineIn(join(folder, 'gitdir'))
  if (named === undefined || back === undefined) return undefined
  const common = resolve(folder, named)
  const isRecord = isSameFile(dirname(folder), join(common, 'worktrees')) && isSameFile(resolve(folder, back), file)
  return isRecord && basename(common) === '.git' ? dirname(common) : undefined
}

function lineIn(file: string): string | undefined {
  return isOwnFile(file) ? readRegular(file, LARGEST)?.trim() : undefined
}

function isOwnFile(file: string): boolean {
  const stats = lstatSync(file, QUIETLY)
  return stats?.isFile() === true && isOwn(stats.uid)
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [statSync(one, QUIETLY), statSync(other, QUIETLY)]
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

function storeUrl(wanted: string | undefined, root: string): string {
  // With files, the lists that are files lie in folders of their own; the plan, the state and the events are here.
  if (wanted === undefined || wanted === 'files') return `sqlite:${join(root, '.punchlist', 'punchlist.db')}`
  if (/^postgres(?:ql)?:\/\//.test(wanted)) return wanted
  const path = /^sqlite:(.+)$/.exec(wanted)?.[1]
  if (path === undefined) {
    throw new Problem(
      'bad_input',
      `"${wanted.slice(0, 60)}" is no store`,
      'Use files, sqlite:PATH or postgres://USER@HOST/DATABASE.',
    )
  }
  return path === ':memory:' || isAbsolute(path) ? wanted : `sqlite:${join(root, path)}`
}

function existing(folder: string): string {
  if (existsSync(folder) && statSync(folder).isDirectory()) return folder
  throw new Problem('bad_input', `${folder} is not a folder`, 'Give --root (or PUNCHLIST_ROOT) a folder that exists.', {
    folder,
  })
}

const QUIETLY = { throwIfNoEntry: false } as const
