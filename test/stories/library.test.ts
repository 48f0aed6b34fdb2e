import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { open, type Problem, type Punchlist } from '../../src/index.ts'
import { answer } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const opened = (options: Parameters<typeof open>[0] = {}): Promise<Punchlist> =>
  open({ store: 'sqlite::memory:', root: scratch(), conversation: 'c1', turn: 't1', actor: 'me', ...options })

const problem = async (answered: Promise<unknown>): Promise<Problem> => {
  const outcome = await answered.then(
    () => undefined,
    (error: Problem) => error,
  )
  if (!outcome) throw new Error('it was not refused')
  return outcome
}

describe('a program', () => {
  test('uses the same verbs, and sees the same list as the command line', async () => {
    const root = scratch()
    const punchlist = await open({ root, conversation: 'c1', turn: 't1', actor: 'me' })
    await punchlist.plan.create({ items: [{ title: 'A' }, { title: 'B' }] })
    const { id } = await punchlist.plan.start()
    expect(await punchlist.plan.complete({ todoId: id, outcome: 'x' })).toMatchObject({
      status: 'completed',
      remaining: 1,
    })
    expect((await punchlist.plan.list()).items.map(({ title }) => title)).toEqual(['B'])
    await punchlist.close()
    const env = { PUNCHLIST_CONVERSATION: 'c1', PUNCHLIST_TURN: 't1' }
    const { items } = await answer<{ items: { title: string }[] }>(['plan', 'list'], { cwd: root, env })
    expect(items.map(({ title }) => title)).toEqual(['B'])
  })

  test('acts for others, and supplies its own clock', async () => {
    const punchlist = await opened({ now: () => new Date('2030-01-01T00:00:00.000Z') })
    await punchlist.as({ actor: 'you', turnId: 't2' }).plan.create({ items: [{ title: 'A' }] })
    expect((await punchlist.plan.list()).items).toEqual([])
    expect((await punchlist.events()).map(({ by, at }) => [by, at])).toEqual([
      ['you', '2030-01-01T00:00:00.000Z'],
      ['you', '2030-01-01T00:00:00.000Z'],
    ])
    await punchlist.close()
  })
})

describe('a program with a backlog', () => {
  test('finds, claims and completes todos, in the files that the command line sees', async () => {
    const root = scratch()
    const punchlist = await open({ root, session: 's1', actor: 'me' })
    const finding = { source: 'review', findingId: 'F1', sourceRef: 'TOME.md', status: 'ready' as const }
    const { todo } = await punchlist.backlog.add({ items: [{ title: 'Leak', ...finding }] })
    expect((await punchlist.backlog.add({ items: [{ title: 'Leak', ...finding }] })).created).toBe(false)
    const worker = punchlist.as({ actor: 'worker' })
    const { token } = (await worker.backlog.next({ claim: true })).todo
    expect(await problem(punchlist.backlog.claim({ id: todo.id }))).toMatchObject({ code: 'move_refused' })
    expect(await problem(worker.backlog.complete({ id: '1', reason: 'x', token: token - 1 }))).toMatchObject({
      code: 'lease_lost',
    })
    await worker.backlog.complete({ id: '1', reason: 'closed it', token })
    expect((await problem(punchlist.backlog.next())).details).toMatchObject({ why: 'all_done' })
    await punchlist.close()
    expect(readFileSync(join(root, todo.path), 'utf8')).toContain('status: complete\n')
    const shown = await answer<{ todo: object }>(['backlog', 'show', 'review/1'], { cwd: root })
    expect(shown.todo).toMatchObject({ session: 's1', completed_by: 'worker', resolution_reason: 'closed it' })
  })

  test('is held to the same input as everyone', async () => {
    const punchlist = await opened({ session: 's1' })
    const bad = [
      punchlist.backlog.add({ items: [{ title: '', source: 'review' }] }),
      punchlist.backlog.add({ items: [] }),
      punchlist.backlog.add({ items: [{ title: 'a', source: '../up' }] }),
      punchlist.backlog.dismiss({ id: '1', as: 'boring' as never, reason: 'x' }),
      punchlist.backlog.show({ id: '../1' }),
      punchlist.as({ session: '../up' }).backlog.list(),
    ]
    for (const one of bad) expect((await problem(one)).code).toBe('bad_input')
    expect((await punchlist.backlog.list()).todos).toEqual([])
    expect(await punchlist.events()).toEqual([])
    await punchlist.close()
  })

  test('moves it from one engine to another and back', async () => {
    const punchlist = await open({ root: scratch(), session: 's1', actor: 'me' })
    const { todo } = await punchlist.backlog.add({ items: [{ title: 'Leak', source: 'review', body: 'It grows.' }] })
    await punchlist.backlog.claim({ id: '1', triage: true })
    await punchlist.backlog.release({ id: '1' })
    const rows = await opened({ session: 's1' })
    await rows.import(await punchlist.export())
    const before = await punchlist.backlog.show({ id: todo.id })
    expect(await rows.backlog.show({ id: todo.id })).toEqual(before)
    const root = scratch()
    const again = await open({ root, session: 's1' })
    await again.import(await rows.export())
    expect(await again.backlog.show({ id: todo.id })).toEqual(before)
    for (const one of [punchlist, rows, again]) await one.close()
  })
})

describe('the repository of turn todos', () => {
  const row = (title: string, more = {}) => ({ conversationId: 'c1', turnId: 't1', title, ...more })

  test('creates, finds, updates and counts rows', async () => {
    const punchlist = await opened()
    const { repository } = punchlist.plan
    const created = await repository.create(row('A', { agentType: 'coder' }))
    expect(created).toEqual({
      id: created.id,
      conversationId: 'c1',
      turnId: 't1',
      title: 'A',
      context: '',
      completionCriteria: '',
      agentType: 'coder',
      status: 'pending',
      priority: 0,
      outcome: null,
      createdAt: created.createdAt,
      startedAt: null,
      completedAt: null,
    })
    const batch = await repository.createBatch([row('B'), row('A'), row('first', { priority: 0 })])
    expect(batch.map(({ priority }) => priority)).toEqual([2, 3, 0])
    expect((await repository.findByTurn('t1')).map(({ title }) => title)).toEqual(['first', 'A', 'B', 'A'])
    expect(await repository.findById(created.id)).toMatchObject({ title: 'A', priority: 1 })
    expect(await repository.findById('nobody')).toBeUndefined()

    expect(await repository.update(created.id, { status: 'in_progress' })).toMatchObject({ status: 'in_progress' })
    expect(await repository.update(created.id, { status: 'pending' })).toMatchObject({ startedAt: null })
    expect(await repository.update(created.id, { context: 'more' })).toMatchObject({
      context: 'more',
      status: 'pending',
    })
    const done = await repository.update(created.id, { status: 'completed', outcome: 'x' })
    expect(done).toMatchObject({ status: 'completed', outcome: 'x', completedAt: expect.any(String) })
    expect(await repository.update('nobody', { status: 'completed' })).toBeUndefined()

    // The same rows, for everyone else: nobody had to open the turn.
    expect((await punchlist.plan.list({ status: 'all' })).items.map(({ title }) => title)).toEqual([
      'first',
      'A',
      'B',
      'A',
    ])
    expect(await punchlist.plan.start({ todoId: batch[2]!.id })).toMatchObject({ title: 'first' })
    await repository.update(batch[2]!.id, { status: 'pending' })
    const carried = await punchlist.as({ turnId: 't2' }).plan.carry({ from: 't1' })
    expect(carried.carried.map(({ title }) => title)).toEqual(['first', 'B', 'A'])

    expect(await repository.countByStatus('t1')).toEqual({ pending: 3, in_progress: 0, completed: 1, cancelled: 0 })
    expect(await repository.findByTurn('t1', 'completed')).toHaveLength(1)
    expect(await repository.findByTurn('t1', ['completed', 'pending'])).toHaveLength(4)
    await punchlist.close()
  })

  test('obeys the same judge: no illegal move, no completion without an outcome, nothing of another conversation', async () => {
    const punchlist = await opened()
    const { repository } = punchlist.plan
    const { id } = await repository.create(row('A'))
    expect(await problem(repository.update(id, { status: 'completed' }))).toMatchObject({
      code: 'move_refused',
      details: { missing: ['outcome'] },
    })
    await repository.update(id, { status: 'cancelled', outcome: 'no' })
    expect((await problem(repository.update(id, { status: 'pending' }))).code).toBe('move_refused')
    expect((await problem(repository.update(id, { outcome: 'other' }))).code).toBe('move_refused')
    expect((await problem(repository.create(row('B', { status: 'completed', outcome: 'x' })))).code).toBe(
      'move_refused',
    )
    expect(await punchlist.as({ conversationId: 'c2' }).plan.repository.findById(id)).toBeUndefined()
    expect(await punchlist.as({ conversationId: 'c2' }).plan.repository.update(id, { context: 'x' })).toBeUndefined()
    await punchlist.close()
  })

  test('a batch with one bad row is none', async () => {
    const punchlist = await opened()
    const bad = [row('A'), row('B', { status: 'completed' })]
    expect((await problem(punchlist.plan.repository.createBatch(bad as never))).code).toBe('move_refused')
    expect(await punchlist.plan.repository.findByTurn('t1')).toEqual([])
    await punchlist.close()
  })
})

test('importing the library loads neither a driver nor a server', async () => {
  const { execFileSync } = await import('node:child_process')
  const script = `const { registerHooks } = await import('node:module'); const seen = []; registerHooks({ load(url, context, next) { seen.push(url); return next(url, context) } }); await import('./dist/index.js'); console.log(seen.join('\\n'))`
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
  })
  expect(loaded).toContain('dist/index.js')
  // The code of the SQLite engine is at hand; its driver is loaded by the first store.
  expect(loaded).not.toMatch(/node:sqlite|\/pg\/|engines\/(?!sqlite\/)|mcp|hono/)
})
