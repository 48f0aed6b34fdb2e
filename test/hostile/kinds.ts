import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Base, PROGRAM } from './base.ts'
import { own, STRANGER, type Stage, USER, write } from './stage.ts'
import type { Trap } from './traps.ts'

/** A way by which a folder that somebody else has prepared comes to a user. */
export interface Kind {
  readonly name: string
  /** Git carries it, and so only what git can keep. */
  readonly byGit?: true
  readonly needsRoot?: true
  arrive(stage: Stage, base: Base, trap: Trap): void
}

export const KINDS: readonly Kind[] = [
  { name: 'clone', byGit: true, arrive: clone },
  {
    name: 'tarball without .git',
    arrive(stage, base, trap) {
      fill(stage, base)
      plant(stage, base, trap)
    },
  },
  {
    name: 'tarball with a hostile .git',
    arrive(stage, base, trap) {
      fill(stage, base)
      git(stage.root, 'init', '-q', '--template=')
      git(stage.root, 'add', '-A')
      commit(stage.root)
      poison(stage, join(stage.root, '.git'))
      plant(stage, base, trap)
    },
  },
  {
    name: 'pulled branch',
    byGit: true,
    arrive(stage, base, trap) {
      clone(stage, base, undefined)
      begin(stage)
      const upstream = join(stage.top, 'upstream')
      // Prepared where the user is not, and brought by git, which overwrites what is ignored.
      if (!trap.besideOwn) {
        renameSync(stage.root, join(stage.top, 'mine'))
        git(stage.top, 'clone', '-q', '--template=', upstream, stage.root)
        trap.plant(stage, base)
        git(stage.root, 'add', '-A', '-f')
        commit(stage.root)
        rmSync(upstream, { recursive: true })
        renameSync(stage.root, upstream)
        renameSync(join(stage.top, 'mine'), stage.root)
        git(stage.root, 'fetch', '-q', 'origin')
        // As `git pull` does in a clean project; what lies in the way of a link goes, as after `git clean`.
        git(stage.root, 'reset', '-q', '--hard', 'FETCH_HEAD')
      } else trap.plant(stage, base)
      rmSync(upstream, { recursive: true })
    },
  },
  {
    // The folder looks like a repository to git, which finds it before the one that it lies in.
    name: 'subfolder that is a bare repository',
    byGit: true,
    arrive(stage, base, trap) {
      const { root, top } = stage
      fill(stage, base)
      // A workspace of its own: the one that it lies in would be the root otherwise.
      write(join(root, 'punchlist.json'), '{}\n')
      git(root, 'init', '-q', '--bare', '--template=')
      poison(stage, root)
      for (const [key, value] of [
        ['core.bare', 'false'],
        ['core.worktree', root],
      ] as const)
        git(top, 'config', '--file', join(root, 'config'), key, value)
      // Git keeps no empty folders.
      for (const folder of ['refs/heads', 'objects/info']) write(join(root, folder, '.keep'), '')
      if (!trap.besideOwn) trap.plant(stage, base)
      git(top, 'init', '-q', '--template=')
      git(top, '--git-dir', join(top, '.git'), 'add', '-f', 'project')
      commit(top)
      rmSync(root, { recursive: true })
      git(top, 'checkout', '-q', '-f', 'HEAD')
      if (trap.besideOwn) plant(stage, base, trap)
    },
  },
  {
    name: 'parent of another user',
    needsRoot: true,
    arrive(stage, base, trap) {
      fill(stage, base)
      stage.apart = true
      if (trap.besideOwn) {
        own(stage.root, USER)
        own(stage.home, USER)
      }
      plant(stage, base, trap)
      stage.cwd = join(stage.root, 'mine')
      mkdirSync(stage.cwd)
      // Open to all, as a shared folder is: nothing but care keeps the user from writing there.
      execFileSync('chmod', ['-R', 'a+rwX', stage.root])
      if (!trap.besideOwn) own(stage.root, STRANGER)
      own(stage.cwd, USER)
    },
  },
]

function clone(stage: Stage, base: Base, trap: Trap | undefined): void {
  const upstream = join(stage.top, 'upstream')
  fill(stage, base)
  if (trap && !trap.besideOwn) trap.plant(stage, base)
  git(stage.root, 'init', '-q', '--template=')
  git(stage.root, 'add', '-A', '-f')
  commit(stage.root)
  renameSync(stage.root, upstream)
  git(stage.top, 'clone', '-q', '--template=', upstream, stage.root)
  if (!trap) return
  rmSync(upstream, { recursive: true })
  if (trap.besideOwn) plant(stage, base, trap)
}

function plant(stage: Stage, base: Base, trap: Trap): void {
  if (trap.besideOwn) begin(stage)
  trap.plant(stage, base)
}

/** The work of any project, and the program that every trap would start. */
function fill(stage: Stage, { work }: Base): void {
  for (const name of readdirSync(work)) cpSync(join(work, name), join(stage.root, name), { recursive: true })
  write(join(stage.root, 'README.md'), '# A project\n')
  write(stage.evil, `#!/bin/sh\n: > '${stage.marker}'\n`, 0o755)
}

/** The user works here: a plan of their own, in a database that was made here. */
function begin(stage: Stage): void {
  const user = stage.apart ? { uid: USER, gid: USER } : {}
  for (const args of [
    ['plan', 'add', 'Mine', 'Mine too'],
    ['plan', 'start'],
  ]) {
    const env = { ...stage.env(), PATH: process.env['PATH'] ?? '' }
    execFileSync(process.execPath, [PROGRAM, ...args], { cwd: stage.root, env, stdio: 'pipe', ...user })
  }
  if (!existsSync(join(stage.root, '.punchlist/punchlist.db'))) throw new Error('no database was made')
}

/**
 * A repository whose own configuration names programs for git to run. Its index
 * leaves out a folder whose tree is missing: whoever lists the files has git
 * fetch it from a remote, by a program that the configuration names.
 */
function poison(stage: Stage, folder: string): void {
  const inside = (...args: string[]) => git(stage.root, '--git-dir', folder, '--work-tree', stage.root, ...args)
  write(join(stage.root, 'away/file'), 'x\n')
  inside('add', '-f', 'away', 'README.md')
  inside('-c', 'user.name=Mallory', '-c', 'user.email=m@example.com', 'commit', '-q', '-m', 'x')
  const tree = git(stage.root, '--git-dir', folder, 'rev-parse', 'HEAD:away').trim()
  inside('sparse-checkout', 'set', '--cone', '--sparse-index', 'tmp', 'coordination')
  rmSync(join(folder, 'objects', tree.slice(0, 2), tree.slice(2)))
  const hooks = join(folder, 'planted-hooks')
  const names = ['post-checkout', 'pre-commit', 'post-index-change', 'reference-transaction', 'post-merge', 'pre-push']
  for (const name of names) write(join(hooks, name), `#!/bin/sh\n: > '${stage.marker}'\n`, 0o755)
  chmodSync(folder, 0o755)
  for (const [key, value] of [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'planted'],
    ['remote.planted.url', folder],
    ['remote.planted.promisor', 'true'],
    ['remote.planted.uploadpack', stage.evil],
    ['core.fsmonitor', stage.evil],
    ['core.hooksPath', hooks],
    ['core.sshCommand', stage.evil],
    ['core.pager', stage.evil],
    ['core.editor', stage.evil],
    ['core.askPass', stage.evil],
    ['credential.helper', `!${stage.evil}`],
    ['filter.planted.clean', stage.evil],
    ['filter.planted.smudge', stage.evil],
    ['filter.planted.process', stage.evil],
    ['diff.external', stage.evil],
    ['gpg.program', stage.evil],
    ['commit.gpgSign', 'true'],
  ] as const)
    git(stage.top, 'config', '--file', join(folder, 'config'), key, value)
  write(join(folder, 'info/attributes'), '* filter=planted\n')
}

function commit(folder: string): void {
  git(folder, '-c', 'user.name=Mallory', '-c', 'user.email=m@example.com', 'commit', '-q', '-m', 'x', '--allow-empty')
}

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  const options = { cwd, env, stdio: 'pipe', encoding: 'utf8' } as const
  return execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], options)
}
