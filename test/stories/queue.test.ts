import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { answer, everywhere, punchlist } from '../support/cli.ts'
import { ids, type Listed, leaseless, path, type Several, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

describe.each(ENGINES)('a queue, from the command line, on %s', (engine, environment) => {
  const inFiles = engine === 'files'
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('keeps everything that was said of a task, and shows it with its history', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd, { PUNCHLIST_SESSION: 's1' })
    await typist.add(['First'])
    const said = ['--description', 'All of them.\n\n## Notes\n\nare part of it', '--expect', 'one PR']
    const known = [
      '--type',
      'Research',
      '--priority',
      'URGENT',
      '--target-worker',
      'worker 1',
      '--depends-on',
      '1',
      '--writes',
      'config/',
    ]
    const more = ['--entry-criteria', 'a machine', '--exit-criteria', 'tests green', '--subtasks', '- one\n- two']
    const rest = ['--notes', 'see the forum', '--discrete', 'yes', '--slug', 'to_yaml']
    const { task } = await typist.run('add', 'Convert: "all" | of them', ...said, ...known, ...more, ...rest)
    const dir = 'coordination/to_execute/req_0002_to_yaml'
    expect(task).toEqual({
      id: 'req_0002',
      slug: 'to_yaml',
      state: 'to_execute',
      dir: inFiles ? dir : null,
      title: 'Convert: "all" | of them',
      type: 'Research',
      priority: 'URGENT',
      posted: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      parent: null,
      children: [],
      dependsOn: ['req_0001'],
      blockers: 1,
      writes: ['config'],
      origin: null,
      waived: {},
      targetWorker: 'worker 1',
      session: 's1',
      owner: null,
      token: 0,
      leaseUntil: null,
      startedAt: null,
      finishedAt: null,
      verifiedAt: null,
      claimed: false,
      checkpoints: 0,
      waiting: false,
    })
    expect(existsSync(join(cwd, 'coordination'))).toBe(inFiles)
    if (inFiles) {
      const file = readFileSync(join(cwd, dir, 'req_0002_to_yaml.md'), 'utf8')
      expect(file).toMatch(/^# Request #0002: Convert: "all" \| of them\n\n\*\*Type:\*\* Research\n/)
      expect(file).toContain('\n**Depends On:** req_0001\n')
    }
    const { history, ...shown } = await typist.show('2')
    expect(shown).toEqual({
      ...task,
      description: 'All of them.\n\n## Notes\n\nare part of it',
      expect: 'one PR',
      entryCriteria: 'a machine',
      exitCriteria: 'tests green',
      subtasks: '- one\n- two',
      notes: 'see the forum',
      discrete: 'yes',
      waitsFor: [{ id: 'req_0001', state: 'to_execute', title: 'First' }],
      texts: {},
    })
    expect(history).toMatchObject([{ from: null, to: 'to_execute', by: 'tester', why: null, token: 0 }])
    for (const name of ['req_0002', '#0002', '0002', 'req_0002_to_yaml', 'REQ_2']) {
      expect((await typist.show(name)).id).toBe('req_0002')
    }
    const people = await punchlist(['queue', 'show', '2'], { cwd })
    for (const part of ['Convert: "all" | of them', 'are part of it', 'Exit Criteria', 'waits for']) {
      expect(people.stdout).toContain(part)
    }
  })

  test('holds back what is staged until it is released, once', async () => {
    const typist = new Typist(scratch())
    const [staged] = await typist.add(['Later'], '--stage')
    expect(staged).toMatchObject({ id: 'req_0001', state: 'staged', token: 0 })
    expect(await typist.refused('claim', '--worker', 'w1')).toMatchObject({
      status: 3,
      code: 'nothing_to_do',
      hint: expect.stringContaining('punchlist queue release'),
      details: { counts: { staged: 1 } },
    })
    const named = await typist.refused('claim', '1', '--worker', 'w1')
    expect(named).toMatchObject({ status: 5, code: 'move_refused', hint: expect.stringContaining('queue release') })
    const { task } = await typist.run('release', '1')
    expect(task.state).toBe('to_execute')
    expect(await typist.run('release', '1')).toEqual({ task })
    expect(path(await typist.show('1'))).toEqual(['staged', 'to_execute'])
    await typist.claim('w1')
    const late = await typist.refused('release', '1')
    expect(late).toMatchObject({ status: 5, hint: expect.stringContaining('punchlist queue return req_0001') })
  })

  test('adds a batch whole or not at all, and the same key once', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    const [a, b, c] = await typist.add([
      { title: 'A', key: 'k1' },
      { title: 'B', dependsOn: ['#1'] },
      { title: 'C', dependsOn: ['#2', '#1'], priority: 'LOW' },
    ])
    expect(ids([a!, b!, c!])).toEqual(['req_0001', 'req_0002', 'req_0003'])
    expect([b!.dependsOn, c!.dependsOn]).toEqual([['req_0001'], ['req_0002', 'req_0001']])
    expect([a!.blockers, b!.blockers, c!.blockers]).toEqual([0, 1, 2])
    const again = await typist.run('add', 'A in other words', '--description', 'd', '--expect', 'e', '--key', 'k1')
    expect(again.task).toEqual(a)
    expect((await typist.show('1')).title).toBe('A')
    const bad = await typist.addRefused(['good', { title: 'bad', slug: '../up' }, { title: '', priority: 'SOON' }])
    expect(bad).toMatchObject({ status: 2, code: 'bad_input' })
    expect(bad.message).toMatch(/items\.1\.slug.*items\.2\.title.*items\.2\.priority/)
    const unknown = await typist.addRefused(['good', { title: 'bad', dependsOn: ['req_0099'] }])
    expect(unknown).toMatchObject({ status: 4, code: 'not_found', details: { ids: ['req_0099'] } })
    expect((await typist.addRefused(['a', { title: 'b', dependsOn: ['#7'] }])).status).toBe(4)
    expect(ids((await typist.list('--all')).tasks)).toHaveLength(3)
    writeFileSync(join(cwd, 'more.json'), JSON.stringify([{ title: 'D', description: 'd', expect: 'e' }]))
    const { task } = await typist.run<Several>('add', '--items', 'more.json', '--stage')
    // What was refused has taken no number.
    expect(task).toMatchObject({ id: 'req_0004', state: 'staged' })
  })

  test('is listed in the order of claims, in pages, by state, worker and parent', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    const priorities = ['LOW', 'NORMAL', 'CRITICAL', 'HIGH', 'URGENT', 'NORMAL']
    await typist.add(priorities.map((priority, n) => ({ title: `task ${n + 1}`, priority })))
    await typist.add(
      Array.from({ length: 54 }, (_, n) => ({ title: `more ${n}`, priority: 'LOW' })),
      '--stage',
    )
    const order = ['req_0003', 'req_0005', 'req_0004', 'req_0002', 'req_0006', 'req_0001']
    expect(ids((await typist.list('--state', 'to_execute')).tasks)).toEqual(order)
    const first = await typist.list()
    expect([first.tasks.length, first.more, first.cursor]).toEqual([50, 10, first.tasks[49]!.id])
    const second = await typist.list('--after', first.cursor!)
    expect([second.tasks.length, second.more, second.cursor]).toEqual([10, 0, null])
    const all = await typist.list('--all')
    expect(all.tasks).toEqual([...first.tasks, ...second.tasks])
    const paged: string[] = []
    for (let after: string | null = null, left = 60; left > 0; ) {
      const page: Listed = await typist.list('--limit', '25', ...(after ? ['--after', after] : []))
      paged.push(...ids(page.tasks))
      left -= page.tasks.length
      expect(page.more).toBe(left)
      after = page.cursor
    }
    expect(paged).toEqual(ids(all.tasks))
    await typist.claim('w1')
    await typist.claim('w2')
    await typist.add(['part'], '--parent', '2')
    expect(ids((await typist.list('--worker', 'w2')).tasks)).toEqual(['req_0005'])
    expect(ids((await typist.list('--parent', '2')).tasks)).toEqual(['req_0002_01'])
    const several = await typist.list('--state', 'to_execute', '--state', 'in_progress')
    expect(ids(several.tasks).slice(0, 3)).toEqual(['req_0003', 'req_0005', 'req_0004'])
    const people = await punchlist(['queue', 'list', '--limit', '3'], { cwd })
    expect(people.stdout).toContain('58 more; --all shows everything')
    expect(await typist.refused('list', '--after', 'req_0999')).toMatchObject({ status: 4 })
  })

  test('tells in status and log what goes on', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', 'B', 'C'])
    const { token } = await typist.claim('w1')
    await typist.claim('w2')
    await typist.run('checkpoint', '1', '--summary', 's', '--needs', 'n', '--token', String(token))
    const { queue } = await answer<{ queue: Record<string, unknown> }>(['status'], { cwd })
    expect(queue).toMatchObject({ counts: { in_progress: 2, to_execute: 1 } })
    expect(JSON.stringify(queue['working'])).toContain('req_0002')
    expect(JSON.stringify(queue['waiting'])).toContain('req_0001')
    await typist.run('complete', '1', '--token', String(token))
    const told = (await typist.log()).map(({ id, from, to, by, token: of }) => [id, from, to, by, of])
    expect(told).toEqual([
      ['req_0001', null, 'to_execute', 'tester', 0],
      ['req_0002', null, 'to_execute', 'tester', 0],
      ['req_0003', null, 'to_execute', 'tester', 0],
      ['req_0001', 'to_execute', 'in_progress', 'w1', 1],
      ['req_0002', 'to_execute', 'in_progress', 'w2', 1],
      ['req_0001', 'in_progress', 'in_progress', 'tester', 1],
      ['req_0001', 'in_progress', 'completed', 'tester', 1],
    ])
    const doctor = await punchlist(['doctor'], { cwd })
    expect([doctor.status, doctor.stderr]).toEqual([0, ''])
  })

  test('has verbs that can be repeated, each answered as before', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A', 'B', 'C', 'D'])
    for (let n = 1; n <= 4; n++) await typist.claim('w1')
    const worker = typist.with({ PUNCHLIST_ACTOR: 'w1' })
    const twice = async (...args: string[]) => {
      const first = await worker.run(...args)
      const moves = (await worker.show(first.task.id)).history.length
      const second = await worker.run(...args)
      expect(leaseless(second.task), args[0]).toEqual(leaseless(first.task))
      expect((await worker.show(first.task.id)).history, args[0]).toHaveLength(moves)
      return first.task
    }
    await twice('claim', '1')
    await twice('heartbeat', '1', '--token', '1')
    expect((await twice('checkpoint', '1', '--summary', 's', '--needs', 'n', '--token', '1')).checkpoints).toBe(1)
    await twice('reply', '1', 'two spaces')
    await twice('complete', '1', '--token', '1', '--note', 'done')
    expect((await worker.show('1')).texts['execution_log.md']!.match(/done/g)).toHaveLength(1)
    await twice('fail', '2', '--type', 't', '--what', 'w', '--token', '1')
    expect(Object.keys((await worker.show('2')).texts)).toEqual(['error_report.md'])
    await twice('retry', '2', '--reason', 'again')
    expect((await twice('return', '3', '--token', '1', '--reason', 'lunch')).state).toBe('to_execute')
    await twice('return', '3')
    await twice('cancel', '4', '--reason', 'no')
  })
})
