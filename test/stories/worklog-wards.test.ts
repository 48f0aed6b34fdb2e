import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { acceptAll, answer, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { Typist, type Wrote } from '../support/worklog.ts'

/** A ward that passes where a file is there, and says something. */
const HAS = (file: string) => `node -e "process.exit(require('fs').existsSync('${file}') ? 0 : 3)"`

function wards(cwd: string, ...commands: (string | { run: string; env?: string[] })[]): void {
  writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ wards: commands }))
}

async function begun(cwd: string, ...commands: string[]): Promise<Typist> {
  wards(cwd, ...commands)
  await acceptAll({ cwd })
  const typist = new Typist(cwd)
  await typist.opened('alice')
  await typist.run('task', 'alice', '1', 'Escape the report')
  return typist
}

function git(cwd: string, ...args: string[]): void {
  const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'commit.gpgsign=false']
  execFileSync('git', [...who, ...args], { cwd, stdio: 'ignore' })
}

const completed = ({ task }: Wrote) => [task!.status, task!.ward]

describe('wards', () => {
  test('that pass let a task be completed, and are kept beside what its worker says of them', async () => {
    const typist = await begun(
      scratch(),
      'node --version',
      `node -e "process.exit(process.argv[1] === 'a b' ? 0 : 1)" 'a b'`,
    )
    const done = await typist.run('complete', 'alice', '1', '--ward', 'all green')
    expect(done.task!.status).toBe('completed')
    expect(done.task!.ward).toMatch(/^passed: node --version; .*\(reported: all green\)$/)
    // They are not run again for an answer that was lost.
    wards(typist.cwd, 'node -e process.exit(1)')
    await acceptAll({ cwd: typist.cwd })
    expect(await typist.run('complete', 'alice', '1', '--ward', 'all green')).toEqual(done)
    expect(await typist.summary()).toMatchObject({ wards: 'passed' })
    expect(await typist.summary('--wards')).toMatchObject({ wards: 'failed' })
    expect(typist.text('_summary.md')).toContain('\nwards: failed\n')
    const seen = await typist.seen('summary', '--wards')
    expect([seen.status, seen.stdout]).toEqual([0, expect.stringContaining('wards failed')])
  })

  test('that fail are written down with the task, which is not completed until they pass', async () => {
    const cwd = scratch()
    const printed = "console.log('ghp_abcdefghijklmnopqrstuvwxyz0123456789'); console.error('line 7 is wrong\\x1b[31m')"
    writeFileSync(join(cwd, 'loud.cjs'), `${printed}; process.exitCode = 3`)
    const typist = await begun(cwd, 'node --version', 'node loud.cjs')
    const refused = await typist.refused('complete', 'alice', '1', '--file', 'a.ts', '--ward', 'all green')
    expect(refused).toMatchObject({ status: 5, code: 'move_refused' })
    expect(refused.message).toContain('Task #1 of alice is not completed')
    expect(refused.hint).toContain('line 7 is wrong')
    expect(refused.details).toMatchObject({ task: 1, verification: { exit: 3 } })
    expect(JSON.stringify(refused)).not.toContain('ghp_')
    const { stderr } = await typist.seen('complete', 'alice', '1')
    expect(stderr).toContain('line 7 is wrong')
    expect(stderr).not.toContain('\u001b')
    const { tasks } = await typist.list('--worker', 'alice')
    expect(tasks).toMatchObject([{ status: 'in_progress', completed: null, files: [] }])
    expect(tasks![0]!.ward).toBe('failed: node loud.cjs (exit 3)')
    expect(await typist.summary()).toMatchObject({ wards: 'failed', completed_tasks: 0 })
    wards(cwd, HAS('mended'))
    await acceptAll({ cwd })
    writeFileSync(join(cwd, 'mended'), '')
    const done = await typist.run('complete', 'alice', '1', '--file', 'a.ts')
    expect(done.task).toMatchObject({ status: 'completed', files: ['a.ts'], ward: expect.stringMatching(/^passed: /) })
    expect(await typist.summary()).toMatchObject({ wards: 'passed', completed_tasks: 1 })
  })

  test('that cannot be started or are never closed quotes are told as what they are', async () => {
    const cwd = scratch()
    const typist = await begun(cwd, 'no-such-program --now')
    const refused = await typist.refused('complete', 'alice', '1')
    expect([refused.status, refused.message]).toEqual([5, expect.stringContaining('failed: no-such-program --now')])
    expect((await typist.list('--worker', 'alice')).tasks![0]!.ward).toBe(
      'failed: no-such-program --now (could not be started)',
    )
    wards(cwd, 'npm "test')
    expect(await typist.refused('complete', 'alice', '1')).toMatchObject({
      status: 2,
      message: expect.stringContaining('wards.0 has a quote that is never closed'),
    })
    // Nothing that a shell would do is done.
    for (const shellish of ['no-such-program; touch pwned', 'no-such-program $(touch pwned) `touch pwned` > pwned']) {
      wards(cwd, shellish)
      await acceptAll({ cwd })
      expect((await typist.refused('complete', 'alice', '1')).status).toBe(5)
    }
    expect(existsSync(join(cwd, 'pwned'))).toBe(false)
  })

  test('are not run for a task that may not be completed anyway', async () => {
    const cwd = scratch()
    const ran = `node -e "require('fs').appendFileSync('ran','x')"`
    const typist = await begun(cwd, ran)
    await typist.run('fail', 'alice', '1', '--reason', 'no')
    expect((await typist.refused('complete', 'alice', '1')).status).toBe(5)
    expect((await typist.refused('complete', 'alice', '9')).status).toBe(4)
    expect((await typist.refused('complete', 'eve', '1')).status).toBe(4)
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })
})

describe('wards that came with a repository', () => {
  test('are not run before somebody trusts them, and not when they have changed since', async () => {
    const cwd = scratch()
    git(cwd, 'init')
    const typist = await begun(cwd, HAS('there'))
    // Accepted as they are, tracked or not.
    expect((await typist.refused('complete', 'alice', '1')).status).toBe(5)
    wards(cwd, HAS('elsewhere'))
    git(cwd, 'add', 'punchlist.json')
    git(cwd, 'commit', '-m', 'wards')
    const strange = await typist.run('complete', 'alice', '1', '--ward', 'all green')
    expect(completed(strange)).toEqual(['completed', expect.stringMatching(/^not run: .*\(reported: all green\)$/)])
    const untold = { file: 'punchlist.json', line: 1, message: expect.stringContaining('punchlist trust') }
    expect(strange.warnings).toEqual([untold])
    expect(await typist.summary('--wards')).toMatchObject({ wards: 'unknown' })
    await typist.run('task', 'alice', '2', 'Sign it')
    const doctor = await answer<{ checks: { check: string; detail: string }[] }>(['doctor'], { cwd })
    expect(doctor.checks.find(({ check }) => check === 'trust')!.detail).toContain('wards')
    await acceptAll({ cwd })
    expect((await typist.refused('complete', 'alice', '2')).status).toBe(5)
    wards(cwd, HAS('elsewhere'), 'node --version')
    expect(completed(await typist.run('complete', 'alice', '2'))).toEqual([
      'completed',
      expect.stringMatching(/^not run: /),
    ])
    // Trusted as they stand: as they stood, they still are.
    await typist.run('task', 'alice', '3', 'Ship it')
    wards(cwd, HAS('there'))
    writeFileSync(join(cwd, 'there'), '')
    expect(completed(await typist.run('complete', 'alice', '3'))).toEqual([
      'completed',
      expect.stringMatching(/^passed: /),
    ])
  })

  test('are run in the worktree that the work is in, and the log is kept with all others', async () => {
    const cwd = join(scratch(), 'main')
    mkdirSync(cwd)
    git(cwd, 'init')
    wards(cwd, HAS('only-there'))
    git(cwd, 'add', 'punchlist.json')
    git(cwd, 'commit', '-m', 'wards')
    const linked = join(scratch(), 'linked')
    git(cwd, 'worktree', 'add', linked, '-b', 'side')
    await acceptAll({ cwd })
    const there = new Typist(linked)
    const main = new Typist(cwd)
    await there.opened('alice')
    await there.run('task', 'alice', '1', 'Escape the report')
    writeFileSync(join(linked, 'only-there'), '')
    expect((await main.refused('complete', 'alice', '1')).status).toBe(5)
    expect(completed(await there.run('complete', 'alice', '1'))).toEqual([
      'completed',
      expect.stringMatching(/^passed/),
    ])
    expect((await main.list()).worklogs).toMatchObject([{ worker: 'alice', tasks_completed: 1 }])
    expect(existsSync(join(linked, 'tmp'))).toBe(false)
    // A worker there that has only files must find the one that counts.
    const { stdout } = await punchlist(['worklog', 'protocol', 'alice', '--via', 'files'], there.around)
    expect(stdout).toContain(join(cwd, 'tmp/work/s1/todos/alice.md'))
    rmSync(linked, { recursive: true })
  })
})

test('a ward gets the variables that it names, and one that fails says which it did not get', async () => {
  const cwd = scratch()
  const run = `node -e "if (!process.env.DATABASE_URL) throw 'DATABASE_URL is not set'"`
  const typist = await begun(cwd, run)
  const env = { DATABASE_URL: 'postgres://me:hidden@host/db' }
  const complete = () => punchlist(['worklog', 'complete', 'alice', '1'], { cwd, env })
  const refused = await complete()
  expect(refused.status).toBe(5)
  expect(refused.stderr).toContain('not passed on to it: DATABASE_URL')
  expect(refused.stderr).not.toContain('hidden')
  wards(typist.cwd, { run, env: ['NOT A NAME'] })
  expect((await complete()).stderr).toContain('wards.0')
  wards(typist.cwd, { run, env: ['DATABASE_URL'] })
  await acceptAll({ cwd })
  expect((await complete()).status).toBe(0)
})
