import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import { Diary, type Happening } from '../../src/runner/diary.ts'
import { underWay } from '../../src/runner/earlier.ts'
import { reportOn } from '../../src/runner/report.ts'
import { RunState } from '../../src/runner/state.ts'
import { answer, punchlist, refusal } from '../support/cli.ts'
import { addTask, begin, run, runHere, runTelling, tasksIn } from '../support/run-here.ts'
import { scratch } from '../support/scratch.ts'

const STARTED: Happening = { what: 'run_started', agent: 'claude-code', workers: 2, name: 'w' }
const ENDED: Happening = { what: 'run_ended', counts: {}, ms: 1 }
const claimed = (task: string, worker = 'w-1'): Happening => ({
  what: 'claimed',
  worker,
  task,
  title: `About ${task}`,
  token: 1,
})
const over = (
  task: string,
  outcome: 'completed' | 'failed' | 'waiting',
  ms: number,
  costUsd: number | null = null,
): Happening => ({
  what: 'ended',
  task,
  title: '',
  outcome,
  text: outcome === 'failed' ? 'exit 1' : 'did it',
  ms,
  attempts: 1,
  costUsd,
})
const agent = (task: string, attempt = 1): Happening => ({
  what: 'agent_started',
  task,
  attempt,
  pid: 1,
  session: null,
})

/** A run that told this, a second for each thing. */
function told(state: RunState, name: string, happenings: readonly Happening[]): void {
  let seconds = 0
  const now = () => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds++))
  const diary = new Diary(state, name, now, () => undefined)
  for (const happening of happenings) diary.tell(happening)
}

test('a run whose wards nobody has accepted is refused before it claims anything', async () => {
  const here = runHere('echo done', { wards: ['true'] })
  await addTask(here, 'one')
  writeFileSync(join(here.cwd, 'punchlist.json'), JSON.stringify({ wards: ['touch marker'] }))
  const refused = await run(here)
  expect([refused.status, refused.stderr]).toEqual([12, expect.stringContaining('touch marker')])
  expect(existsSync(join(here.cwd, 'marker'))).toBe(false)
  expect((await tasksIn(here))['req_0001']).toMatchObject({ state: 'to_execute', owner: null })
})

test('the last that a run tells programs is where its summary is, and the section for the pull request if that was asked for', async () => {
  const here = runHere('echo done')
  await addTask(here, 'one')
  expect((await runTelling(here)).at(-1)).toMatchObject({
    what: 'summary',
    path: 'tmp/work/default/todos/_summary.md',
    pullRequest: null,
  })
  expect((await runTelling(here, '--pr')).at(-1)).toMatchObject({
    what: 'summary',
    pullRequest: expect.stringContaining('## Work Session'),
  })
})

test('a task that was claimed several times is told once, with everything that was spent on it', () => {
  const state = new RunState(scratch(), 'seal')
  told(state, 'one', [
    STARTED,
    claimed('req_0001'),
    agent('req_0001'),
    { what: 'sent_on', task: 'req_0001', open: 2 },
    agent('req_0001'),
    { what: 'wards', task: 'req_0001', passed: false, text: '' },
    agent('req_0001', 2),
    over('req_0001', 'waiting', 3000, 0.5),
    claimed('req_0002', 'w-2'),
    over('req_0002', 'failed', 9000),
    claimed('req_0001', 'w-2'),
    agent('req_0001', 3),
    { what: 'wards', task: 'req_0001', passed: true, text: '' },
    over('req_0001', 'completed', 1000, 0.25),
    ENDED,
  ])
  const report = reportOn(state)
  expect(report).toMatchObject({
    run: 'one',
    how: 'ended',
    agent: 'claude-code',
    workers: 2,
    ms: 14_000,
    counts: { completed: 1, failed: 1 },
    costUsd: 0.75,
    failed: ['req_0002'],
    slowest: ['req_0002', 'req_0001'],
  })
  expect(report.tasks[0]).toEqual({
    task: 'req_0001',
    title: 'About req_0001',
    worker: 'w-2',
    outcome: 'completed',
    text: 'did it',
    attempts: [1, 2, 3],
    sentOn: 1,
    wards: { passed: 1, failed: 1 },
    ms: 4000,
    costUsd: 0.75,
  })
})

test('a run that was killed says so, and which tasks it was killed over; one that goes on is not taken for it', () => {
  const state = new RunState(scratch(), 'seal')
  told(state, 'two', [
    STARTED,
    claimed('req_0001'),
    over('req_0001', 'completed', 500),
    claimed('req_0002'),
    agent('req_0002'),
  ])
  appendFileSync(state.path('two.jsonl'), '{"at":"2026-03-01T10:00:09.000Z","what":"ended","ta')
  expect(reportOn(state)).toMatchObject({
    how: 'killed',
    lastAt: '2026-03-01T10:00:04.000Z',
    counts: { completed: 1, cut_off: 1 },
    tasks: [{ outcome: 'completed' }, { task: 'req_0002', outcome: 'cut_off', ms: 1000 }],
  })
  const over2 = underWay(state, 'two', { workers: [], names: [], since: '' })
  expect(reportOn(state)).toMatchObject({ how: 'going_on', counts: { completed: 1, going_on: 1 } })
  over2()
  expect(reportOn(state).how).toBe('killed')
})

test('only accounts that lie in the folder are read, and of those only what can be one', () => {
  const state = new RunState(scratch(), 'seal')
  const { folder } = state
  const above = join(folder, '..')
  told(state, 'outside', [STARTED, ENDED])
  renameSync(join(folder, 'outside.jsonl'), join(above, 'outside.jsonl'))
  told(state, 'inside', [STARTED, claimed('req_0001'), ENDED])
  symlinkSync(join(above, 'outside.jsonl'), join(folder, 'linked.jsonl'))
  mkdirSync(join(folder, 'zz.jsonl'))
  for (const name of ['../outside', 'linked', 'zz', '', '/etc/passwd', 'inside.jsonl']) {
    expect(() => reportOn(state, name)).toThrow(Problem)
  }
  const strange = [null, 5, [], { what: 'claimed' }, { at: 'x', what: 'claimed', task: 'req_0001' }]
  const foreign = { at: '2026-03-01T10:00:05.000Z', what: 'claimed', task: '../../etc', worker: 'w', title: 't' }
  const lines = [...strange, foreign, { ...foreign, task: 'req_0002', title: 7 }, { ...foreign, what: 'constructor' }]
  appendFileSync(join(folder, 'inside.jsonl'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  expect(reportOn(state, 'inside').tasks.map(({ task }) => task)).toEqual(['req_0001'])
  // One that came with somebody else's files, and one that is no account at all.
  told(new RunState(join(folder, '../..'), 'another'), 'zx', [STARTED, claimed('req_0009')])
  writeFileSync(join(folder, 'zy.jsonl'), 'no account\n')
  for (const name of ['zx', 'zy']) expect(() => reportOn(state, name)).toThrow('There is no run')
  expect(reportOn(state).run).toBe('inside')
  expect(existsSync(join(folder, 'zx.jsonl'))).toBe(true)
})

test('a hundred thousand lines are told like ten', () => {
  const state = new RunState(scratch(), 'seal')
  const lines = [
    { ...STARTED, seal: 'seal' },
    ...Array.from({ length: 33_333 }, (_, n) => {
      const task = `req_${String(n + 1).padStart(5, '0')}`
      return [claimed(task), agent(task), over(task, n % 1000 === 0 ? 'failed' : 'completed', n)]
    }).flat(),
  ]
  const at = '2026-03-01T10:00:00.000Z'
  state.make()
  writeFileSync(state.path('big.jsonl'), lines.map(line => `${JSON.stringify({ at, ...line })}\n`).join(''))
  const { counts, failed, slowest } = reportOn(state)
  expect(counts).toEqual({ completed: 33_299, failed: 34 })
  expect([failed.length, slowest[0]]).toEqual([34, 'req_33333'])
})

test('what a run did is told in its workspace afterwards, and where the output of each task lies', async () => {
  const here = runHere('case "$PUNCHLIST_TASK" in req_0002) echo no; exit 3;; *) echo did it;; esac')
  await addTask(here, 'Works')
  await addTask(here, 'Does not')
  expect((await run(here, '--max-attempts', '1', '--name', 'w')).status).toBe(5)
  const { stdout } = await punchlist(['run', '--report'], here)
  expect(stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d to \d\d:\d\d:\d\d UTC {2}\S+$/),
    '1 worker with agent.sh, named w',
    '1 completed, 1 failed',
    '',
    'Failed',
    'req_0002  Does not',
    '          ./agent.sh: exit 3',
    '          coordination/error/req_0002_does_not/artifacts/attempt_001.log',
    '',
    'Tasks',
    expect.stringMatching(
      /^req_0001 {2}completed {2}\S+ +w-1 {2}Works +coordination\/completed\/req_0001_works\/artifacts$/,
    ),
    expect.stringMatching(
      /^req_0002 {2}failed {5}\S+ +w-1 {2}Does not +coordination\/error\/req_0002_does_not\/artifacts$/,
    ),
    '',
  ])

  const child = begin(here, '--watch', '--name', 'x')
  await once(child.stdout!, 'data')
  const going = await answer<{ run: string; how: string; earlier: string[] }>(['run', '--report'], here)
  expect(going).toMatchObject({ how: 'going_on', earlier: [expect.any(String)] })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const killed = await punchlist(['run', '--report', going.run], here)
  expect(killed.stdout).toMatch(new RegExp(`^${going.run}  was killed`))
  const before = await answer<{ tasks: unknown[] }>(['run', '--report', going.earlier[0]!], here)
  expect(before.tasks).toHaveLength(2)
  expect(await refusal(['run', '--report', '../../x'], here)).toMatchObject({ status: 4, code: 'not_found' })
})
