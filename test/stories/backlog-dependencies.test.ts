import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES, path, ready, type Shown, Typist } from '../support/backlog.ts'
import { everywhere, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

describe.each(ENGINES)('a todo that waits for others, on %s', (_engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('is not claimed, completed or handed over until they are done, and the open ones are named', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(ready('a'), ready('b'))
    await typist.add(ready('c', { dependsOn: ['review/1', 'review/2'] }), { title: 'd', dependsOn: ['1'] })
    const before = await typist.show('3')
    const waits = { status: 5, code: 'move_refused', details: { open: ['review/001', 'review/002'], missing: [] } }
    expect(await typist.refused('claim', '3')).toMatchObject({
      ...waits,
      message: 'review/003 still waits for review/001, review/002',
      hint: expect.stringContaining(
        'punchlist backlog claim work/default/review/003 --without review/001 --reason',
      ) as string,
    })
    expect((await typist.refused('claim', '4', '--triage')).details['open']).toEqual(['review/001'])
    expect((await typist.refused('complete', '4', '--reason', 'x')).details['open']).toEqual(['review/001'])
    expect(await refusal(['queue', 'add', '--from-backlog', '3'], { cwd })).toMatchObject(waits)
    expect((await typist.show('4')).status).toBe('pending')
    expect(await typist.show('3')).toEqual(before)
    await typist.run('claim', '1')
    await typist.run('complete', '1', '--reason', 'x')
    await typist.run('dismiss', '2', '--as', 'out_of_scope', '--reason', 'x')
    expect((await typist.run('claim', '3')).todo.status).toBe('in_progress')
    expect((await typist.run('complete', '4', '--reason', 'x')).todo.status).toBe('complete')
  })

  test('goes on without some of them with a reason, and its history says so', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'), ready('b'))
    await typist.add(ready('c', { dependsOn: ['1', '2'] }), { title: 'd', dependsOn: ['1'] })
    const silent = await typist.refused('claim', '3', '--without', '1', '--without', '2')
    expect(silent).toMatchObject({ status: 2, code: 'bad_input', message: 'reason: is missing' })
    const half = await typist.refused('claim', '3', '--without', 'review/1', '--reason', 'not needed')
    expect(half.details['open']).toEqual(['review/002'])
    const other = await typist.refused(
      'claim',
      '3',
      '--without',
      'work/other/review/1',
      '--without',
      '2',
      '--reason',
      'x',
    )
    expect(other.details['open']).toEqual(['review/001'])
    const all = ['--without', 'review/1', '--without', 'work/default/review/2', '--reason', 'not needed']
    expect((await typist.run('claim', '3', ...all)).todo).toMatchObject({ status: 'in_progress', dependencies: [] })
    const { todo } = await typist.run<Shown>('show', '3')
    expect(todo.history.at(-1)?.why).toBe('without review/001, review/002: not needed')
    // Its own claim is renewed whatever it waits for.
    expect((await typist.run('claim', '3')).todo.token).toBe(1)
    const done = ['complete', '4', '--without', '1', '--reason', 'fixed by hand']
    expect((await typist.run(...done)).todo).toMatchObject({ status: 'complete', resolution_reason: 'fixed by hand' })
    expect((await typist.run(...done)).todo.status).toBe('complete')
    expect((await typist.show('4')).history.at(-1)?.why).toBe('fixed by hand (without review/001)')
    expect(path(await typist.show('4'))).toEqual(['pending', 'complete'])
  })
})
