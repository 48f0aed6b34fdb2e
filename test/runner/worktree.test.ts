import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ended } from '../support/cli.ts'
import { addTask, begin, run, runHere, statesIn } from '../support/run-here.ts'
import { scratch } from '../support/scratch.ts'

const git = (cwd: string, ...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, encoding: 'utf8' }).trim()

test('with --worktree each task has a worktree and a branch of its own, and wards are run there', async () => {
  const script =
    'echo "$PUNCHLIST_TASK" > same.txt; git add same.txt; git -c user.name=t -c user.email=t@t commit -qm "$PUNCHLIST_TASK"; punchlist plan add Look >/dev/null; punchlist plan complete 1 done >/dev/null'
  const here = runHere(script, { wards: ['test -f same.txt'] })
  git(here.cwd, 'init', '-q')
  git(here.cwd, 'add', 'agent.sh', 'punchlist.json')
  git(here.cwd, 'commit', '-qm', 'begin')
  for (const title of ['one', 'other']) await addTask(here, title)
  const { status } = await ended(begin(here, '--workers', '2', '--worktree'))
  expect(status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed', req_0002: 'completed' })
  for (const id of ['req_0001', 'req_0002']) {
    expect(git(here.cwd, 'show', `punchlist/${id}:same.txt`)).toBe(id)
    expect(readFileSync(join(here.cwd, '.punchlist/runs/worktrees', id, 'same.txt'), 'utf8').trim()).toBe(id)
  }
  expect(existsSync(join(here.cwd, 'same.txt'))).toBe(false)
  expect(git(here.cwd, 'status', '--porcelain', '--', 'agent.sh')).toBe('')
})

test('--worktree without a repository is refused with the reason, and nothing is claimed', async () => {
  const here = runHere('echo done')
  await addTask(here, 'one')
  const { status, stderr } = await run(here, '--worktree')
  expect(status).toBe(2)
  expect(stderr).toContain('Worktrees take a git repository with a commit.')
  expect(await statesIn(here)).toEqual({ req_0001: 'to_execute' })
})

test('where one task can have no worktree it has failed, and the others are done; half a worktree is made anew', async () => {
  const here = runHere('cat file > seen.txt')
  git(here.cwd, 'init', '-q')
  writeFileSync(join(here.cwd, 'file'), 'content')
  git(here.cwd, 'add', 'agent.sh', 'file')
  git(here.cwd, 'commit', '-qm', 'begin')
  for (const title of ['looked at', 'cut off', 'taken away']) await addTask(here, title)
  const at = (id: string) => join(here.cwd, '.punchlist/runs/worktrees', id)
  // Somebody looks at what came of the first; git was killed over the second; the folder of the third is gone.
  git(here.cwd, 'worktree', 'add', '-q', '-b', 'punchlist/req_0001', join(here.cwd, 'elsewhere'))
  git(here.cwd, 'worktree', 'add', '-q', '-b', 'punchlist/req_0002', at('req_0002'))
  rmSync(join(at('req_0002'), 'file'))
  writeFileSync(join(here.cwd, '.git/worktrees/req_0002/locked'), 'initializing')
  git(here.cwd, 'worktree', 'add', '-q', '-b', 'punchlist/req_0003', at('req_0003'))
  rmSync(at('req_0003'), { recursive: true })
  const { status, stdout } = await run(here, '--worktree', '--max-attempts', '1')
  expect(status).toBe(5)
  expect(stdout).toContain('req_0001  failed')
  expect(await statesIn(here)).toEqual({ req_0001: 'error', req_0002: 'completed', req_0003: 'completed' })
  for (const id of ['req_0002', 'req_0003']) expect(readFileSync(join(at(id), 'seen.txt'), 'utf8')).toBe('content')
})

test('a filter of the repository, its hooks and a link in its folder start nothing and write nothing outside', async () => {
  const here = runHere('echo done')
  const elsewhere = scratch()
  const marker = join(elsewhere, 'sprung')
  git(here.cwd, 'init', '-q')
  writeFileSync(join(here.cwd, 'file'), 'content')
  writeFileSync(join(here.cwd, '.gitattributes'), 'file filter=evil\n')
  git(here.cwd, 'add', 'agent.sh', 'file', '.gitattributes')
  git(here.cwd, 'commit', '-qm', 'begin')
  writeFileSync(join(here.cwd, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch '${marker}'\n`, { mode: 0o755 })
  git(here.cwd, 'config', 'filter.evil.smudge', `touch '${marker}'; cat`)
  await addTask(here, 'one')
  const { status, stderr } = await run(here, '--worktree')
  expect({ status, stderr }).toMatchObject({ status: 12, stderr: expect.stringContaining('filter.evil.smudge') })
  expect(await statesIn(here)).toEqual({ req_0001: 'to_execute' })
  git(here.cwd, 'config', '--unset', 'filter.evil.smudge')
  mkdirSync(join(here.cwd, '.git/refs/heads'), { recursive: true })
  symlinkSync(elsewhere, join(here.cwd, '.git/refs/heads/punchlist'))
  expect((await run(here, '--worktree', '--max-attempts', '1')).status).toBe(5)
  rmSync(join(here.cwd, '.git/refs/heads/punchlist'))
  await addTask(here, 'two')
  expect((await run(here, '--worktree')).status).toBe(0)
  expect(readdirSync(elsewhere)).toEqual([])
})
