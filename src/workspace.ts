import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { CompletionMode } from './core/completion.ts'
import { Problem } from './core/problem.ts'
import type { Settings } from './settings.ts'

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
  /** Whether the user named the store, by flag or environment, and not a file in the folder. */
  readonly chosen: boolean
  readonly completion: CompletionMode
  /** The commands that must exit 0, word by word. */
  readonly wards: readonly (readonly string[])[]
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
  // Most commands run without the file: what reads it is loaded only when it is there.
  const settings: Settings = existsSync(file) ? (await import('./settings.ts')).readSettings(file) : {}
  return {
    root,
    here,
    settings,
    store: storeUrl(store ?? settings.store, root),
    work: below(root, settings.paths?.work ?? 'tmp', 'paths.work', file),
    queue: below(root, settings.paths?.queue ?? 'coordination', 'paths.queue', file),
    inFiles: (store ?? settings.store ?? 'files') === 'files',
    chosen: store !== undefined,
    completion: settings.plan?.completion ?? 'self',
    wards: settings.wards?.length ? await wardsIn(settings.wards, file) : [],
  }
}

/** They are run without a shell, so they are taken apart here. */
async function wardsIn(lines: readonly string[], file: string): Promise<readonly (readonly string[])[]> {
  const { words } = await import('./core/words.ts')
  return lines.map((line, index) => {
    const command = words(line)
    if (command?.[0]) return command
    const key = `wards.${index}`
    const message = command ? 'is empty' : 'has a quote that is never closed'
    throw new Problem('bad_input', `${file}: ${key} ${message}`, `Correct ${key} in ${file}.`, {
      file,
      wrong: [{ key, message }],
    })
  })
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
    if (names.some(name => existsSync(join(folder, name)))) return folder
    if (dirname(folder) === folder) return undefined
  }
}

/** For a linked worktree, the main one. A submodule's `.git` is a file too, but it has no commondir. */
function mainWorktree(worktree: string): string | undefined {
  const file = join(worktree, '.git')
  if (!statSync(file).isFile()) return undefined
  const gitdir = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.trim()
  if (!gitdir) return undefined
  const folder = resolve(worktree, gitdir)
  const pointer = join(folder, 'commondir')
  if (!existsSync(pointer)) return undefined
  const common = resolve(folder, readFileSync(pointer, 'utf8').trim())
  return basename(common) === '.git' ? dirname(common) : undefined
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

/** A folder that a file in the workspace names must lie in it: the file may have come with somebody else's repository. */
function below(root: string, path: string, key: string, file: string): string {
  const inside = relative(root, resolve(root, path))
  if (inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return inside
  throw new Problem('bad_input', `${file}: ${key} leads out of the workspace`, `Correct ${key} in ${file}.`, {
    file,
    wrong: [{ key, message: 'leads out of the workspace' }],
  })
}

function existing(folder: string): string {
  if (existsSync(folder) && statSync(folder).isDirectory()) return folder
  throw new Problem('bad_input', `${folder} is not a folder`, 'Give --root (or PUNCHLIST_ROOT) a folder that exists.', {
    folder,
  })
}
