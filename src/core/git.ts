import { execFile } from 'node:child_process'
import { accessSync, constants, lstatSync, realpathSync, type Stats } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { readBeginning } from './files.ts'
import { Problem } from './problem.ts'

/*
 * The only place that starts git. It works for the repository that contains a
 * folder, which is found without asking git: git itself would also take a bare
 * repository that lies in a subfolder, and run what its configuration names.
 */

/** The repository that contains a folder. */
export interface Repository {
  /** The real path of its work tree. */
  readonly top: string
  /** The folder of the repository, or of the linked worktree in it. */
  readonly gitDir: string
  /** The folder that all worktrees of the repository share. */
  readonly commonDir: string
}

/** A program, or a file with more settings, that the configuration of a repository names. */
export interface GitProgram {
  readonly key: string
  readonly value: string
}

export type Accepted = (program: GitProgram) => Promise<boolean>

interface Calling {
  /** Whether it changes the repository. */
  readonly writes?: boolean
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** `safe.bareRepository` is understood since 2.38. */
const OLDEST = [2, 38] as const
const READ_MS = 20_000
const WRITE_MS = 600_000
const MOST_OUTPUT = 16 * 1024 * 1024
const POINTER_BYTES = 8192

/** What a repository's own configuration could have git run is switched off in every call. */
const OPTIONS = [
  'safe.bareRepository=explicit',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.sshCommand=',
  'core.gitProxy=',
  'core.askPass=',
  'core.alternateRefsCommand=',
  'core.pager=cat',
  'core.editor=:',
  'credential.helper=',
  'diff.external=',
  'protocol.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'advice.detachedHead=false',
].flatMap(option => ['-c', option])

/** Variables of git's that stay: who the user is, and where the user's own configuration lies. */
const KEPT = /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))$/

const NAMES_PROGRAMS =
  /^(?:filter\..*\.(?:clean|smudge|process)|hook\..*\.command|core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand)|credential\.(?:.*\.)?helper|diff\.(?:external|.*\.(?:command|textconv))|merge\..*\.driver|gpg\.(?:.*\.)?program|remote\..*\.(?:uploadpack|receivepack|vcs)|include\.path|includeif\..*\.path)$/

/** Those that git runs for a checkout in spite of our options. */
export const RUN_ON_CHECKOUT = /^(?:filter\..*\.(?:clean|smudge|process)|hook\..*\.command)$/

/** Finds the repository that contains a folder. Undefined where there is none; throws for one that is made to mislead. */
export function repositoryOf(folder: string): Repository | undefined {
  for (let top = realpathSync(folder); ; top = dirname(top)) {
    const entry = join(top, '.git')
    const found = statOf(entry)
    if (found?.isDirectory()) return { top, gitDir: entry, commonDir: entry }
    if (found?.isFile()) return linked(top, entry)
    if (found) throw misleading(entry, found.isSymbolicLink() ? 'is a symbolic link' : 'is no folder and no file')
    if (dirname(top) === top) return undefined
  }
}

/** The repository that a `.git` file points to: that of a linked worktree, of a submodule, or one kept elsewhere. */
function linked(top: string, file: string): Repository {
  const pointer = /^gitdir: (.+?)\r?\n*$/.exec(readShort(file))?.[1]
  const gitDir = pointer === undefined ? undefined : realPath(resolve(top, pointer))
  if (gitDir === undefined) throw misleading(file, 'names no repository')
  if (isBelow(top, gitDir)) throw misleading(file, `names a repository inside the work tree, ${gitDir}`)
  const shared = join(gitDir, 'commondir')
  const commonDir = statOf(shared)?.isFile() ? realPath(resolve(gitDir, readShort(shared).trim())) : gitDir
  if (commonDir === undefined) throw misleading(shared, 'names no repository')
  return { top, gitDir, commonDir }
}

/** Runs git for the repository that contains a folder, and returns what it prints. */
export async function git(root: string, args: readonly string[], calling: Calling = {}): Promise<string> {
  const { writes = false, timeoutMs = writes ? WRITE_MS : READ_MS, env = process.env } = calling
  const repository = requireRepository(root)
  const program = await requireGit(repository.top, env)
  try {
    return await started(program, [...OPTIONS, ...args], repository.top, timeoutMs, {
      ...cleaned(env),
      GIT_WORK_TREE: repository.top,
      // Not the repository around this one where git finds fault with this one.
      GIT_CEILING_DIRECTORIES: dirname(repository.top),
      ...(writes ? {} : { GIT_OPTIONAL_LOCKS: '0' }),
    })
  } catch (error) {
    const { stderr = '', message, killed } = error as Error & { stderr?: string; killed?: boolean }
    const why = killed ? `no answer within ${timeoutMs / 1000} s` : stderr.trim() || message.split('\n')[0]!
    throw new Problem(
      /dubious ownership|safe\.directory/.test(stderr) ? 'untrusted' : 'bad_input',
      `git ${args[0]} failed in ${root}: ${why}`,
      'Worktrees take a git repository with a commit. Correct what git reports, or run without --worktree.',
      { root },
    )
  }
}

/** The programs that the repository's own configuration names, includes expanded; not those of the user's or the system's. */
export async function programsOf(root: string, calling: Calling = {}): Promise<GitProgram[]> {
  if (!repositoryOf(root)) return []
  const parts = (await git(root, ['config', '--list', '-z', '--show-scope', '--includes'], calling)).split('\0')
  const programs: GitProgram[] = []
  for (let n = 0; n + 1 < parts.length; n += 2) {
    const [scope, entry] = [parts[n]!, parts[n + 1]!]
    const cut = entry.indexOf('\n')
    const key = cut < 0 ? entry : entry.slice(0, cut)
    const value = cut < 0 ? '' : entry.slice(cut + 1)
    if ((scope === 'local' || scope === 'worktree') && NAMES_PROGRAMS.test(key)) programs.push({ key, value })
  }
  return programs
}

/** Throws `untrusted` where a checkout would run a program that the repository names and the user has not accepted. */
export async function refuseForeignPrograms(root: string, accepted: Accepted, calling: Calling = {}): Promise<void> {
  const foreign: GitProgram[] = []
  for (const program of await programsOf(root, calling)) {
    if (program.value !== '' && RUN_ON_CHECKOUT.test(program.key) && !(await accepted(program))) foreign.push(program)
  }
  if (foreign.length === 0) return
  const named = foreign.slice(0, 5).map(({ key, value }) => `${key} = ${JSON.stringify(value.slice(0, 200))}`)
  const more = foreign.length > named.length ? ` and ${foreign.length - named.length} more` : ''
  throw new Problem(
    'untrusted',
    `The configuration of this repository has git run programs on checkout: ${named.join(', ')}${more}`,
    'Read them and accept them with: punchlist trust. Or run without --worktree.',
    { programs: foreign },
  )
}

/**
 * Throws `untrusted` where one of these paths in a repository's folder is a
 * link, or lies behind one: git writes through links, wherever they lead.
 */
export function refuseLinks(folder: string, paths: readonly string[]): void {
  for (const path of paths) {
    let place = folder
    for (const part of path.split('/')) {
      place = join(place, part)
      const found = statOf(place)
      if (!found) break
      if (!found.isDirectory() && !found.isFile()) throw misleading(place, 'is neither a file nor a folder')
    }
  }
}

function requireRepository(root: string): Repository {
  const repository = repositoryOf(root)
  if (repository) return repository
  const hint = 'Worktrees take a git repository with a commit. Make one with git init, or run without --worktree.'
  throw new Problem('bad_input', `${root} is not in a git repository`, hint, { root })
}

const versions = new Map<string, Promise<string>>()

/** The path of a git that is new enough. Not one that lies in the repository: that is its content. */
async function requireGit(top: string, env: NonNullable<Calling['env']>): Promise<string> {
  const needs = `git ${OLDEST.join('.')} or newer`
  const program = (env['PATH'] ?? '')
    .split(delimiter)
    .filter(folder => isAbsolute(folder) && !isBelow(top, realPath(folder) ?? folder))
    .map(folder => join(folder, NAME))
    .find(isExecutable)
  if (program === undefined) {
    throw new Problem('unsupported_runtime', `git was not found; worktrees take ${needs}`, `Install ${needs}.`)
  }
  const asked =
    versions.get(program) ?? started(program, ['version'], dirname(program), READ_MS, cleaned(env)).catch(() => '')
  versions.set(program, asked)
  const said = await asked
  const [, major, minor] = /^git version (\d+)\.(\d+)/.exec(said) ?? []
  const isNew = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])
  if (isNew) return program
  const found = said.trim().slice(0, 60) || 'a git that does not tell its version'
  throw new Problem(
    'unsupported_runtime',
    `${program} is ${found}; worktrees take ${needs}`,
    `Install ${needs}, or run without --worktree.`,
    { program },
  )
}

const NAME = process.platform === 'win32' ? 'git.exe' : 'git'

async function started(
  program: string,
  args: readonly string[],
  cwd: string,
  timeout: number,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  return await new Promise((done, failed) => {
    const options = { cwd, env, timeout, killSignal: 'SIGKILL', maxBuffer: MOST_OUTPUT, encoding: 'utf8' } as const
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      error ? failed(Object.assign(error, { stderr })) : done(stdout),
    )
    // Nothing is ever read from a terminal.
    child.stdin?.end()
  })
}

/** Our environment without what would lead git elsewhere. */
function cleaned(env: NonNullable<Calling['env']>): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || KEPT.test(name))
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    // A repository's own protocol.NAME.allow would win over protocol.allow.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
  }
}

function misleading(path: string, what: string): Problem {
  return new Problem(
    'untrusted',
    `${path} ${what}`,
    'Remove it or move it away, if you know where it came from. Or run without --worktree.',
    { path },
  )
}

/** The text of a file; empty where there is none, or it is longer than a pointer. */
function readShort(file: string): string {
  const text = readBeginning(file, POINTER_BYTES, 'anyone') ?? ''
  return text.length < POINTER_BYTES ? text : ''
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
