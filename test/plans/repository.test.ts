import { describe, expect, inject, test } from 'vitest'
import { open } from '../../src/index.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const STORES = { sqlite: () => 'sqlite::memory:', postgres: () => freshSchema(inject('postgres')) }
const code = async (work: () => Promise<unknown>) =>
  (
    (await work().then(
      () => ({ code: 'done' }),
      (error: unknown) => error,
    )) as { code: string }
  ).code

describe.each(Object.entries(STORES))('the rows of a plan, on %s', (_engine, store) => {
  const opened = async () => {
    const list = await open({ root: scratch(), store: store(), conversation: 'c', turn: 't', actor: 'ann' })
    return { list, rows: list.plan.repository, row: { conversationId: 'c', turnId: 't', title: 'A' } }
  }

  test('wrong types, unknown fields and what names a row are refused', async () => {
    const { list, rows, row } = await opened()
    const made = await rows.create(row)
    const wrong = [
      { ...row, title: 1 },
      { ...row, title: ' ' },
      { ...row, title: 'two\nlines' },
      { ...row, title: 'x'.repeat(501) },
      { ...row, turnId: {} },
      { ...row, turnId: undefined },
      { ...row, priority: -1 },
      { ...row, priority: '1' },
      { ...row, context: null },
      { ...row, startedAt: 'soon' },
      { ...row, status: 'done' },
      { ...row, verifiedAt: '2026-01-01T00:00:00.000Z' },
      { ...row, checkCommand: ['true'] },
      null,
    ]
    for (const one of wrong) expect(await code(() => rows.create(one as never))).toBe('bad_input')
    expect(await rows.findByTurn('t')).toHaveLength(1)
    const { id: _id, conversationId: _c, turnId: _t, ...changes } = { ...row, id: made.id }
    for (const one of [
      { id: 'other' },
      { turnId: 'other' },
      { conversationId: 'other' },
      { title: 7 },
      { title: '' },
      { outcome: {} },
      { status: 'constructor' },
      { completionMode: 'self' },
      { verifiedAt: 'x' },
      { owner: 'eve' },
      { token: 9 },
    ]) {
      expect([one, await code(() => rows.update(made.id, one as never))]).toEqual([one, 'bad_input'])
    }
    for (const id of [1, null, {}, ['x']]) {
      expect(await code(() => rows.findById(id as never))).toBe('bad_input')
      expect(await code(() => rows.update(id as never, changes))).toBe('bad_input')
    }
    expect(await code(() => rows.findByTurn('t', 'done' as never))).toBe('bad_input')
    expect(await code(() => rows.findByTurn(3 as never))).toBe('bad_input')
    expect(await code(() => rows.countByStatus({} as never))).toBe('bad_input')
    // A whole row that is sent back changes nothing.
    expect(await rows.update(made.id, made as never)).toEqual(made)
    await list.close()
  })

  test('completing, starting and cancelling are what they are at any other door', async () => {
    const { list, rows, row } = await opened()
    await list.plan.turn({ turnId: 't', completion: 'verified', check: 'false' })
    const items = await rows.createBatch(Array.from({ length: 4 }, (_item, n) => ({ ...row, title: `item ${n}` })))
    const [first, second, third] = items.map(({ id }) => id) as [string, string, string]
    expect(await code(() => rows.update(first, { status: 'completed', outcome: 'x' }))).toBe('move_refused')
    await rows.update(first, { outcome: 'kept before' })
    expect(await code(() => rows.update(first, { status: 'completed' }))).toBe('move_refused')
    await rows.update(first, { status: 'cancelled', outcome: 'no longer wanted', context: 'seen' })
    expect(await rows.findById(first)).toMatchObject({ status: 'cancelled', context: 'seen' })
    expect(await code(() => rows.update(second, { status: 'cancelled', outcome: 'nor that' }))).toBe('move_refused')
    expect(await code(() => rows.update(second, { status: 'cancelled', outcome: '\u200b\u3164 ' }))).toBe('bad_input')
    await rows.update(third, { status: 'in_progress' })
    const eve = list.as({ actor: 'eve' }).plan.repository
    expect(await code(() => eve.update(third, { status: 'in_progress' }))).toBe('move_refused')
    await list.close()
  })

  test('criteria that change are in the log', async () => {
    const { list, rows, row } = await opened()
    const { id } = await rows.create({ ...row, completionCriteria: 'all tests pass' })
    await rows.update(id, { completionCriteria: 'it compiles' })
    const events = await list.events()
    expect(events.at(-1)).toMatchObject({ id, why: 'criteria: all tests pass -> it compiles' })
    await list.close()
  })
})
