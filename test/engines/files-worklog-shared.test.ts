import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { todo } from '../../src/backlog/kind.ts'
import { amend, move } from '../../src/core/move.ts'
import type { Store } from '../../src/core/store.ts'
import { worklog as kind } from '../../src/worklogs/kind.ts'
import { asIfTheClockStoodStill, editByHand, filesOf, put } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'
import { todoDraft } from '../support/todos.ts'
import { handWritten, WORKERS, worklogDraft } from '../support/worklogs.ts'

let root: string
let store: Store
const note = { by: 'tester', at: '2026-01-02T03:04:05.000Z' }
const S1 = { workflow: 'work', session: 's1' }
const ID = 'work/s1/ann'

beforeEach(async () => {
  root = scratch()
  store = await filesOf(root)
})
afterEach(async () => {
  await store.close()
})

const open = async (worker: string, body = '', session = 's1') =>
  (await store.insert(kind, [worklogDraft(worker, { body, fields: { session } })], note))[0]!
const ids = async () => (await store.find(kind, {})).map(({ id }) => id)
const bodyOf = async (id: string) => (await store.texts(kind, [id])).get(id)?.['body']
const at = (path: string) => join(root, path)
const namesIn = (folder: string) => (existsSync(at(folder)) ? readdirSync(at(folder)).toSorted() : [])

describe('a file that a worker writes by hand', () => {
  test('is its worklog at once: opening it gives that one back, byte for byte as it is', async () => {
    const text = handWritten('ann', '## Task #1: mine')
    const path = put(root, 'ann.md', text, WORKERS)
    const { created, item } = await open('ann', 'ours')
    expect(created).toBe(false)
    expect(item).toMatchObject({ id: ID, identity: ID, worker: 'ann', role: 'test', status: 'active' })
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(await bodyOf(ID)).toBe('## Task #1: mine')
    expect(namesIn(WORKERS)).toEqual(['ann.md'])
  })

  test('in the very moment in which we open one is the one that is opened', async () => {
    const text = handWritten('ann', '## Task #1: mine')
    const draft = worklogDraft('ann')
    const texts = {
      get body() {
        if (!existsSync(at(`${WORKERS}/ann.md`))) put(root, 'ann.md', text, WORKERS)
        return 'ours'
      },
    }
    const [answer] = await store
      .insert(kind, [worklogDraft('bob'), { ...draft, texts }], note)
      .then(all => all.slice(1))
    expect(answer).toMatchObject({ created: false, item: { id: ID, role: 'test' } })
    expect(readFileSync(at(`${WORKERS}/ann.md`), 'utf8')).toBe(text)
    expect(namesIn(WORKERS)).toEqual(['ann.md', 'bob.md'])
    expect((await store.events({})).map(({ id, to }) => [id, to])).toEqual([
      [ID, 'active'],
      ['work/s1/bob', 'active'],
    ])
  })

  test('is told of when its status changes, and is not when only its text does', async () => {
    await open('ann', 'one')
    const path = at(`${WORKERS}/ann.md`)
    editByHand(path, text => text.replace('one', 'one and two'))
    expect(await bodyOf(ID)).toBe('one and two')
    expect((await store.find(kind, { where: { id: ID } }))[0]!.revision).toBe(2)
    editByHand(path, text => text.replace('status: active', 'status: completed'))
    expect((await store.events({ of: { kind, id: ID } })).map(({ from, to, by }) => [from, to, by])).toEqual([
      [null, 'active', 'tester'],
      ['active', 'completed', 'unknown'],
    ])
    expect(await store.find(kind, { where: S1 })).toMatchObject([{ status: 'completed', revision: 3 }])
  })

  test('between our reading and our writing is kept, and so is ours, even where the file looks as it did', async () => {
    await open('ann', 'As found.')
    const path = at(`${WORKERS}/ann.md`)
    for (const still of [false, true]) {
      let edits = 0
      await amend(store, kind, {
        id: ID,
        ...note,
        texts: ({ body = '' }) => {
          if (edits++ === 0) {
            editByHand(path, text => text.replace(/As (?:found|I say)\./, still ? 'As I SAY' : 'As I say.'))
            if (still) asIfTheClockStoodStill(root, path)
          }
          return { body: `${body}\n\nAnd ${still}.` }
        },
      })
      expect(edits).toBe(2)
    }
    expect(await bodyOf(ID)).toBe('As I SAY\n\nAnd false.\n\nAnd true.')
  })

  test('is not written over when it comes while several others are being decided on', async () => {
    const workers = Array.from({ length: 20 }, (_, n) => `w${n}`)
    for (const worker of workers) await open(worker, 'x')
    const all = (await store.find(kind, { where: S1 })).map(({ id }) => id)
    await store.texts(kind, all)
    const path = at(`${WORKERS}/w3.md`)
    editByHand(path, text => text.replace('\nx\n', '\ny\n'))
    asIfTheClockStoodStill(root, path)
    const change = { revision: 1, from: 'active', fields: {}, texts: { body: 'ours' } }
    await expect(store.save(kind, { id: 'work/s1/w3', ...change }, note)).rejects.toMatchObject({
      code: 'changed_meanwhile',
    })
    expect(readFileSync(path, 'utf8')).toContain('\ny\n')
    await store.save(kind, { id: 'work/s1/w4', ...change }, note)
  })

  test('and is renamed, removed or put back is followed', async () => {
    await open('ann', 'x')
    renameSync(at(`${WORKERS}/ann.md`), at(`${WORKERS}/bob.md`))
    expect(await ids()).toEqual(['work/s1/bob'])
    expect(await bodyOf('work/s1/bob')).toBe('x')
    await expect(amend(store, kind, { id: ID, ...note, texts: () => ({ body: 'y' }) })).rejects.toMatchObject({
      code: 'not_found',
    })
    renameSync(at(`${WORKERS}/bob.md`), at(`${WORKERS}/ann.md`))
    expect(await ids()).toEqual([ID])
    expect((await move(store, kind, { id: ID, to: 'completed', ...note })).status).toBe('completed')
  })

  test('under a name that another has too, but for its case, is one of two; with the same name it is named', async () => {
    put(root, 'ann.md', handWritten('ann'), WORKERS)
    put(root, 'Ann.md', handWritten('Ann'), WORKERS)
    expect((await ids()).toSorted()).toEqual(['work/s1/Ann', 'work/s1/ann'])
    put(root, 'ann.MD', handWritten('ann'), WORKERS)
    expect(await ids()).toHaveLength(2)
    expect(await store.unreadable(kind, S1)).toEqual([
      { file: `${WORKERS}/ann.MD`, line: 1, message: 'has the same name as ann.md' },
    ])
  })
})

describe('a session that has todos as well', () => {
  const SUMMARY = `${WORKERS}/_summary.md`

  beforeEach(async () => {
    await store.insert(todo, [todoDraft('a'), todoDraft('b', { fields: { source: 'audit' } })], note)
    await open('ann', 'x')
    await open('bob')
    put(root, '_summary.md', 'no worklog, and no todo', WORKERS)
    put(root, 'notes.txt', 'somebody else’s', WORKERS)
    put(root, 'plan.md', 'somebody else’s', 'tmp/work/s1')
  })

  test('keeps them apart: neither takes the other for its own, and the summary is nobody’s', async () => {
    const again = await filesOf(root)
    for (const one of [store, again]) {
      expect(await one.find(todo, { where: S1 })).toHaveLength(2)
      expect(await one.find(kind, { where: S1 })).toHaveLength(2)
      for (const own of [todo, kind]) expect(await one.unreadable(own, S1)).toEqual([])
      expect((await one.inspect()).filter(({ ok }) => !ok)).toEqual([])
    }
    await again.close()
    expect(readFileSync(at(SUMMARY), 'utf8')).toBe('no worklog, and no todo')
  })

  test('loses its todos and nothing else when they are removed', async () => {
    const { count, to } = await store.remove(todo, S1, note)
    expect(count).toBe(2)
    expect(namesIn(WORKERS)).toEqual(['_summary.md', 'ann.md', 'bob.md', 'notes.txt'])
    expect(namesIn(`${to}/todos`)).toEqual(['audit', 'review'])
    expect([await store.find(todo, {}), await ids()]).toEqual([[], [ID, 'work/s1/bob']])
    expect((await store.events({ last: 2 })).map(({ kind: word, to: became }) => [word, became])).toEqual([
      ['todo', 'removed'],
      ['todo', 'removed'],
    ])
    expect(await store.names(todo, 'session', { workflow: 'work' })).toEqual([])
    expect(await store.names(kind, 'session', { workflow: 'work' })).toEqual(['s1'])
    expect(await store.remove(todo, S1, note)).toEqual({ count: 0, to: null })
  })

  test('loses its worklogs and their summary and nothing else when they are removed', async () => {
    put(root, 'broken.md', 'cannot be read', WORKERS)
    put(root, '.punchlist-1-x-0-new.tmp', 'left', WORKERS)
    expect(await store.unreadable(kind, S1)).toEqual([])
    const { count, to } = await store.remove(kind, S1, note)
    expect(count).toBe(2)
    expect(namesIn(WORKERS)).toEqual(['audit', 'notes.txt', 'review'])
    expect(namesIn(`${to}/todos`)).toEqual(['.punchlist-1-x-0-new.tmp', '_summary.md', 'ann.md', 'bob.md', 'broken.md'])
    expect([await ids(), await store.unreadable(kind, S1)]).toEqual([[], []])
    expect(await store.find(todo, { where: S1 })).toHaveLength(2)
    expect(await store.names(kind, 'session', { workflow: 'work' })).toEqual([])
    expect(await store.names(todo, 'session', { workflow: 'work' })).toEqual(['s1'])
  })

  test('has no folder left when both are removed and nothing else was there', async () => {
    await open('ann', '', 's2')
    await store.insert(todo, [todoDraft('c', { fields: { session: 's2' } })], note)
    const s2 = { workflow: 'work', session: 's2' }
    await store.remove(kind, s2, note)
    expect(namesIn('tmp/work')).toEqual(['s1', 's2'])
    await store.remove(todo, s2, note)
    expect(namesIn('tmp/work')).toEqual(['s1'])
    expect((await open('ann', 'anew', 's2')).created).toBe(true)
  })

  test('is the newest only of the kind that it has items of', async () => {
    await store.insert(todo, [todoDraft('c', { fields: { session: 's2' } })], note)
    await open('ann', '', 's3')
    mkdirSync(at('tmp/work/s4/todos'), { recursive: true })
    expect(await store.names(todo, 'session', { workflow: 'work' })).toEqual(['s1', 's2'])
    expect(await store.names(kind, 'session', { workflow: 'work' })).toEqual(['s1', 's3'])
  })
})

test('looking at one session costs the same however many others there are', async () => {
  for (let n = 0; n < 60; n++) {
    put(root, 'ann.md', handWritten('ann'), `tmp/work/other-${n}/todos`)
    put(root, '001-x.md', '---\nstatus: ready\n---\n# x\n', `tmp/work/other-${n}/todos/review`)
  }
  await open('ann', 'x')
  expect(await store.count(kind, { where: S1 })).toEqual({ active: 1 })
  await open('bob')
  await amend(store, kind, { id: ID, ...note, texts: () => ({ body: 'y' }) })
  // What was never looked at is not known, and nothing has happened to it.
  const { tables } = store as unknown as { tables: Store }
  expect((await tables.events({})).map(({ id }) => id)).toEqual([ID, 'work/s1/bob', ID])
  expect(await store.find(kind, {})).toHaveLength(62)
})

test('a folder in which there are only others’ things is read while somebody else writes', async () => {
  await store.insert(todo, [todoDraft('a')], note)
  expect(await store.find(todo, {})).toHaveLength(1)
  const writer = new DatabaseSync(at('.punchlist/punchlist.db'))
  writer.exec('BEGIN IMMEDIATE')
  expect(await store.find(kind, {})).toEqual([])
  expect(await store.find(kind, { where: S1 })).toEqual([])
  writer.exec('ROLLBACK')
  writer.close()
})

test('what could not be read again because it is too long is not written', async () => {
  await open('ann', 'short')
  const long = 'x'.repeat(1024 * 1024)
  await expect(
    amend(store, kind, { id: ID, ...note, texts: ({ body = '' }) => ({ body: `${body}\n${long}` }) }),
  ).rejects.toMatchObject({ code: 'bad_input', message: expect.stringContaining('1024 KiB') })
  await expect(open('bob', long)).rejects.toMatchObject({ code: 'bad_input' })
  expect(await bodyOf(ID)).toBe('short')
  expect(namesIn(WORKERS)).toEqual(['ann.md'])
  writeFileSync(at(`${WORKERS}/ann.md`), handWritten('ann', 'y'.repeat(1024 * 1024 - 200)))
  expect((await bodyOf(ID))!.length).toBe(1024 * 1024 - 200)
})
