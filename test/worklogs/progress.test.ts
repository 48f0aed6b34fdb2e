import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { knownIssues } from '../../src/worklogs/issues.ts'
import { overviewOf } from '../../src/worklogs/progress.ts'
import { wardVerdict } from '../../src/worklogs/verdict.ts'
import { attempt, boxes, session, worked } from './accounts.ts'

describe('how far a worker is', () => {
  test('of several attempts at a task the last counts, and the decisions of all', () => {
    const first = attempt(1, {
      status: 'failed',
      claimed: '2026-11-16T05:00:00Z',
      subtasks: boxes(true, true, false),
      decisions: ['tried the cache'],
    })
    const second = attempt(2, { status: 'in_progress', subtasks: boxes(false) })
    const third = attempt(1, {
      claimed: '2026-11-16T05:30:00Z',
      completed: '2026-11-16T06:00:00Z',
      subtasks: boxes(true),
      decisions: ['no cache', 'b'],
    })
    expect(worked('alice', [first, second, third], { decisions: ['outside'], role: null, plan_path: null })).toEqual({
      worker: 'alice',
      role: 'unknown',
      status: 'completed',
      plan_path: null,
      tasks_completed: 1,
      tasks_total: 2,
      subtasks_completed: 1,
      subtasks_total: 2,
      wards_failed: 0,
      wards_passed: 0,
      wards_verified: 0,
      tasks: ['2 Subject 2', '1 Subject 1'],
      completed: ['1 Subject 1'],
      left: [second],
      decisions: [
        { text: 'tried the cache', task: 1, at: '2026-11-16T05:00:00Z' },
        { text: 'no cache', task: 1, at: '2026-11-16T06:00:00Z' },
        { text: 'b', task: 1, at: '2026-11-16T06:00:00Z' },
        { text: 'outside', task: null, at: null },
      ],
    })
  })

  test('a completed task that was begun again and failed is not completed', () => {
    expect(worked('alice', [attempt(1), attempt(1, { status: 'failed' })])).toMatchObject({
      tasks_completed: 0,
      tasks_total: 1,
    })
  })
})

describe('how far a session is', () => {
  test('workers are in the order of their names, whatever their language', () => {
    const names = ['b', 'a', 'B', 'a-b', 'a_b', 'A', '10', '9']
    const { workers } = session(...names.map(name => worked(name, [])))
    expect(workers.map(({ worker }) => worker)).toEqual(['10', '9', 'A', 'B', 'a', 'a-b', 'a_b', 'b'])
  })

  test('totals are sums over the workers; a task that two of them had is one of its own', () => {
    const alice = worked('alice', [attempt(1, { subtasks: boxes(true, false) }), attempt(2, { status: 'failed' })])
    const bob = worked('bob', [attempt(2, { subtasks: boxes(true) }), attempt(3, { status: 'unknown' })])
    expect(session(bob, alice)).toMatchObject({
      total_tasks: 4,
      completed_tasks: 2,
      total_subtasks: 3,
      completed_subtasks: 2,
      unique_tasks: 3,
      unique_completed: 2,
    })
  })

  test('two tasks of one number are two; one task of the queue is one, under whatever number', () => {
    const alice = worked('alice', [
      attempt(1, { subject: 'Sign it', status: 'failed' }),
      attempt(2, { subject: 'req_0007 Write it', status: 'failed' }),
    ])
    const bob = worked('bob', [
      attempt(1, { subject: 'Measure it' }),
      attempt(5, { subject: 'req_0007: the notes' }),
      attempt(6, { subject: 'req_0007_01 Its part' }),
    ])
    const both = session(alice, bob)
    expect(both).toMatchObject({ total_tasks: 5, completed_tasks: 3, unique_tasks: 4, unique_completed: 3 })
    expect(knownIssues(both)).toEqual([expect.stringContaining('task 1 (Sign it) failed')])
  })

  test('each plan is named once, and none where there is none', () => {
    const of = (worker: string, plan_path: string | null) => worked(worker, [], { plan_path })
    expect(session(of('a', 'x.md'), of('b', 'y.md'), of('c', 'x.md'), of('d', null)).plans).toEqual(['x.md', 'y.md'])
    expect(session(of('a', null)).plans).toEqual([])
  })

  test('nobody is a session, too', () => {
    expect(overviewOf([], [])).toMatchObject({ workers: [], total_tasks: 0, unique_tasks: 0, wards: 'unknown' })
  })

  test.each([
    [
      'claimed',
      'of every completed task',
      [attempt(1, { ward: 'passed: npm test' }), attempt(2, { ward: 'all green' })],
    ],
    ['unknown', 'where one completed task says nothing', [attempt(1, { ward: 'passed: npm test' }), attempt(2)]],
    ['unknown', 'where nothing was completed', [attempt(1, { status: 'in_progress', ward: 'passed: npm test' })]],
    [
      'failed',
      'where one says so, completed or not',
      [
        attempt(1, { ward: 'passed: npm test' }),
        attempt(2, { status: 'in_progress', ward: 'failed: npm test (exit 1)' }),
      ],
    ],
    [
      'claimed',
      'where an earlier attempt had failed',
      [attempt(1, { status: 'failed', ward: 'failed: npm test' }), attempt(1, { ward: 'passed: npm test' })],
    ],
  ])('the wards are %s %s', (wards, _, sections) => {
    expect(session(worked('alice', sections)).wards).toBe(wards)
  })

  test('the wards are passed where punchlist ran them for every completed task', () => {
    const sections = [attempt(1, { ward: 'passed: npm test' }), attempt(2, { ward: 'passed: npm test' })]
    expect(session(worked('alice', sections, {}, [1, 2])).wards).toBe('passed')
    expect(session(worked('alice', sections, {}, [1])).wards).toBe('claimed')
    expect(session(worked('alice', [attempt(1)], {}, [1])).wards).toBe('unknown')
  })

  test('what was seen of the wards counts more than what was written', () => {
    const alice = worked('alice', [attempt(1, { ward: 'passed: npm test' })])
    for (const seen of ['passed', 'failed', 'unknown'] as const) expect(overviewOf([alice], [], seen).wards).toBe(seen)
  })
})

describe('a ward result', () => {
  test.each([
    'passed: npm test',
    'PASS',
    'Passed',
    '✅ ok',
    '✓ 12 tests',
    'all green',
    '**passed**',
    'exit 0',
    'exit code: 0',
    '0 failed',
    'no failures',
    'no failing tests',
    'failures: 0',
    '12 passed, 0 failed',
    'Failed 0, passed 3',
    '# pass 12\n# fail 0',
    'tests: 0 errors',
    'passed: npm run test:fail',
    'passed: npm test; npm run check-failed',
    'passed: npm test (reported: 2 failed before)',
    'succeeded',
    'passed: 10, failed: 0',
  ])('%j has passed', text => {
    expect(wardVerdict(text)).toBe('passed')
  })

  test.each([
    'failed: npm test (exit 1)',
    'FAIL (exit 1)',
    '❌',
    '✗ 3 of 9',
    '2 failures',
    '1 failed',
    '10 passed, 2 failed',
    'passed: 10, failed: 2',
    'passed: lint; failed: tests',
    'did not pass',
    "didn't pass",
    'not ok',
    'not green',
    'exit code 2',
    '100 errors',
    'tsc error',
    'failed: npm test (exit 1) (reported: all green)',
    'passed except for lint, which fails',
    'build is broken',
    '10 failed',
  ])('%j has failed', text => {
    expect(wardVerdict(text)).toBe('failed')
  })

  test.each([
    '',
    'not run',
    'not run: the wards are not trusted here (reported: passed)',
    'not run: the wards are not trusted here (reported: 2 failed)',
    'not yet run',
    "wasn't run",
    'skipped',
    'n/a',
    'see log',
    'untested',
    '0 passed',
  ])('%j tells nothing', text => {
    expect(wardVerdict(text)).toBe('unknown')
  })

  test('is read in one go, however long', () => {
    fc.assert(
      fc.property(fc.constantFrom('no ', 'fail ', '0 ', 'not ', ' ', 'exit ', 'exit code ', '*_`'), unit => {
        wardVerdict(unit.repeat(100_000))
      }),
      { numRuns: 20 },
    )
  })
})
