import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { ENGINES, ready, Typist } from '../support/backlog.ts'
import { answer, everywhere, HOME, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const OLD = 'work/monday/review/001'
const NEW = 'work/tuesday/review/001'

/** Two sessions that have a todo of the same short id each; the second is the newest. */
async function twoSessions(): Promise<{ cwd: string; typist: Typist }> {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.with({ PUNCHLIST_SESSION: 'monday' }).add(ready('old'))
  await typist.with({ PUNCHLIST_SESSION: 'tuesday' }).add('new')
  return { cwd, typist }
}

describe.each(ENGINES)('a short id that fits todos of several sessions, on %s', (_engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('is refused by every verb that writes, with the full ids, which every verb takes', async () => {
    const { cwd, typist } = await twoSessions()
    const before = [await typist.show(OLD), await typist.show(NEW)]
    for (const args of [
      ['complete', '1', '--reason', 'x'],
      ['complete', 'review/001', '--reason', 'x'],
      ['approve', '1'],
      ['dismiss', 'review/1', '--as', 'wont_fix', '--reason', 'x'],
      ['claim', '1', '--triage'],
      ['release', '1'],
      ['interrupt', '1'],
      ['block', '1', '--on', '1'],
      ['unblock', '1'],
      ['resume', '1'],
      ['log', '1', 'x'],
    ]) {
      const { status, code, message, hint, details } = await typist.refused(...args)
      expect([status, code, details['candidates']], args.join(' ')).toEqual([2, 'bad_input', [OLD, NEW]])
      expect(message).toContain(`${OLD} or ${NEW}`)
      expect(hint).toContain(OLD)
    }
    const handed = await refusal(['queue', 'add', '--from-backlog', '1'], { cwd })
    expect([handed.status, handed.details['candidates']]).toEqual([2, [OLD, NEW]])
    const decisions = JSON.stringify([{ id: '1', decision: 'approve' }])
    const triaged = await typist.piped<{ refused: object[] }>(decisions, 'triage', '--decisions', '-')
    expect(triaged.refused).toEqual([expect.objectContaining({ id: '1', code: 'bad_input' })])
    expect([await typist.show(OLD), await typist.show(NEW)]).toEqual(before)
    // A reading verb takes the newest session, and says which.
    expect(await typist.show('1')).toMatchObject({ title: 'new', session: 'tuesday' })
    expect((await typist.run('approve', NEW)).todo).toMatchObject({ session: 'tuesday', status: 'ready' })
    expect((await typist.run('claim', '1', '--session', 'monday')).todo).toMatchObject({ session: 'monday' })
  })

  test('means, for the holder of a claim, what was claimed; and its token is good for nothing else', async () => {
    const { typist } = await twoSessions()
    await typist.run('approve', NEW)
    const ann = typist.with({ PUNCHLIST_ACTOR: 'ann' })
    const bob = typist.with({ PUNCHLIST_ACTOR: 'bob' })
    expect((await ann.run('claim', OLD)).todo.token).toBe(1)
    expect((await bob.run('claim', NEW)).todo.token).toBe(1)
    expect((await ann.run('log', '1', 'mine')).todo.session).toBe('monday')
    expect((await ann.run('claim', '1', '--lease', '2h')).todo.session).toBe('monday')
    // Both tokens have the same number: who has neither in their name must say which is meant.
    const eve = await typist.refused('complete', 'review/001', '--reason', 'x', '--token', '1')
    expect([eve.status, eve.details['candidates']]).toEqual([2, [OLD, NEW]])
    const fenced = { PUNCHLIST_TOKEN: '1', PUNCHLIST_TASK: OLD, PUNCHLIST_ACTOR: 'run' }
    expect((await typist.with(fenced).run('log', 'review/1', 'the run')).todo.session).toBe('monday')
    const done = ['complete', 'review/001', '--reason', 'fixed', '--token', '1']
    expect((await ann.run(...done)).todo).toMatchObject({ session: 'monday', status: 'complete' })
    expect((await ann.run(...done)).todo).toMatchObject({ session: 'monday', status: 'complete' })
    expect((await typist.show(NEW)).status).toBe('in_progress')
    expect((await bob.run('complete', '1', '--reason', 'fixed')).todo.session).toBe('tuesday')
  })

  test('is not taken for another session\u2019s when the call is repeated after a newer session began', async () => {
    const typist = new Typist(scratch())
    await typist.with({ PUNCHLIST_SESSION: 'monday' }).add('old')
    const done = ['complete', '1', '--reason', 'fixed']
    expect((await typist.run(...done)).todo).toMatchObject({ session: 'monday', status: 'complete' })
    await typist.with({ PUNCHLIST_SESSION: 'tuesday' }).add('new')
    expect((await typist.refused(...done)).details['candidates']).toEqual([OLD, NEW])
    expect((await typist.show(NEW)).status).toBe('pending')
    // What is finished for good does not stand in the way of what is open.
    expect((await typist.run('approve', '1')).todo.session).toBe('tuesday')
  })

  test('names no todo of another session as a dependency or a duplicate', async () => {
    const { typist } = await twoSessions()
    await typist.run('claim', OLD)
    for (const args of [
      ['block', OLD, '--on', NEW],
      ['dismiss', OLD, '--as', 'duplicate', '--reason', 'x', '--of', NEW],
      ['add', 'x', '--source', 'work', '--session', 'monday', '--depends-on', NEW],
    ]) {
      const { status, code, message } = await typist.refused(...args)
      expect([status, code], args.join(' ')).toEqual([2, 'bad_input'])
      expect(message).toContain(`${NEW} is a todo of another session`)
    }
  })

  test('resume brings back what sweep interrupted, in every workflow, and no session is guessed', async () => {
    const typist = new Typist(scratch())
    for (const session of ['monday', 'tuesday']) {
      for (const workflow of ['work', 'audit']) {
        const place = ['--session', session, '--workflow', workflow]
        await typist.run('add', 'x', '--source', 'review', '--status', 'ready', ...place)
        await typist.run('claim', '1', ...place)
      }
      await typist.run('sweep', '--session', session)
    }
    const guessed = await typist.refused('resume')
    expect([guessed.status, guessed.details['sessions']]).toEqual([2, ['monday', 'tuesday']])
    const { todos } = await typist.run<{ todos: { workflow: string; session: string; status: string }[] }>(
      'resume',
      '--session',
      'monday',
    )
    expect(todos.map(one => `${one.workflow} ${one.session} ${one.status}`).toSorted()).toEqual([
      'audit monday ready',
      'work monday ready',
    ])
    expect((await typist.run<{ todos: object[] }>('resume')).todos).toHaveLength(2)
  })

  test('a todo that is added as complete has what a completion takes, or all that is missing is named', async () => {
    const typist = new Typist(scratch())
    const add = ['add', 'x', '--source', 'review', '--status', 'complete']
    const bare = await typist.refused(...add)
    expect([bare.status, bare.details['missing']]).toEqual([5, ['resolution', 'resolution_reason']])
    expect(bare.hint).toMatch(/--resolution.*--reason/)
    const stray = await typist.refused('add', 'x', '--source', 'review', '--reason', 'y')
    expect([stray.status, stray.code]).toEqual([2, 'bad_input'])
    const { todo } = await typist.run(...add, '--resolution', 'fixed', '--reason', 'was done by hand')
    expect(todo).toMatchObject({ id: 'review/001', status: 'complete', resolution: 'fixed', completed_by: 'tester' })
    expect(todo).toMatchObject({ resolved_by: 'tester', resolved_at: expect.any(String) as string })
    expect((await typist.show('1')).history).toMatchObject([{ from: null, to: 'complete' }])
  })
})

test('a worker\u2019s name that has open logs in several sessions is refused, and said with its session', async () => {
  const cwd = scratch()
  const opened = ['worklog', 'open', 'ann', '--role', 'test', '--plan', 'p.md', '--session']
  await answer([...opened, 'monday'], { cwd })
  await answer([...opened, 'tuesday'], { cwd })
  for (const args of [
    ['task', 'ann', '1', 'x'],
    ['decide', 'ann', '1', 'x'],
    ['close', 'ann'],
  ]) {
    const { status, code, details } = await refusal(['worklog', ...args], { cwd })
    expect([status, code, details['sessions']]).toEqual([2, 'bad_input', ['monday', 'tuesday']])
  }
  await answer(['worklog', 'close', 'ann', '--session', 'tuesday'], { cwd })
  // The newest session's own log is not passed over for an older one that is still open.
  expect((await refusal(['worklog', 'task', 'ann', '1', 'x'], { cwd })).details['sessions']).toHaveLength(2)
  await answer(['worklog', 'close', 'ann', '--session', 'monday'], { cwd })
  const { worklog } = await answer<{ worklog: { session: string } }>(['worklog', 'task', 'ann', '1', 'x'], { cwd })
  expect(worklog.session).toBe('tuesday')
})

test('a model and a program name the session in the call, unless it is fixed for them', async () => {
  const { cwd } = await twoSessions()
  const list = await open({ root: cwd })
  expect((await list.backlog.show({ id: '1', session: 'monday' })).todo.title).toBe('old')
  await expect(list.backlog.approve({ id: '1' })).rejects.toMatchObject({ code: 'bad_input' })
  await expect(list.as({ session: 'monday' }).backlog.list({ session: 'tuesday' })).rejects.toMatchObject({
    message: 'session: it is monday here',
  })
  await list.worklog.open({ name: 'ann', role: 'test', plan: 'p.md', session: 'monday' })
  expect((await list.worklog.list({ session: 'monday' })).worklogs).toHaveLength(1)
  await list.close()

  const client = new Client({ name: 'test', version: '1' })
  const args = [join(import.meta.dirname, '../../bin/punchlist.js'), 'mcp', '--tools', 'backlog']
  const env = { PATH: process.env['PATH'] ?? '', USER: 'tester', HOME: HOME() }
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }))
  const approved = async (input: Record<string, unknown>) => {
    const { content } = await client.callTool({ name: 'backlog_approve', arguments: input })
    return (content as unknown as [{ text: string }])[0].text
  }
  expect(await approved({ id: '1' })).toMatch(`bad_input: 1 could be ${OLD} or ${NEW}`)
  expect(await approved({ id: '1', session: 'tuesday' })).toContain('"session":"tuesday"')
  expect(await approved({ id: '1', session: '../up' })).toMatch(/^bad_input: session/)
  await client.close()
})
