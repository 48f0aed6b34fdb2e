import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { everywhere } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { type ForPullRequest, type Swept, TODOS, Typist, timeless } from '../support/worklog.ts'

const LOG = `---
worker: alice
role: implementation
status: completed
plan_path: plans/report.md
---

## Task #1: Escape the report

**Status**: completed
**Claimed**: 2026-01-02T03:04:05.000Z
**Completed**: 2026-01-02T03:04:05.000Z
**Files touched**: \`src/report.ts\`, \`test/report.test.ts\`
**Ward Result**: all green

- [x] find the place
- [ ] write the test

### Decisions

- [arch] Escaped at the exit, because the store keeps bytes
- No cache, because it is fast enough

## Task #2: Sign the release

**Status**: failed
**Claimed**: 2026-01-02T03:04:05.000Z

### Failure reason

There is no key on this machine.
`

const SUMMARY = `---
generated: 2026-01-02T03:04:05.000Z
plan: plans/report.md
workers: 2
total_tasks: 3
completed_tasks: 1
total_subtasks: 3
completed_subtasks: 1
unique_tasks: 3
unique_completed: 1
wards: claimed
---

# Work Session Summary

## Progress Overview

| Worker | Role | Tasks | Subtasks | Status |
|--------|------|-------|----------|--------|
| alice | implementation | 1/2 | 1/2 | completed |
| bob-2 | test | 0/1 | 0/1 | interrupted |

## Key Decisions (across all workers)

- **alice**: \\[arch\\] Escaped at the exit, because the store keeps bytes
- **alice**: No cache, because it is fast enough
`

const SECTION = `<!-- punchlist:work-session -->
## Work Session

<details>
<summary>2 workers completed 1/3 tasks (1/3 subtasks)</summary>

| Worker | Role | Tasks | Subtasks | Status |
|--------|------|-------|----------|--------|
| alice | implementation | 1/2 | 1/2 | completed |
| bob-2 | test | 0/1 | 0/1 | interrupted |

Wards: passed, as the workers claim. punchlist did not run them.

</details>

### Key Decisions
- **alice**: \\[arch\\] Escaped at the exit, because the store keeps bytes
- **alice**: No cache, because it is fast enough

### Known Issues
- **alice**: task 2 (Sign the release) failed: There is no key on this machine.
- **bob-2**: task 3 (Test the report) was not finished; 1 of 1 subtask open: read it
- **alice**: task 1 (Escape the report) was completed with 1 of 2 subtasks open: write the test

<!-- /punchlist:work-session -->
`

describe.each(ENGINES)('worklogs, from the command line, on %s', (engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('tell of a session of two workers from the first task to the pull request', async () => {
    const typist = new Typist(scratch())
    const opened = await typist.opened('alice')
    const log = {
      worker: 'alice',
      role: 'implementation',
      status: 'active',
      plan_path: 'plans/report.md',
      workflow: 'work',
      session: 's1',
      path: `${TODOS}/alice.md`,
      tasks_completed: 0,
      tasks_total: 0,
      subtasks_completed: 0,
      subtasks_total: 0,
      decisions: 0,
    }
    expect(opened).toEqual({ worklog: log, written: true, warnings: [] })
    const subtasks = ['--subtask', 'find the place', '--subtask', 'write the test']
    const begun = await typist.run('task', 'alice', '1', 'Escape the report', ...subtasks)
    const task = {
      number: 1,
      subject: 'Escape the report',
      status: 'in_progress',
      claimed: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      completed: null,
      subtasks: [
        { text: 'find the place', done: false },
        { text: 'write the test', done: false },
      ],
      files: [],
      ward: null,
      decisions: [],
      failure: null,
    }
    expect(begun).toEqual({
      worklog: { ...log, tasks_total: 1, subtasks_total: 2 },
      task,
      written: true,
      warnings: [],
    })
    const checked = await typist.run('check', 'alice', '1', '1')
    expect(checked.task!.subtasks.map(({ done }) => done)).toEqual([true, false])
    await typist.run('decide', 'alice', '1', 'Escaped at the exit, because the store keeps bytes', '--tag', 'arch')
    await typist.run('decide', 'alice', '1', 'No cache, because it is fast enough')
    const touched = ['--file', 'src/report.ts', '--file', 'test/report.test.ts', '--ward', 'all green']
    const completed = await typist.run('complete', 'alice', '1', ...touched)
    expect(completed.task).toMatchObject({
      status: 'completed',
      completed: expect.stringMatching(/Z$/),
      files: ['src/report.ts', 'test/report.test.ts'],
      ward: 'all green',
      decisions: ['[arch] Escaped at the exit, because the store keeps bytes', 'No cache, because it is fast enough'],
    })
    expect(completed.worklog).toMatchObject({ tasks_completed: 1, subtasks_completed: 1, decisions: 2 })
    await typist.run('task', 'alice', '2', 'Sign the release')
    const failed = await typist.run('fail', 'alice', '2', '--reason', 'There is no key on this machine.')
    expect(failed.task).toMatchObject({ status: 'failed', failure: 'There is no key on this machine.' })
    await typist.opened('bob-2', 'test')
    await typist.run('task', 'bob-2', '3', 'Test the report', '--subtask', 'read it')
    expect((await typist.run('close', 'alice')).worklog.status).toBe('completed')

    const everyone = await typist.list()
    expect(everyone.worklogs.map(({ worker, status }) => `${worker} ${status}`)).toEqual([
      'alice completed',
      'bob-2 active',
    ])
    expect(everyone).toMatchObject({ more: 0, cursor: null, workflow: 'work', session: 's1', warnings: [] })
    const alice = await typist.list('--worker', 'alice')
    expect(alice.worklogs).toEqual([everyone.worklogs[0]])
    expect(alice.tasks).toEqual([completed.task, failed.task])
    expect((await typist.list('--status', 'active')).worklogs.map(({ worker }) => worker)).toEqual(['bob-2'])

    // Without a summary there is nothing to tell of.
    expect(await typist.merged('As it was.')).toBe('As it was.')
    expect(await typist.summary()).toEqual({
      path: `${TODOS}/_summary.md`,
      workers: 2,
      total_tasks: 3,
      completed_tasks: 1,
      total_subtasks: 3,
      completed_subtasks: 1,
      unique_tasks: 3,
      unique_completed: 1,
      wards: 'claimed',
      interrupted: ['bob-2'],
      workflow: 'work',
      session: 's1',
      warnings: [],
    })
    expect(timeless(typist.text('_summary.md')!)).toBe(SUMMARY)
    const pr = await typist.run<ForPullRequest>('pr')
    expect(pr).toMatchObject({ text: SECTION, section: SECTION, session: 's1', warnings: [] })
    expect((await typist.seen('pr')).stdout).toBe(SECTION)
    expect(await typist.merged('What it does.\n')).toBe(`What it does.\n\n${SECTION}`)
    const files = engine === 'files' ? ['_summary.md', 'alice.md', 'bob-2.md'] : ['_summary.md']
    expect(readdirSync(join(typist.cwd, TODOS)).toSorted()).toEqual(files)
    if (engine === 'files') expect(timeless(typist.text('alice.md')!)).toBe(LOG)
  })

  test('keep sessions and workflows apart; where none is named the newest is meant', async () => {
    const typist = new Typist(scratch(), {})
    expect(await typist.list()).toMatchObject({ worklogs: [], workflow: 'work', session: 'default' })
    expect((await typist.opened('alice')).worklog).toMatchObject({ session: 'default' })
    const tuesday = typist.with({ PUNCHLIST_SESSION: 'tuesday' })
    expect((await tuesday.opened('alice')).worklog).toMatchObject({ path: 'tmp/work/tuesday/todos/alice.md' })
    await tuesday.run('task', 'alice', '1', 'On Tuesday')
    expect(await typist.list()).toMatchObject({ session: 'tuesday', worklogs: [{ tasks_total: 1 }] })
    // A flag wins over the environment of the same name.
    expect(await tuesday.list('--session', 'default')).toMatchObject({ worklogs: [{ tasks_total: 0 }] })
    const audit = await tuesday.run('open', 'alice', '--role', 'test', '--plan', 'p.md', '--workflow', 'audit')
    expect(audit.worklog).toMatchObject({ workflow: 'audit', path: 'tmp/audit/tuesday/todos/alice.md' })
    expect(await typist.refused('sweep')).toMatchObject({ status: 2, code: 'bad_input' })
    const one = await typist.run<Swept>('sweep', '--session', 'tuesday', '--workflow', 'audit')
    expect(one.interrupted).toMatchObject([{ workflow: 'audit', status: 'interrupted' }])
    const rest = await tuesday.run<Swept>('sweep')
    expect(rest.interrupted).toMatchObject([{ workflow: 'work', status: 'interrupted', tasks_total: 1 }])
    expect((await tuesday.run<Swept>('sweep')).interrupted).toEqual([])
    expect(await typist.list('--session', 'default')).toMatchObject({ worklogs: [{ status: 'active' }] })
    // Whoever was swept and works after all is active again, and may close.
    expect((await tuesday.run('task', 'alice', '2', 'Late')).worklog.status).toBe('active')
    expect((await tuesday.run('close', 'alice')).worklog.status).toBe('completed')
    expect((await tuesday.opened('alice')).worklog).toMatchObject({ status: 'active', tasks_total: 2 })
    // Nobody to tell of: nothing is written.
    const nobody = await typist.summary('--session', 'wednesday')
    expect(nobody).toMatchObject({ path: null, workers: 0, warnings: [{ message: expect.stringContaining('nobody') }] })
    expect(existsSync(join(typist.cwd, 'tmp/work/wednesday'))).toBe(false)
  })
})

test('a verb that is refused says why with its exit status, for people and for programs', async () => {
  const typist = new Typist(scratch())
  await typist.opened('alice')
  await typist.run('task', 'alice', '1', 'Escape the report')
  await typist.run('complete', 'alice', '1')
  const refusals: [args: string[], status: number, code: string][] = [
    [['task', 'alice', '1', ''], 2, 'bad_input'],
    [['check', 'alice', '1', '1'], 4, 'not_found'],
    [['close', 'eve'], 4, 'not_found'],
    [['fail', 'alice', '1', '--reason', 'after all'], 5, 'move_refused'],
  ]
  for (const [args, status, code] of refusals) {
    const { status: exit, message, hint, ...rest } = await typist.refused(...args)
    expect([exit, rest.code]).toEqual([status, code])
    expect(await typist.seen(...args)).toEqual({ status, stdout: '', stderr: `${message}\n${hint}\n` })
  }
  expect((await typist.seen('tsak', 'alice')).stderr).toContain('task')
  const { stdout } = await typist.seen('complete', '--help')
  expect(stdout).toContain('punchlist worklog complete alice 1 --file src/report.ts')
})
