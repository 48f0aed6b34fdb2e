import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { git, programsOf, refuseForeignPrograms, refuseLinks, repositoryOf } from '../../src/core/git.ts'
import { scratch } from '../support/scratch.ts'

const real = (cwd: string, ...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, encoding: 'utf8' }).trim()

function repository(): string {
  const root = realpathSync(scratch())
  real(root, 'init', '-q')
  writeFileSync(join(root, 'file'), 'content\n')
  real(root, 'add', 'file')
  real(root, 'commit', '-qm', 'begin')
  return root
}

/** A program that leaves a marker, and the marker. */
function trap(folder = scratch()): { program: string; marker: string } {
  const [program, marker] = [join(folder, 'trap.sh'), join(folder, 'sprung')]
  writeFileSync(program, `#!/bin/sh\necho sprung > '${marker}'\ncat\n`, { mode: 0o755 })
  return { program, marker }
}

function standIn(version: string): Record<string, string> {
  const bin = scratch()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho 'git version ${version}'\n`, { mode: 0o755 })
  return { PATH: [bin, process.env['PATH']].join(delimiter) }
}

const nobody = async () => false

describe('the repository of a folder', () => {
  test('is the nearest one upwards, never one below, and never a bare one', async () => {
    const root = repository()
    const below = join(root, 'a/b')
    mkdirSync(below, { recursive: true })
    expect(repositoryOf(below)).toMatchObject({ top: root, gitDir: join(root, '.git') })
    expect(repositoryOf(scratch())).toBeUndefined()

    const outside = scratch()
    const bare = join(outside, 'bare')
    real(outside, 'init', '-q', '--bare', bare)
    expect(repositoryOf(bare)).toBeUndefined()
    await expect(git(bare, ['rev-parse', 'HEAD'])).rejects.toMatchObject({ code: 'bad_input' })
  })

  test('of a linked worktree is found, with what it shares', async () => {
    const root = repository()
    const other = join(realpathSync(scratch()), 'other')
    real(root, 'worktree', 'add', '-q', '-b', 'other', other)
    expect(repositoryOf(other)).toEqual({
      top: other,
      gitDir: join(root, '.git/worktrees/other'),
      commonDir: join(root, '.git'),
    })
    expect((await git(other, ['branch', '--show-current'])).trim()).toBe('other')
  })

  test('is refused where .git is a link, or a file that names a repository inside of the work tree', () => {
    const [root, linked, pointing] = [repository(), scratch(), scratch()]
    symlinkSync(join(root, '.git'), join(linked, '.git'))
    expect(() => repositoryOf(linked)).toThrow(/is a symbolic link/)
    real(pointing, 'init', '-q', '--bare', 'fixtures')
    writeFileSync(join(pointing, '.git'), 'gitdir: fixtures\n')
    expect(() => repositoryOf(pointing)).toThrow(/inside the work tree/)
    writeFileSync(join(pointing, '.git'), 'x'.repeat(100_000))
    expect(() => repositoryOf(pointing)).toThrow(/names no repository/)
  })

  test('git does not go on to one around it where this one is broken', async () => {
    const around = repository()
    const broken = join(around, 'broken')
    mkdirSync(join(broken, '.git'), { recursive: true })
    await expect(git(broken, ['rev-parse', 'HEAD'])).rejects.toMatchObject({ code: 'bad_input' })
  })
})

describe('git', () => {
  test('that is too old is refused by its version, and a missing one by name', async () => {
    const root = repository()
    const old = git(root, ['rev-parse', 'HEAD'], { env: standIn('2.37.9') })
    await expect(old).rejects.toMatchObject({
      code: 'unsupported_runtime',
      message: expect.stringContaining('git version 2.37.9'),
      hint: expect.stringContaining('2.38'),
    })
    await expect(git(root, ['rev-parse'], { env: standIn('what?') })).rejects.toMatchObject({
      code: 'unsupported_runtime',
    })
    expect(await git(root, ['rev-parse'], { env: standIn('2.38.0') })).toContain('2.38.0')
    expect(await git(root, ['rev-parse'], { env: standIn('3.0.0') })).toContain('3.0.0')
    await expect(git(root, ['rev-parse'], { env: { PATH: scratch() } })).rejects.toMatchObject({
      code: 'unsupported_runtime',
      message: expect.stringContaining('not found'),
    })
  })

  test('is not taken from the repository, nor from a relative folder in PATH', async () => {
    const root = repository()
    const { marker } = trap(root)
    writeFileSync(join(root, 'git'), `#!/bin/sh\necho sprung > '${marker}'\n`, { mode: 0o755 })
    const PATH = ['.', '', root, process.env['PATH']].join(delimiter)
    await git(root, ['rev-parse', 'HEAD'], { env: { PATH } })
    expect(existsSync(marker)).toBe(false)
  })

  test('is not led elsewhere by its variables, and keeps who the user is', async () => {
    const [root, other] = [repository(), repository()]
    const env = {
      ...process.env,
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: '/nowhere',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_VALUE_0: 'led',
      GIT_AUTHOR_NAME: 'me',
      GIT_AUTHOR_EMAIL: 'me@example.org',
    }
    expect((await git(root, ['rev-parse', '--show-toplevel'], { env })).trim()).toBe(root)
    expect(await git(root, ['var', 'GIT_AUTHOR_IDENT'], { env })).toContain('me <me@example.org>')
  })

  test('runs no hook, no monitor and no proxy of the repository, nor of a bare one in a subfolder', async () => {
    const root = repository()
    const { program, marker } = trap()
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-auto-gc']) {
      writeFileSync(join(root, '.git/hooks', hook), `#!/bin/sh\n'${program}' </dev/null\n`)
      chmodSync(join(root, '.git/hooks', hook), 0o755)
    }
    for (const key of ['core.fsmonitor', 'core.sshCommand', 'core.pager', 'diff.external', 'core.askPass']) {
      real(root, 'config', key, program)
    }
    real(root, 'config', 'core.worktree', scratch())
    const bare = join(root, 'sub')
    real(root, 'init', '-q', '--bare', bare)
    real(root, '--git-dir', bare, 'config', 'core.fsmonitor', program)
    real(root, '--git-dir', bare, 'config', 'core.bare', 'false')
    real(root, '--git-dir', bare, 'config', 'core.worktree', '..')
    for (const folder of [root, bare]) {
      await git(folder, ['status', '--porcelain'])
      await git(folder, ['ls-files'])
    }
    const place = join(realpathSync(scratch()), 'place')
    await git(root, ['worktree', 'add', '-q', '-b', 'new', place], { writes: true })
    expect(readdirSync(place)).toContain('file')
    expect(existsSync(marker)).toBe(false)
  })

  test('connects to nothing, whatever the repository allows', async () => {
    const [root, other] = [repository(), repository()]
    real(root, 'config', 'protocol.file.allow', 'always')
    real(root, 'remote', 'add', 'origin', other)
    await expect(git(root, ['fetch', 'origin'], { writes: true })).rejects.toThrow(/not allowed/)
  })

  test('that gives no answer is ended', async () => {
    const root = repository()
    execFileSync('mkfifo', [join(root, '.git/info/grafts')])
    execFileSync('rm', ['-f', join(root, '.git/config')])
    execFileSync('mkfifo', [join(root, '.git/config')])
    await expect(git(root, ['rev-parse', 'HEAD'], { timeoutMs: 500 })).rejects.toThrow(/no answer within 0.5 s/)
  })
})

describe('programs that a repository names', () => {
  test('are told, includes and worktree settings among them, but not the user’s own', async () => {
    const root = repository()
    const home = scratch()
    writeFileSync(join(home, '.gitconfig'), '[filter "mine"]\n\tsmudge = mine\n')
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home }
    real(root, 'config', 'filter.evil.smudge', 'sh -c "a\nb"')
    real(root, 'config', 'core.hooksPath', '.husky')
    real(root, 'config', 'extensions.worktreeConfig', 'true')
    real(root, 'config', '--worktree', 'filter.tree.process', 'tree')
    writeFileSync(join(root, 'more'), '[filter "more"]\n\tclean = more\n')
    real(root, 'config', 'include.path', '../more')
    expect(await programsOf(root, { env })).toEqual([
      { key: 'filter.evil.smudge', value: 'sh -c "a\nb"' },
      { key: 'include.path', value: '../more' },
      { key: 'filter.more.clean', value: 'more' },
      { key: 'filter.tree.process', value: 'tree' },
    ])
    expect(await programsOf(scratch())).toEqual([])
  })

  test('are refused unless each of them was accepted', async () => {
    const root = repository()
    real(root, 'config', 'core.sshCommand', 'ssh -i key')
    await refuseForeignPrograms(root, nobody)
    real(root, 'config', 'filter.evil.smudge', 'evil')
    await expect(refuseForeignPrograms(root, nobody)).rejects.toMatchObject({
      code: 'untrusted',
      message: expect.stringContaining('filter.evil.smudge = "evil"'),
    })
    await refuseForeignPrograms(root, async ({ value }) => value === 'evil')
  })
})

test('links in the folder of a repository are not written through', () => {
  const [root, elsewhere] = [repository(), scratch()]
  refuseLinks(join(root, '.git'), ['worktrees/x', 'refs/heads/punchlist/x', 'HEAD'])
  symlinkSync(elsewhere, join(root, '.git/worktrees'))
  expect(() => refuseLinks(join(root, '.git'), ['worktrees/x'])).toThrow(/neither a file nor a folder/)
})
