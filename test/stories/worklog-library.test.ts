import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { open, type Punchlist } from '../../src/index.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const ENGINES: [string, () => string][] = [
  ['files', () => 'files'],
  ['sqlite', () => `sqlite:${join(scratch(), 'list.db')}`],
  ['postgres', () => freshSchema(inject('postgres'))],
]

const opened: Punchlist[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(list => list.close()))
})

/** A workspace whose clock goes on by a minute whenever it is looked at. */
async function workspace(store: string): Promise<Punchlist & { readonly root: string }> {
  const root = scratch()
  let at = Date.parse('2026-11-16T09:30:00.000Z')
  const now = () => new Date((at += 60_000))
  const list = await open({ root, store, session: 's1', actor: 'tester', now })
  opened.push(list)
  return Object.assign(list, { root })
}

const stored = async (list: Punchlist) => JSON.stringify(await list.export())
const alice = { name: 'alice', role: 'implementation', plan: 'plans/report.md' } as const

describe.each(ENGINES)('a program that keeps worklogs, on %s', (engine, store) => {
  test('may call every verb twice: the answer is the same, and nothing has changed', async () => {
    const list = await workspace(store())
    const { worklog } = list
    const name = 'alice'
    const subtask = ['find the place', 'write the test']
    const verbs: [string, () => Promise<unknown>][] = [
      ['open', () => worklog.open(alice)],
      ['task', () => worklog.task({ name, task: 1, subject: 'Escape the report', subtask })],
      ['check', () => worklog.check({ name, task: 1, subtask: 2 })],
      ['decide', () => worklog.decide({ name, task: 1, text: 'At the exit,\nas bytes are kept', tag: 'dep' })],
      ['decide', () => worklog.decide({ name, task: 1, text: '# not a heading\n- [ ] no box' })],
      ['complete', () => worklog.complete({ name, task: 1, file: ['src/`a`.ts', 'b, c.ts'], ward: 'all green' })],
      ['another', () => worklog.task({ name, task: 2, subject: 'Sign #2 ##' })],
      ['fail', () => worklog.fail({ name, task: 2, reason: 'No key.\n\n## Task #3: none\n\n```\nopen' })],
      ['interrupt', () => worklog.close({ name, interrupted: true })],
      ['close', () => worklog.close({ name })],
      ['late', () => worklog.task({ name, task: 1, subject: 'Escape the report', subtask })],
      ['sweep', () => worklog.sweep()],
      ['summary', () => worklog.summary()],
      ['pr', () => worklog.pr({ body: 'What it does.' })],
    ]
    for (const [verb, call] of verbs) {
      const once = await call()
      const before = await stored(list)
      expect(await call(), verb).toEqual(once)
      expect(await stored(list), verb).toBe(before)
    }
    const { worklogs, tasks } = await worklog.list({ worker: name })
    expect(worklogs).toMatchObject([{ status: 'completed', tasks_completed: 1, tasks_total: 2, decisions: 2 }])
    expect(tasks).toMatchObject([
      {
        subject: 'Escape the report',
        status: 'completed',
        files: ['src/`a`.ts', 'b, c.ts'],
        decisions: ['[dep] At the exit, as bytes are kept', '# not a heading - [ ] no box'],
      },
      { subject: 'Sign #2 ##', status: 'failed', failure: 'No key.\n\n## Task #3: none\n\n```\nopen' },
    ])
    // A log that was closed says so until somebody is at work again.
    expect((await worklog.task({ name, task: 2, subject: 'Sign #2 ##' })).worklog!.status).toBe('active')
  })

  test('counts a task that failed and was tried again once, and keeps both attempts', async () => {
    const { worklog, root } = await workspace(store())
    const first = { name: 'alice', task: 1 }
    const subject = 'Escape the report'
    await worklog.open(alice)
    await worklog.task({ ...first, subject, subtask: ['find it', 'mend it'] })
    await worklog.check({ ...first, subtask: 1 })
    await worklog.decide({ ...first, text: 'First the exit' })
    await worklog.fail({ ...first, reason: 'The compiler does not start.' })
    expect(await worklog.task({ ...first, subject, subtask: ['start it'] })).toMatchObject({
      worklog: { tasks_completed: 0, tasks_total: 1, subtasks_completed: 0, subtasks_total: 1, decisions: 1 },
      task: { status: 'in_progress', decisions: [], failure: null },
    })
    await worklog.check({ ...first, subtask: 1 })
    const done = await worklog.complete(first)
    expect(done.worklog).toMatchObject({ tasks_completed: 1, tasks_total: 1, subtasks_completed: 1, subtasks_total: 1 })
    expect((await worklog.list({ worker: 'alice' })).tasks).toEqual([done.task])
    expect((await worklog.task({ ...first, subject, subtask: ['another'] })).task).toEqual(done.task)
    // Begun again while it is going on, a task gets what it does not have yet.
    const second = { name: 'alice', task: 2, subject: 'Sign it' }
    await worklog.task({ ...second, subtask: ['a', 'b'] })
    const more = await worklog.task({ ...second, subtask: ['b', 'c'] })
    expect(more.task!.subtasks.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
    expect(await worklog.task({ ...first, subject, again: true })).toMatchObject({
      worklog: { tasks_completed: 0, tasks_total: 2 },
      task: { status: 'in_progress' },
    })
    await worklog.complete(first)
    await worklog.open({ ...alice, name: 'bob' })
    await worklog.task({ ...second, name: 'bob' })
    await worklog.complete({ name: 'bob', task: 2 })
    const counts = { total_tasks: 3, completed_tasks: 2, unique_tasks: 2, unique_completed: 2 }
    expect(await worklog.summary()).toMatchObject(counts)
    // What another worker has done is not open.
    const { text } = await worklog.pr()
    expect(text).toContain('- **alice**: First the exit\n')
    expect(text).toContain('### Known Issues\n- None\n')
    if (engine !== 'files') return
    const file = readFileSync(join(root, 'tmp/work/s1/todos/alice.md'), 'utf8')
    expect(file.match(/^## Task #1: Escape the report$/gm)).toHaveLength(3)
    expect(file).toContain('### Failure reason\n\nThe compiler does not start.\n')
  })

  test('is refused what may not become of a task, and nothing is written', async () => {
    const list = await workspace(store())
    const { worklog } = list
    const name = 'alice'
    await worklog.open(alice)
    await worklog.task({ name, task: 1, subject: 'Escape the report', subtask: ['find it'] })
    await worklog.task({ name, task: 2, subject: 'Sign it' })
    await worklog.task({ name, task: 3, subject: 'Ship it' })
    await worklog.complete({ name, task: 2, file: ['a.ts'] })
    await worklog.fail({ name, task: 3, reason: 'no ship' })
    const before = await stored(list)
    const bad: [call: () => Promise<unknown>, code: string, hint: RegExp][] = [
      [() => worklog.check({ name, task: 1, subtask: 2 }), 'not_found', /the number 1/],
      [() => worklog.check({ name, task: 2, subtask: 1 }), 'not_found', /--subtask TEXT/],
      [() => worklog.check({ name, task: 9, subtask: 1 }), 'not_found', /There are: 1, 2, 3\..*worklog task alice 9/],
      [() => worklog.decide({ name, task: 9, text: 'x' }), 'not_found', /Begin it first/],
      [() => worklog.complete({ name, task: 9 }), 'not_found', /Begin it first/],
      [() => worklog.fail({ name, task: 9, reason: 'x' }), 'not_found', /Begin it first/],
      [() => worklog.task({ name, task: 1, subject: 'Other' }), 'move_refused', /its subject as it stands/],
      [() => worklog.task({ name, task: 2, subject: 'Other' }), 'move_refused', /its subject as it stands/],
      [() => worklog.complete({ name, task: 3 }), 'move_refused', /begin it again/],
      [() => worklog.fail({ name, task: 2, reason: 'after all' }), 'move_refused', /begin it again/],
      [() => worklog.fail({ name, task: 3, reason: 'another' }), 'move_refused', /begin it again/],
      [() => worklog.complete({ name, task: 2, file: ['b.ts'] }), 'move_refused', /begin it again/],
      [() => worklog.open({ ...alice, role: 'test' }), 'move_refused', /another name/],
      [() => worklog.open({ ...alice, plan: 'other.md' }), 'move_refused', /another name/],
      [() => worklog.task({ name: 'eve', task: 1, subject: 'x' }), 'not_found', /worklog open eve .*--session s1/],
      [() => worklog.close({ name: 'eve' }), 'not_found', /worklog open eve/],
      [() => worklog.list({ worker: 'eve' }), 'not_found', /worklog open eve/],
      [() => worklog.open({ ...alice, name: '_summary' }), 'bad_input', /Correct name/],
      [() => list.as({ session: 'other' }).worklog.close({ name }), 'not_found', /--session other/],
      [() => list.as({ session: '../up' }).worklog.open(alice), 'bad_input', /letters, digits/],
    ]
    for (const [call, code, hint] of bad) {
      await expect(call(), String(call)).rejects.toMatchObject({ code, hint: expect.stringMatching(hint) })
    }
    expect(await stored(list)).toBe(before)
  })

  test('is given its workers page by page, and one worker with its last tasks', async () => {
    const { worklog } = await workspace(store())
    for (const name of ['dora', 'alice', 'carl', 'Bob']) await worklog.open({ ...alice, name })
    const names = ({ worklogs }: { worklogs: { worker: string }[] }) => worklogs.map(({ worker }) => worker)
    const first = await worklog.list({ limit: 3 })
    expect([names(first), first.more, first.cursor]).toEqual([['Bob', 'alice', 'carl'], 1, 'carl'])
    const next = await worklog.list({ after: first.cursor! })
    expect([names(next), next.more, next.cursor]).toEqual([['dora'], 0, null])
    expect(names(await worklog.list({ all: true, limit: 1 }))).toHaveLength(4)
    for (const task of [1, 2, 3]) await worklog.task({ name: 'Bob', task, subject: `Task ${task}` })
    const bob = await worklog.list({ worker: 'Bob', limit: 2 })
    expect([bob.tasks!.map(({ number }) => number), bob.more]).toEqual([[2, 3], 1])
  })

  test('is told of what happened to a log, and who did it', async () => {
    const list = await workspace(store())
    const { worklog } = list.as({ actor: 'ann' })
    await worklog.open(alice)
    await worklog.task({ name: 'alice', task: 1, subject: 'Escape the report' })
    await list.worklog.sweep()
    const told = (await list.events()).map(({ id, from, to, by }) => `${id} ${from} ${to} ${by}`)
    expect(told[0]).toBe('work/s1/alice null active ann')
    expect(told.at(-1)).toBe('work/s1/alice active interrupted tester')
  })
})

test('the same work gives the same summary and the same pull request on every engine, to the last byte', async () => {
  const documents: string[][] = []
  for (const [, store] of ENGINES) {
    const { worklog, root } = await workspace(store())
    for (const [n, name] of ['bob', 'alice', 'Zoe', '-'].entries()) {
      await worklog.open({ name, role: n % 2 ? 'test' : 'implementation', plan: n === 3 ? 'p: "q" #r' : 'plans/a.md' })
      for (const task of [n, n + 1]) {
        const subject = `Task | ${task} <b> \\ ## `
        await worklog.task({ name, task, subject, subtask: ['one | two', '[x] three', 'four'] })
        await worklog.check({ name, task, subtask: 1 + (n % 3) })
        const tag = ([undefined, 'dep', 'arch', 'deviation'] as const)[n]
        await worklog.decide({ name, task, text: `Because of #${task}\n@you\n\n- [ ] and so on`, tag })
      }
      await worklog.complete({ name, task: n, file: [`src/${n}.ts`, 'a b.ts'], ward: n === 2 ? '1 failed' : 'ok' })
      await worklog.fail({ name, task: n + 1, reason: '```\nopen\n### Decisions\n- none\n' })
      if (n !== 1) await worklog.close({ name })
    }
    const { interrupted, warnings, path } = await worklog.summary()
    expect([interrupted, warnings]).toEqual([['alice'], []])
    const { text } = await worklog.pr({ body: 'What it does.\r\n\r\nAnd why.' })
    documents.push([readFileSync(join(root, path!), 'utf8'), text])
  }
  const [files, sqlite, postgres] = documents
  expect(files![0]).toMatch(/^\| Zoe \|/m)
  expect(files![1]).toContain('### Known Issues\r\n- ')
  expect(sqlite).toEqual(files)
  expect(postgres).toEqual(files)
})
