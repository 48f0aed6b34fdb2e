import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { everywhere, punchlist } from '../support/cli.ts'
import { type Branch, ids, type One, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

interface Grown {
  readonly tree: Branch[]
  readonly more: number
}

/** Ids and states of a tree, one line each. */
const drawn = (tree: readonly Branch[], indent = ''): string[] =>
  tree.flatMap(({ id, state, progress: { completed, waived, total }, children }) => [
    `${indent}${id} ${state} ${completed}+${waived}/${total}`,
    ...drawn(children, `${indent}  `),
  ])

describe.each(ENGINES)('a task with parts, from the command line, on %s', (engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })
  const finish = async (typist: Typist, ...names: string[]) => {
    for (const name of names) {
      const { token } = await typist.claim('w1', name)
      await typist.run('complete', name, '--token', String(token))
    }
  }

  test('is divided in one call, three levels deep, and ends when all of it has', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['Refactor', { title: 'Unrelated', priority: 'LOW' }])
    await typist.claim('w1', '1')
    const parts = await typist.add(['Analyse', { title: 'Rewrite', dependsOn: ['#1'] }, 'Test'], '--parent', '1')
    expect(ids(parts)).toEqual(['req_0001_01', 'req_0001_02', 'req_0001_03'])
    expect(parts[1]).toMatchObject({ parent: 'req_0001', dependsOn: ['req_0001_01'], blockers: 1 })
    expect(ids(await typist.add(['Deeper'], '--parent', 'req_0001_02'))).toEqual(['req_0001_02_01'])
    expect(ids(await typist.add(['Deepest'], '--parent', '1_02_01'))).toEqual(['req_0001_02_01_01'])
    expect((await typist.show('1')).children).toEqual(ids(parts))

    const early = await typist.refused('complete', '1', '--token', '1')
    expect(early).toMatchObject({ status: 5, code: 'move_refused' })
    expect(early.message).toBe(
      'req_0001 waits for req_0001_01 (to_execute), req_0001_02 (to_execute), req_0001_03 (to_execute)',
    )
    await typist.run('return', '1', '--token', '1')
    expect((await typist.refused('claim', '1', '--worker', 'w1')).status).toBe(5)
    // What is free is given out in order, and the task itself comes last.
    const order: string[] = []
    for (let n = 0; n < 6; n++) {
      const { id, token } = await typist.claim('w1')
      order.push(id)
      await typist.run('complete', id, '--token', String(token))
    }
    expect(order).toEqual([
      'req_0001_01',
      'req_0001_03',
      'req_0001_02_01_01',
      'req_0001_02_01',
      'req_0001_02',
      'req_0001',
    ])
    const { tree, more } = await typist.run<Grown>('tree', '1')
    expect([drawn(tree), more]).toEqual([
      [
        'req_0001 completed 5+0/5',
        '  req_0001_01 completed 0+0/0',
        '  req_0001_02 completed 2+0/2',
        '    req_0001_02_01 completed 1+0/1',
        '      req_0001_02_01_01 completed 0+0/0',
        '  req_0001_03 completed 0+0/0',
      ],
      0,
    ])
    if (engine === 'files') {
      const parent = join(cwd, 'coordination/completed/req_0001_refactor')
      const links = readdirSync(parent).filter(name => lstatSync(join(parent, name)).isSymbolicLink())
      expect(links.toSorted()).toEqual(['req_0001_01_analyse', 'req_0001_02_rewrite', 'req_0001_03_test'])
      for (const link of links) expect(readlinkSync(join(parent, link))).toBe(`../../completed/${link}`)
      expect(readdirSync(join(parent, 'req_0001_01_analyse'))).toContain('req_0001_01_analyse.md')
    }
  })

  test('is shown as a tree: states, owners, progress, what waits for a person', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', 'B'])
    await typist.add(['one', 'two', 'three'], '--parent', '1')
    await finish(typist, '1_01')
    await typist.claim('w7', '1_02')
    await typist.run('checkpoint', '1_02', '--summary', 's', '--needs', 'n', '--token', '1')
    const { tree } = await typist.run<Grown>('tree')
    expect(drawn(tree)).toEqual([
      'req_0001 to_execute 1+0/3',
      '  req_0001_01 completed 0+0/0',
      '  req_0001_02 in_progress 0+0/0',
      '  req_0001_03 to_execute 0+0/0',
      'req_0002 to_execute 0+0/0',
    ])
    expect(tree[0]!.children[1]).toMatchObject({ owner: 'w7', waiting: true })
    expect(await typist.run<Grown>('tree', '--limit', '1')).toMatchObject({ tree: [{ id: 'req_0001' }], more: 1 })
    expect((await typist.run<Grown>('tree', '1_02')).tree).toMatchObject([{ id: 'req_0001_02', children: [] }])
    const people = await punchlist(['queue', 'tree'], { cwd })
    expect(people.stdout).toMatch(/req_0001 .*1\/3\n {2}req_0001_01 .*\n {2}req_0001_02 .*w7, waits for a reply/)
    expect((await typist.refused('tree', '9')).status).toBe(4)
  })

  test('is not complete while a part has failed or was cancelled, unless it goes on without it, for a reason', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A'])
    await typist.add(['one', 'two', 'three'], '--parent', '1')
    await finish(typist, '1_01')
    const { token } = await typist.claim('w1', '1_02')
    await typist.run('fail', '1_02', '--type', 't', '--what', 'w', '--token', String(token))
    await typist.run('cancel', '1_03', '--reason', 'not needed')
    const blocked = await typist.refused('claim', '1', '--worker', 'w1')
    expect(blocked.message).toBe('req_0001 waits for req_0001_02 (error), req_0001_03 (cancelled)')
    expect(blocked.hint).toContain('punchlist queue retry req_0001_02')
    expect(await typist.refused('release', '1', '--without', '1_02')).toMatchObject({ status: 2, code: 'bad_input' })
    const stranger = await typist.refused('release', '1', '--without', '9', '--reason', 'x')
    expect(stranger).toMatchObject({ status: 2, details: { waitsFor: ['req_0001_01', 'req_0001_02', 'req_0001_03'] } })
    const waived = await typist.run('release', '1', '--without', '1_02', '--reason', 'not worth it\nat all')
    expect(waived.task).toMatchObject({ blockers: 1, waived: { req_0001_02: 'not worth it at all' } })
    await typist.run('release', '1', '--without', '1_03', '--reason', 'cancelled')
    const claimed = await typist.claim('w1', '1')
    expect(claimed.blockers).toBe(0)
    await typist.add(['four', 'five'], '--parent', '1')
    expect((await typist.refused('complete', '1', '--token', String(claimed.token))).message).toContain('req_0001_04')
    const half = ['--without', '1_04', '--reason', 'came late', '--token', String(claimed.token)]
    expect((await typist.refused('complete', '1', ...half)).status).toBe(5)
    expect((await typist.show('1')).waived).not.toHaveProperty('req_0001_04')
    const last = [...half, '--without', '1_05']
    const { task } = await typist.run('complete', '1', ...last)
    expect(task).toMatchObject({ state: 'completed', waived: { req_0001_04: 'came late', req_0001_03: 'cancelled' } })
    const { tree } = await typist.run<Grown>('tree', '1')
    expect(tree[0]).toMatchObject({ progress: { completed: 1, waived: 4, total: 5 } })
    expect((await typist.show('1')).texts['waived.md']).toContain('- **req_0001_02:** not worth it at all')
    expect(await typist.addRefused(['six'], '--parent', '1')).toMatchObject({ status: 5, code: 'move_refused' })
  })

  test('is cancelled with its open parts, or not at all', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A'])
    await typist.add(['one', 'two'], '--parent', '1')
    await typist.add(['deep'], '--parent', '1_02')
    await finish(typist, '1_01')
    const open = await typist.refused('cancel', '1', '--reason', 'no')
    expect(open).toMatchObject({
      status: 5,
      details: { open: ['req_0001_02'] },
      hint: expect.stringContaining('--children'),
    })
    const gone = await typist.run<One & { parts: string[] }>('cancel', '1', '--children', '--reason', 'no use')
    expect(gone).toMatchObject({ task: { state: 'cancelled' }, parts: ['req_0001_02_01', 'req_0001_02'] })
    const states = (await typist.list('--all')).tasks.map(({ id, state }) => `${id} ${state}`)
    expect(states.toSorted()).toEqual([
      'req_0001 cancelled',
      'req_0001_01 completed',
      'req_0001_02 cancelled',
      'req_0001_02_01 cancelled',
    ])
    expect((await typist.show('1_02_01')).texts['execution_log.md']).toContain('no use')
    expect((await typist.refused('cancel', '1')).status).toBe(2)
  })

  test('is cancelled with its parts by its own token, whoever has those; what is refused cancels none of them', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A'])
    const { token } = await typist.claim('boss')
    await typist.add(['one', 'two'], '--parent', '1')
    // The second is claimed for the second time: its token is another than that of the first.
    await typist.run('claim', '1_01', '--worker', 'w1')
    await typist.run('claim', '1_02', '--worker', 'w2')
    await typist.run('return', '1_02')
    await typist.run('claim', '1_02', '--worker', 'w3')
    const states = async () => (await typist.list('--all')).tasks.map(({ id, state }) => `${id} ${state}`).toSorted()
    const before = await states()
    const late = typist.with({ PUNCHLIST_TOKEN: String(token + 5) })
    expect(await late.refused('cancel', '1', '--children', '--reason', 'no')).toMatchObject({ status: 6 })
    expect(await states()).toEqual(before)
    const own = typist.with({ PUNCHLIST_TOKEN: String(token) })
    await own.run('cancel', '1', '--children', '--reason', 'no use')
    expect(await states()).toEqual(['req_0001 cancelled', 'req_0001_01 cancelled', 'req_0001_02 cancelled'])
  })

  test('has ninety-nine parts at most; the hundredth is refused, and nothing of its call is there', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A'])
    await typist.add(
      Array.from({ length: 98 }, (_, n) => `part ${n}`),
      '--parent',
      '1',
    )
    const full = await typist.addRefused(['99', '100'], '--parent', '1')
    expect(full).toMatchObject({
      status: 5,
      code: 'move_refused',
      hint: expect.stringContaining('--parent req_0001_99'),
    })
    expect(ids(await typist.add(['99'], '--parent', '1'))).toEqual(['req_0001_99'])
    expect((await typist.addRefused(['100'], '--parent', '1')).status).toBe(5)
    expect((await typist.show('1')).children).toHaveLength(99)
    expect(await typist.addRefused(['x'], '--parent', '7')).toMatchObject({ status: 4 })
  })

  test('never waits in a circle: the circle is named', async () => {
    const typist = new Typist(scratch())
    const two = await typist.addRefused([
      { title: 'A', dependsOn: ['#2'] },
      { title: 'B', dependsOn: ['#1'] },
    ])
    expect(two).toMatchObject({ status: 5, code: 'move_refused', details: { cycle: ['#1', '#2', '#1'] } })
    expect(two.message).toContain('#1 -> #2 -> #1')
    expect((await typist.addRefused([{ title: 'A', dependsOn: ['#1'] }])).details['cycle']).toEqual(['#1', '#1'])
    await typist.add(['A', { title: 'B', dependsOn: ['#1'] }])
    // A part is waited for by what it is a part of.
    const part = await typist.addRefused([{ title: 'P', dependsOn: ['req_0002'] }], '--parent', '1')
    expect(part.status).toBe(5)
    expect(part.details['cycle']).toEqual(expect.arrayContaining(['#1', 'req_0002', 'req_0001']))
    const own = await typist.addRefused([{ title: 'P', dependsOn: ['req_0001'] }], '--parent', '1')
    expect(own).toMatchObject({ status: 5, details: { cycle: expect.arrayContaining(['req_0001']) } })
    expect((await typist.list('--all')).tasks).toHaveLength(2)
  })

  test('is freed by what it depends on, or goes on without it', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A', 'B', { title: 'C', dependsOn: ['#1', '#2'] }])
    expect((await typist.refused('claim', '3', '--worker', 'w1')).message).toBe(
      'req_0003 waits for req_0001 (to_execute), req_0002 (to_execute)',
    )
    await finish(typist, '1')
    expect((await typist.show('3')).waitsFor).toMatchObject([{ id: 'req_0002' }])
    await typist.run('cancel', '2', '--reason', 'no')
    const dead = await typist.refused('claim', '3', '--worker', 'w1')
    expect(dead.hint).toBe(
      'to go on without req_0002: punchlist queue release req_0003 --without req_0002 --reason TEXT.',
    )
    const free = await typist.run('release', '3', '--without', '2', '--reason', 'not needed')
    expect(free.task.blockers).toBe(0)
    expect((await typist.claim('w1')).id).toBe('req_0003')
  })
})
