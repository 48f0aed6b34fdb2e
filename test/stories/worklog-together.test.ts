import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { everywhere } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { front, TODOS, Typist } from '../support/worklog.ts'

const SIXTEEN = Array.from({ length: 16 }, (_, n) => n)

describe.each(ENGINES)('sixteen workers at once, each a process, on %s', (engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('lose nothing of their own logs', async () => {
    const typist = new Typist(scratch())
    await Promise.all(
      SIXTEEN.map(async n => {
        const name = `worker-${n}`
        await typist.opened(name)
        await typist.run('task', name, '1', `Task of ${name}`, '--subtask', 'one', '--subtask', 'two')
        await typist.run('check', name, '1', '2')
        await typist.run('decide', name, '1', `Decided by ${name}`)
        await typist.run('complete', name, '1', '--file', `src/${n}.ts`)
      }),
    )
    const { worklogs, warnings } = await typist.list()
    expect(warnings).toEqual([])
    expect(worklogs.map(({ worker }) => worker)).toEqual(SIXTEEN.map(n => `worker-${n}`).toSorted())
    for (const log of worklogs) {
      expect(log).toMatchObject({ tasks_completed: 1, tasks_total: 1, subtasks_completed: 1, subtasks_total: 2 })
    }
    expect(await typist.summary()).toMatchObject({ workers: 16, completed_tasks: 16, warnings: [] })
    if (engine === 'files') expect(readdirSync(join(typist.cwd, TODOS))).toHaveLength(17)
  })

  test('who write in one log lose nothing of it either', async () => {
    const typist = new Typist(scratch())
    await typist.opened('shared')
    await typist.run('task', 'shared', '1', 'Together')
    await typist.run('close', 'shared')
    const told = await Promise.all(
      SIXTEEN.map(n =>
        n % 2
          ? typist.run('decide', 'shared', '1', `Decision ${n}`)
          : typist.run('task', 'shared', `${n + 100}`, `Task ${n}`),
      ),
    )
    expect(told.map(({ written }) => written)).toEqual(SIXTEEN.map(() => true))
    const { worklogs, tasks } = await typist.list('--worker', 'shared')
    expect(worklogs).toMatchObject([{ status: 'active', tasks_total: 9, decisions: 8 }])
    const decided = tasks!.find(({ number }) => number === 1)!.decisions
    expect(decided.toSorted()).toEqual(
      SIXTEEN.filter(n => n % 2)
        .map(n => `Decision ${n}`)
        .toSorted(),
    )
  })
})

test('a worker that edits its file while verbs change it loses nothing that it saved before a verb began', async () => {
  const typist = new Typist(scratch())
  typist.put('alice.md', `${front('alice')}\n## Task #1: Look\n\n**Status**: in_progress\n`)
  for (let n = 0; n < 5; n++) {
    typist.put('alice.md', `${typist.text('alice.md')}\nBy hand ${n}.\n`)
    await Promise.all([
      typist.run('decide', 'alice', '1', `By verb ${n}`),
      typist.run('task', 'alice', `${n + 2}`, `Task ${n}`),
    ])
  }
  const text = typist.text('alice.md')!
  for (let n = 0; n < 5; n++) {
    for (const words of [`By hand ${n}.`, `By verb ${n}`, `## Task #${n + 2}: Task ${n}`]) expect(text).toContain(words)
  }
  expect((await typist.list()).worklogs).toMatchObject([{ tasks_total: 6, decisions: 5 }])
})
