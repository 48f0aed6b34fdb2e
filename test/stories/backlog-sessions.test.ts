import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES, ids, type Listed, leaseless, path, ready, type ToldTodo, Typist } from '../support/backlog.ts'
import { answer, everywhere, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

interface Swept {
  readonly interrupted: ToldTodo[]
  readonly released: ToldTodo[]
  readonly removed: { count: number; to: string | null } | null
}
interface Stale {
  readonly stale: { id: string; kind: string; since: string; session: string; detail: string }[]
  readonly quiet: { id: string }[]
}

const kinds = ({ stale }: Stale) => Object.fromEntries(stale.map(({ id, kind }) => [id, kind]))

describe.each(ENGINES)('sessions of a backlog, from the command line, on %s', (engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('keep to themselves; where none is named the newest of the workflow is meant', async () => {
    const typist = new Typist(scratch())
    expect((await typist.list()).session).toBe('default')
    await typist.run('add', 'a', '--source', 'review', '--session', 'monday')
    await typist.with({ PUNCHLIST_SESSION: 'tuesday' }).run('add', 'b', '--source', 'review')
    await typist.run('add', 'c', '--source', 'review')
    const audit = await typist.run('add', 'd', '--source', 'review', '--workflow', 'audit')
    expect(audit.todo).toMatchObject({ id: 'review/001', session: 'default', workflow: 'audit' })
    const newest = await typist.list()
    expect([newest.session, newest.todos.map(({ title }) => title)]).toEqual(['tuesday', ['b', 'c']])
    // A flag wins over the environment of the same name.
    const flagged = await typist.with({ PUNCHLIST_SESSION: 'tuesday' }).list('--session', 'monday')
    expect(flagged.todos.map(({ title }) => title)).toEqual(['a'])
    expect((await typist.show('work/monday/review/1')).title).toBe('a')
    expect((await typist.refused('show', 'review/2', '--session', 'monday')).status).toBe(4)
  })

  test('end with their own claims interrupted, and nobody else’s touched', async () => {
    const typist = new Typist(scratch())
    const [monday, tuesday] = ['monday', 'tuesday'].map(name => typist.with({ PUNCHLIST_SESSION: name })) as [
      Typist,
      Typist,
    ]
    await monday.add(ready('a'), ready('b'), 'c')
    await tuesday.add(ready('d'))
    for (const id of ['1', '2']) await monday.run('claim', id, '--as', 'ann')
    await monday.run('block', '2', '--on', '3')
    const theirs = (await tuesday.run('claim', '1', '--as', 'bob')).todo
    expect(await typist.refused('sweep')).toMatchObject({ status: 2, code: 'bad_input' })

    const swept = await typist.run<Swept>('sweep', '--session', 'monday')
    expect(swept.removed).toBeNull()
    expect(swept.interrupted).toMatchObject([
      { id: 'review/001', status: 'interrupted', resolution_reason: 'Session ended before completion' },
    ])
    expect(swept.released).toMatchObject([{ id: 'review/002', status: 'blocked', assigned_to: null, claimed_at: null }])
    expect(await tuesday.show('1')).toMatchObject(leaseless(theirs))
    expect(await monday.show('3')).toMatchObject({ status: 'pending' })
    const again = await monday.run<Swept>('sweep')
    expect([again.interrupted, again.released]).toEqual([[], []])
    const late = await monday
      .with({ PUNCHLIST_ACTOR: 'ann' })
      .refused('complete', '1', '--reason', 'late', '--token', '1')
    expect([late.status, late.code]).toEqual([6, 'lease_lost'])

    const resumed = await typist.run<Listed>('resume', '--session', 'monday')
    expect(resumed.todos).toMatchObject([
      { id: 'review/001', status: 'ready', assigned_to: null, claimed_at: null, resolution_reason: null },
    ])
    expect((await typist.run<Listed>('resume', '--session', 'monday')).todos).toEqual([])
    const shown = await monday.show('1')
    expect(path(shown)).toEqual(['ready', 'in_progress', 'interrupted', 'ready'])
    expect(shown.history[2]!.why).toContain('Session ended before completion')

    // Whoever had the blocked one is gone: to go on takes a claim.
    await monday.run('complete', '3', '--reason', 'done')
    const ownerless = await monday.refused('unblock', '2')
    expect(ownerless).toMatchObject({ status: 5, details: { missing: ['assigned_to', 'claimed_at'] } })
    const taken = (await monday.run('unblock', '2', '--as', 'eve')).todo
    expect(taken).toMatchObject({ status: 'in_progress', assigned_to: 'eve', claimed_at: expect.any(String) })
    expect(taken.token).toBeGreaterThan(1)
    expect((await monday.refused('log', '2', 'late', '--token', '1')).status).toBe(6)
  })

  test('are taken away only on request, and not while someone works there', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd, { PUNCHLIST_SESSION: 'monday' })
    await typist.add(ready('a'), 'b')
    await typist.run('claim', '1', '--as', 'ann')
    const live = await typist.refused('sweep', '--remove')
    expect(live).toMatchObject({ status: 5, code: 'move_refused', details: { live: ['review/001'] } })
    expect(live.hint).toContain('sweep --session monday')
    expect((await typist.list()).todos).toHaveLength(2)
    await typist.run('sweep')
    const { removed } = await typist.run<Swept>('sweep', '--remove')
    expect(removed!.count).toBe(2)
    expect((await typist.list()).todos).toEqual([])
    expect((await typist.run<Swept>('sweep', '--remove')).removed!.count).toBe(0)
    expect((await new Typist(cwd).list()).session).toBe('default')
    // A number that somebody may have noted down never means something else.
    expect((await typist.run('add', 'c', '--source', 'review')).todo.id).toBe('review/003')
    if (engine !== 'files') return
    expect(readdirSync(join(cwd, 'tmp/work/monday/todos/review'))).toEqual(['003-pending-p2-c.md'])
    const trash = readdirSync(join(cwd, '.punchlist/trash'), { recursive: true, encoding: 'utf8' })
    expect(trash.filter(name => name.endsWith('.md'))).toHaveLength(2)
  })

  test('leave things lying, and each of the four kinds is reported by name, since when, and left alone', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    // An older program named the session in the file.
    const files = engine === 'files' ? cwd : scratch()
    const older = new Typist(files, { PUNCHLIST_STORE: 'files' })
    const { todo } = await older.add(ready('orphan'), ready('runs'), ready('waits'), ready('was stopped'), 'fine')
    const file = join(files, todo.path)
    writeFileSync(file, readFileSync(file, 'utf8').replace('work_session: null', 'work_session: long-gone'))
    if (engine !== 'files') {
      const { stdout } = await punchlist(['export', '--json'], { cwd: files, env: { PUNCHLIST_STORE: 'files' } })
      writeFileSync(join(cwd, 'export.json'), stdout)
      await answer(['import', 'export.json'], { cwd })
    }
    await typist.run('claim', '2', '--as', 'ann', '--lease', '50ms')
    await typist.run('claim', '3', '--as', 'ann')
    await typist.run('block', '3', '--on', '5')
    await typist.run('claim', '4', '--as', 'ann')
    await typist.run('interrupt', '4')
    await sleep(60)
    const before = (await typist.list()).todos.map(leaseless)
    const report = await typist.run<Stale>('stale')
    expect(kinds(report)).toEqual({
      'review/001': 'orphaned_work_session',
      'review/002': 'long_running_in_progress',
      'review/003': 'unresolved_blocked',
      'review/004': 'lingering_interrupted',
    })
    for (const { since, session } of report.stale) {
      expect(Date.parse(since)).toBeGreaterThan(Date.now() - 3_600_000)
      expect(session).toBe('default')
    }
    expect((await typist.list()).todos.map(leaseless)).toEqual(before)
    expect(kinds(await typist.run<Stale>('stale', '--session', 'other'))).toEqual({})
  })
})

test('a claim without a lease, in a file somebody else wrote, goes by when the file was last written', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  const { results } = await typist.add('fresh', 'quiet', 'stale')
  const claimed = 'status: in_progress\nassigned_to: ann\nclaimed_at: "2026-01-02T03:04:05Z"'
  for (const [n, hours] of [0, 1, 25].entries()) {
    const file = join(cwd, results![n]!.todo.path)
    const text = readFileSync(file, 'utf8').replaceAll(/^(?:assigned_to|claimed_at): null\n/gm, '')
    writeFileSync(file, text.replace('status: pending', claimed))
    const at = Date.now() / 1000 - hours * 3600
    utimesSync(file, at, at)
  }
  const report = await typist.run<Stale>('stale')
  expect(kinds(report)).toEqual({ 'review/003': 'long_running_in_progress' })
  expect(ids({ todos: report.quiet })).toEqual(['review/002'])
})
