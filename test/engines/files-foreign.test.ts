import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FRONTMATTER } from '../../src/backlog/record.ts'
import type { Punchlist } from '../../src/library.ts'
import { editByHand, put, REVIEW, workspaceOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

let root: string
let list: Punchlist

beforeEach(async () => {
  root = scratch()
  list = await workspaceOf(root)
})
afterEach(async () => {
  await list.close()
})

const add = async (title: string) => {
  const { todo } = await list.backlog.add({ items: [{ title, source: 'review', status: 'ready' }] })
  return { ...todo, path: join(root, todo.path), key: `work/s1/${todo.id}` }
}
const listed = async () => (await list.backlog.list()).todos
const read = (path: string) => readFileSync(path, 'utf8')
const names = () => readdirSync(join(root, REVIEW)).toSorted()
const anHourOld = (...paths: string[]) => {
  const then = Date.now() / 1000 - 3600
  for (const path of paths) utimesSync(path, then, then)
}

describe('a file of somebody else’s', () => {
  const foreign = [
    '\uFEFF---',
    '# kept by hand',
    'reviewer:   "Ann"   ',
    'priority: high   # really',
    'custom:',
    '  nested: [1, 2]',
    "  - 'x'",
    'status:   pending  ',
    'tags: [a,  b]',
    '',
    'estimate: 3d',
    '---   ',
    '',
    'Something before the title.  ',
    '',
    '#   Odd   title  ',
    '',
    'Text with trailing spaces   ',
    '\ttabs\t',
    '',
    '```',
    '## Status History',
    '```',
    '',
    '',
    '## Status History',
    '',
    '| Timestamp | From | To | Actor | Reason |',
    '|:--|--|--|--|--:|',
    '| 2026-01-01T00:00:00Z | — | pending | ann | found it |   ',
    '',
    '## Appendix',
    '',
    'The end, without a line break',
  ].join('\r\n')
  const ours = new RegExp(`^(?:${Object.keys(FRONTMATTER).join('|')}):|^\\|`)
  const theirs = (text: string) => text.split('\r\n').filter(line => !ours.test(line))

  test('keeps every byte but our own lines, whatever is done to it', async () => {
    const path = put(root, '041-pending-p1-odd.md', foreign)
    const other = await add('Other')
    const verbs: (() => Promise<unknown>)[] = [
      () => list.backlog.approve({ id: '41', priority: 'p1' }),
      () => list.backlog.claim({ id: '41', as: 'w1' }),
      () => list.backlog.block({ id: '41', on: [other.id] }),
      () => list.backlog.dismiss({ id: other.id, as: 'out_of_scope', reason: 'x' }),
      () => list.backlog.unblock({ id: '41' }),
      () => list.backlog.release({ id: '41' }),
      () => list.backlog.claim({ id: '41', as: 'w2', lease: '1m' }),
      () => list.backlog.claim({ id: '41', as: 'w2', lease: '2m' }),
      () => list.backlog.interrupt({ id: '41', reason: 'night' }),
      () => list.backlog.resume({ id: '41' }),
      () => list.backlog.next({ claim: true, as: 'w3' }),
      () => list.backlog.sweep(),
      () => list.backlog.dismiss({ id: '41', as: 'superseded', reason: 'by another' }),
      () => list.backlog.reopen({ id: '41' }),
    ]
    for (const verb of verbs) {
      const before = read(path).split('\r\n')
      await verb()
      const after = read(path).split('\r\n')
      expect(theirs(after.join('\r\n'))).toEqual(theirs(before.join('\r\n')))
      // What happened stays as it was told, and more comes behind it.
      const rows = (lines: string[]) => lines.filter(line => line.startsWith('|'))
      expect(rows(after).slice(0, rows(before).length)).toEqual(rows(before))
      expect(after.join('').includes('\n')).toBe(false)
    }
    expect(read(path).startsWith('\uFEFF---\r\n')).toBe(true)
    expect((await list.backlog.show({ id: '41' })).todo.history.map(({ to }) => to)).toEqual([
      'pending',
      'ready',
      'in_progress',
      'blocked',
      'in_progress',
      'interrupted',
      'ready',
      'in_progress',
      'interrupted',
      'ready',
      'in_progress',
      'interrupted',
      'wont_fix',
    ])
  })

  test('gets an entry in its work log, and nothing else moves', async () => {
    const path = put(root, '041-pending-p1-odd.md', foreign)
    await list.backlog.approve({ id: '41' })
    await list.backlog.claim({ id: '41', as: 'tester' })
    for (const verb of [
      () => list.backlog.log({ id: '41', text: 'looked at it', learning: ['much'] }),
      () => list.backlog.complete({ id: '41', reason: 'mended' }),
    ]) {
      const before = theirs(read(path))
      await verb()
      const after = theirs(read(path))
      const start = after.findIndex((line, n) => line !== before[n])
      const more = after.length - before.length
      expect(more).toBeGreaterThan(4)
      expect([...after.slice(0, start), ...after.slice(start + more)]).toEqual(before)
      expect(after.join('').includes('\n')).toBe(false)
    }
    expect(await list.backlog.show({ id: '41' })).toMatchObject({
      todo: { status: 'complete', body: expect.stringContaining('- mended') },
    })
  })

  test('of other forms is listed, claimed and completed, and keeps its name', async () => {
    const made: Record<string, string> = {
      '007-ready-p1-x.md': '---\nstatus: ready\npriority: p1\n---\n\n# By hand\n',
      'task-12 - Something.md':
        '---\nid: task-12\ntitle: Something to do\nstatus: To Do\nassignee: []\n---\n\n## Description\n\nText.\n',
      '020-pending-p3-high.md': '---\nstatus: pending\npriority: high\nissue_id: "020"\n---\n# High\n',
      '030-old.md': '---\nstatus: ready\npriority: p2\nwork_session: s1\nsource: elsewhere\n---\n# Version one\n',
      '040-caf\u00e9.md': '---\nstatus: ready\n---\n# NFC\n',
      '050-cafe\u0301.md': '---\nstatus: ready\n---\n# NFD\n',
    }
    for (const [name, text] of Object.entries(made)) put(root, name, text)
    const todos = await listed()
    expect(todos.map(({ id, title, priority, status }) => [id, title, priority, status])).toEqual([
      ['review/007', 'By hand', 'p1', 'ready'],
      ['review/020', 'High', 'p1', 'pending'],
      ['review/030', 'Version one', 'p2', 'ready'],
      ['review/040', 'NFC', 'p2', 'ready'],
      ['review/050', 'NFD', 'p2', 'ready'],
      ['review/012', 'Something to do', 'p2', 'pending'],
    ])
    expect(todos.map(({ path }) => path!.slice(REVIEW.length + 1)).toSorted()).toEqual(Object.keys(made).toSorted())
    for (const { id, path } of todos) {
      const { todo } = await list.backlog.claim({ id, as: 'w1', triage: true })
      expect((await list.backlog.complete({ id, reason: 'done', token: todo.token })).todo.status).toBe('complete')
      expect(read(join(root, path!))).toContain('status: complete')
    }
    expect(names()).toEqual(Object.keys(made).toSorted())
    expect((await add('After them')).id).toBe('review/051')
  })
})

describe('a number', () => {
  test('is not given again when its file was deleted, and the deletion is told of', async () => {
    await add('a')
    const { path, key } = await add('b')
    rmSync(path)
    expect((await listed()).map(({ id }) => id)).toEqual(['review/001'])
    expect((await list.events({ last: 1 }))[0]).toMatchObject({
      id: key,
      from: 'ready',
      to: 'removed',
      by: 'unknown',
      why: 'the file is gone',
    })
    await expect(list.backlog.show({ id: '2' })).rejects.toMatchObject({ code: 'not_found' })
    expect((await add('c')).id).toBe('review/003')
  })

  test('that somebody else gave is not given again either, by name or by frontmatter', async () => {
    const path = put(root, '007-x.md', '---\nstatus: ready\n---\n# x\n')
    expect(await listed()).toHaveLength(1)
    rmSync(path)
    expect(await listed()).toEqual([])
    expect((await add('a')).id).toBe('review/008')
    put(root, '009-y.md', '---\nstatus: ready\nissue_id: "012"\n---\n# y\n')
    expect(await listed()).toHaveLength(2)
    const added = [await add('b'), await add('c'), await add('d')]
    expect(added.map(({ id }) => id)).toEqual(['review/013', 'review/014', 'review/015'])
    expect((await listed()).map(({ id }) => id).toSorted()).toEqual(
      ['008', '012', '013', '014', '015'].map(number => `review/${number}`),
    )
  })

  test('that is changed by hand makes another todo of a file, and the one before is gone', async () => {
    const { path, key } = await add('a')
    editByHand(path, text => text.replace('issue_id: "001"', 'issue_id: "005"'))
    expect((await listed()).map(({ id }) => id)).toEqual(['review/005'])
    expect((await list.events({})).map(({ id, to }) => [id, to])).toEqual([
      [key, 'ready'],
      [key, 'removed'],
      ['work/s1/review/005', 'ready'],
    ])
    expect((await add('b')).id).toBe('review/006')
  })

  test('that two files have belongs to the first; the other is named, and has its turn when that one is gone', async () => {
    const first = put(root, '001-a.md', '---\nstatus: ready\n---\n# a\n')
    const second = put(root, '001-b.md', '---\nstatus: ready\n---\n# b\n')
    anHourOld(first, second)
    const before = read(second)
    const { todos, warnings } = await list.backlog.list()
    expect(todos.map(({ title }) => title)).toEqual(['a'])
    expect(warnings).toEqual([{ file: `${REVIEW}/001-b.md`, line: 1, message: 'has the same number as 001-a.md' }])
    await list.backlog.claim({ id: '1' })
    expect(read(second)).toBe(before)
    rmSync(first)
    expect(await list.backlog.list()).toMatchObject({ todos: [{ title: 'b' }], warnings: [] })
    renameSync(second, join(root, REVIEW, '001-c.md'))
    expect(await list.backlog.list()).toMatchObject({ todos: [{ title: 'b' }], warnings: [] })
  })

  test('that two files have is free for the other also when the first is asked for and gone, or gets another', async () => {
    const first = put(root, '001-a.md', '---\nstatus: ready\n---\n# a\n')
    const second = put(root, '001-b.md', '---\nstatus: ready\n---\n# b\n')
    anHourOld(first, second)
    expect(await listed()).toHaveLength(1)
    editByHand(first, text => text.replace('status:', 'issue_id: "005"\nstatus:'))
    const both = await list.backlog.list()
    expect(both.todos.map(({ id, title }) => `${id} ${title}`).toSorted()).toEqual(['review/001 b', 'review/005 a'])
    expect(both.warnings).toEqual([])
    const third = put(root, '001-c.md', '---\nstatus: ready\n---\n# c\n')
    anHourOld(third)
    expect((await list.backlog.list()).warnings).toHaveLength(1)
    rmSync(second)
    expect((await list.backlog.show({ id: 'review/001' })).todo.title).toBe('c')
  })
})

test('without what we remember, everything that stands in files is there, and numbers go on', async () => {
  await add('a')
  await add('b')
  await list.backlog.claim({ id: '1', as: 'w1' })
  await list.backlog.log({ id: '1', text: 'did it' })
  await list.backlog.complete({ id: '1', reason: 'done' })
  const told = async () => {
    const { todos } = await list.backlog.list()
    const bodies = await Promise.all(todos.map(async ({ id }) => (await list.backlog.show({ id })).todo))
    return bodies.map(({ token: _, leaseUntil: __, ...rest }) => rest)
  }
  const before = await told()
  const texts = names().map(name => read(join(root, REVIEW, name)))
  await list.close()
  rmSync(join(root, '.punchlist'), { recursive: true })
  list = await workspaceOf(root)
  expect(await told()).toEqual(before)
  expect(names().map(name => read(join(root, REVIEW, name)))).toEqual(texts)
  expect((await add('c')).id).toBe('review/003')
})

test('folders of sessions may come, go and come back', async () => {
  const { path } = await add('a')
  const { todo } = await list.backlog.claim({ id: '1', as: 'w1' })
  const session = join(root, 'tmp/work/s1')
  renameSync(session, join(root, 'aside'))
  expect(await listed()).toEqual([])
  expect((await list.events({ last: 1 }))[0]).toMatchObject({ to: 'removed' })
  renameSync(join(root, 'aside'), session)
  expect(await listed()).toMatchObject([{ id: 'review/001', status: 'in_progress', assigned_to: 'w1' }])
  const renewed = await list.backlog.claim({ id: '1', as: 'w1' })
  expect(renewed.todo.token).toBeGreaterThanOrEqual(todo.token)
  mkdirSync(join(root, 'tmp/work/s2/todos/audit'), { recursive: true })
  renameSync(path, join(root, 'tmp/work/s2/todos/audit/005-moved.md'))
  expect((await list.as({ session: 's2' }).backlog.list()).todos).toMatchObject([
    { id: 'audit/001', assigned_to: 'w1' },
  ])
  expect(await listed()).toEqual([])
})
