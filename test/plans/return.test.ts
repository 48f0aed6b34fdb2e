import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { open, type Punchlist, planItem } from '../../src/index.ts'
import { answer, refusal } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const ENGINES: [string, () => string][] = [
  ['sqlite', () => 'sqlite::memory:'],
  ['postgres', () => freshSchema(inject('postgres'))],
]
const AT = '2026-11-16T09:30:00.000Z'

describe.each(ENGINES)('an item that was worked on to no avail, on %s', (_engine, store) => {
  let list: Punchlist

  beforeEach(async () => {
    list = await open({ root: scratch(), store: store(), actor: 'ann', turn: 't1', now: () => new Date(AT) })
    await list.plan.create({ items: [{ title: 'Deploy', context: 'Staging first.' }, { title: 'Tell them' }] })
  })
  afterEach(async () => await list.close())

  const only = async () => (await list.plan.list({ status: 'all' })).items[0]!
  const events = async () => await list.store.events({ of: { kind: planItem, id: (await only()).id } })

  test('waits again for anybody, and tells of the attempt to whoever starts it next', async () => {
    const { id } = await list.plan.start()
    const returned = await list.plan.return({ todoId: id, note: 'the server is down' })
    expect(returned).toEqual({
      id,
      title: 'Deploy',
      status: 'pending',
      context: `Staging first.\n[${AT} tried by ann: the server is down]`,
      remaining: 2,
      next: [
        { id, title: 'Deploy' },
        { id: expect.any(String), title: 'Tell them' },
      ],
    })
    expect(await only()).toMatchObject({ status: 'pending', owner: null, startedAt: null, needs: null, outcome: null })
    const next = await list.as({ actor: 'bob' }).plan.start()
    expect(next).toMatchObject({ id, status: 'in_progress', context: returned.context })
    expect((await events()).at(-2)).toMatchObject({
      from: 'in_progress',
      to: 'pending',
      by: 'ann',
      why: 'came to nothing: the server is down',
    })
  })

  test('is given back once, however often that is said', async () => {
    await list.plan.start()
    const first = await list.plan.return({ todoId: '1', note: 'no answer' })
    const before = await events()
    expect(await list.plan.return({ todoId: '1', note: 'no answer' })).toEqual(first)
    expect(await events()).toEqual(before)
  })

  test('is not given back when nobody has started it, when it is closed, or from another turn', async () => {
    const elsewhere = list.as({ turnId: 't2' })
    const { id } = await list.plan.start({ todoId: '2' })
    await expect(elsewhere.plan.return({ todoId: id, note: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    const refused = { code: 'move_refused', hint: expect.stringContaining('punchlist plan block') }
    await expect(list.plan.return({ todoId: '1', note: 'x' })).rejects.toMatchObject(refused)
    await list.plan.complete({ todoId: '1', outcome: 'deployed' })
    const closed = await only()
    await expect(list.plan.return({ todoId: '1', note: 'x' })).rejects.toMatchObject({ code: 'move_refused' })
    await list.plan.complete({ todoId: '2', outcome: 'nobody asked', status: 'cancelled' })
    await expect(list.plan.return({ todoId: '2', note: 'x' })).rejects.toMatchObject({ code: 'move_refused' })
    await expect(list.plan.return({ todoId: '3', note: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(list.plan.return({ todoId: '1', note: '' })).rejects.toMatchObject({ code: 'bad_input' })
    expect(await only()).toEqual(closed)
  })
})

test('an item that comes to nothing again and again tells of its last ten attempts', async () => {
  const list = await open({ root: scratch(), store: 'sqlite::memory:', actor: 'ann', now: () => new Date(AT) })
  await list.plan.create({ items: [{ title: 'Deploy', context: 'Staging first.' }] })
  for (let n = 1; n <= 12; n++) {
    await list.plan.start({ todoId: '1' })
    await list.plan.return({ todoId: '1', note: n > 10 ? 'the same again' : `try ${n}` })
  }
  const [first, ...attempts] = (await list.plan.list()).items[0]!.context.split('\n')
  expect(first).toBe('Staging first.')
  expect(attempts).toHaveLength(10)
  expect(attempts[0]).toContain('try 3]')
  expect(attempts.slice(-2)).toEqual(Array(2).fill(`[${AT} tried by ann: the same again]`))
  await list.close()
})

test('an item is given back from the command line', async () => {
  const cwd = scratch()
  await answer(['plan', 'add', 'Deploy'], { cwd })
  expect(await refusal(['plan', 'return', '1', 'x'], { cwd })).toMatchObject({ status: 5, code: 'move_refused' })
  await answer(['plan', 'start'], { cwd })
  const returned = await answer(['plan', 'return', '1', 'the server is down'], { cwd })
  expect(returned).toMatchObject({
    status: 'pending',
    context: expect.stringMatching(/^\[\S+Z tried by tester: the server is down\]$/),
    remaining: 1,
  })
  expect(await answer(['plan', 'return', '1', 'the server is down'], { cwd })).toEqual(returned)
  expect(await refusal(['plan', 'return'], { cwd })).toMatchObject({ status: 2, code: 'bad_input' })
})
