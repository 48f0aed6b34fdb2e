import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { amend, move } from '../src/core/move.ts'
import { type Export, open, type Punchlist } from '../src/index.ts'
import { worklog as kind } from '../src/worklogs/kind.ts'
import { put, workspaceOf } from './support/files.ts'
import { freshSchema } from './support/postgres.ts'
import { scratch } from './support/scratch.ts'
import { keptWorklog, WORKERS, worklogDraft } from './support/worklogs.ts'

const opened: Punchlist[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map(list => list.close()))
})

const kept = (list: Punchlist) => {
  opened.push(list)
  return list
}
const ENGINES: Record<string, () => Promise<Punchlist>> = {
  files: async () => kept(await workspaceOf(scratch())),
  sqlite: async () => kept(await open({ root: scratch(), store: `sqlite:${join(scratch(), 'list.db')}` })),
  postgres: async () => kept(await open({ root: scratch(), store: freshSchema(inject('postgres')) })),
}
const note = { by: 'tester', at: '2026-01-02T03:04:05.000Z' }
const body = (subject: string) =>
  `## Task #1: ${subject}\n\n**Status**: in_progress\n\n- [ ] a | b\n\n### Decisions\n\n- [arch] ünï`

/** A session whose workers did this and that, beside a todo and a plan. */
async function lived({ store, plan, backlog }: Punchlist): Promise<void> {
  await plan.create({ items: [{ title: 'planned' }] })
  await backlog.add({ items: [{ title: 'found', source: 'review' }] })
  const drafts = [
    worklogDraft('ann', { body: body('one') }),
    worklogDraft('bob', { fields: { role: 'test' } }),
    worklogDraft('cy', { body: '```\nnot closed' }),
    worklogDraft('ann', { fields: { session: 's2' } }),
  ]
  const added = await store.insert(kind, drafts, note)
  const [ann, bob] = added.map(({ item }) => item.id)
  await amend(store, kind, { id: ann!, ...note, why: 'task 2', texts: text => ({ body: `${text['body']}\n\nmore` }) })
  await move(store, kind, { id: ann!, to: 'completed', ...note, by: 'ann' })
  await move(store, kind, { id: ann!, to: 'active', ...note, by: 'ann', why: 'another task' })
  await move(store, kind, { id: bob!, to: 'interrupted', ...note, by: 'boss', why: 'swept' })
}

function filesIn(root: string): Record<string, string> {
  const entries = readdirSync(join(root, 'tmp'), { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(paths.toSorted().map(path => [relative(root, path), readFileSync(path, 'utf8')]))
}

const worklogsIn = ({ items }: Export) => items.filter(({ kind: name }) => name === kind.name)

describe('worklogs that are exported and imported', () => {
  test('are the same byte for byte, by way of SQLite and PostgreSQL back to files', async () => {
    const root = scratch()
    const first = kept(await workspaceOf(root))
    await lived(first)
    let document = await first.export()
    expect(worklogsIn(document).map(({ id, history }) => [id, history.map(({ to }) => to)])).toEqual([
      ['work/s1/ann', ['active', 'active', 'completed', 'active']],
      ['work/s1/bob', ['active', 'interrupted']],
      ['work/s1/cy', ['active']],
      ['work/s2/ann', ['active']],
    ])
    for (const engine of ['sqlite', 'postgres']) {
      const station = await ENGINES[engine]!()
      expect(await station.import(document), engine).toEqual({ added: document.items.length, known: 0, checks: 0 })
      const next = await station.export()
      expect(next, engine).toEqual(document)
      document = next
    }
    const last = scratch()
    const back = kept(await workspaceOf(last))
    await back.import(document)
    expect(filesIn(last)).toEqual(filesIn(root))
    expect(await back.export()).toEqual(document)
  })

  for (const from of Object.keys(ENGINES)) {
    for (const to of Object.keys(ENGINES)) {
      test(`go on where they were, from ${from} to ${to}`, async () => {
        const [source, target] = [await ENGINES[from]!(), await ENGINES[to]!()]
        await lived(source)
        const document = await source.export()
        await target.import(document)
        expect(await target.import(document)).toEqual({ added: 0, known: document.items.length, checks: 0 })
        expect(await target.export()).toEqual(document)
        const { store } = target
        const [held] = await store.insert(kind, [worklogDraft('bob')], note)
        expect(held).toMatchObject({ created: false, item: { status: 'interrupted', role: 'test' } })
        await amend(store, kind, {
          id: 'work/s1/ann',
          ...note,
          texts: ({ body: was }) => ({ body: `${was}\n\nand on` }),
        })
        const texts = await store.texts(kind, ['work/s1/ann'])
        expect(texts.get('work/s1/ann')!['body']).toBe(`${body('one')}\n\nmore\n\nand on`)
        await expect(target.import(document)).rejects.toMatchObject({
          code: 'move_refused',
          details: { differing: ['work/s1/ann'] },
        })
      })
    }
  }

  test('are not exported while one of them cannot be read: nothing is left out in silence', async () => {
    const root = scratch()
    const list = kept(await workspaceOf(root))
    await lived(list)
    put(root, 'dan.md', 'not a worklog', WORKERS)
    await expect(list.export()).rejects.toMatchObject({
      code: 'unreadable_file',
      details: { file: `${WORKERS}/dan.md` },
    })
  })
})

const forged = (more: Record<string, unknown>, id = 'work/s1/ann') => {
  const { fields, ...rest } = keptWorklog('ann')
  return { kind: 'worklog', ...rest, id, fields: { ...fields, ...more } }
}

test.each<[string, ReturnType<typeof forged>]>([
  ['a file that leads out', forged({ file: '../../x.md' })],
  ['a file in another folder', forged({ file: 'review/ann.md' })],
  ['the summary for a file', forged({ file: '_summary.md', worker: '_summary' }, 'work/s1/_summary')],
  ['a hidden file', forged({ file: '.ann.md', worker: '.ann' }, 'work/s1/.ann')],
  ['a worker that no file can be named after', forged({ file: 'a b.md', worker: 'a b' }, 'work/s1/a b')],
  ['a session that leads out', forged({ session: '..' }, 'work/../ann')],
  ['a workflow of its own', forged({ workflow: 'etc' }, 'etc/s1/ann')],
  ['an id that is not its worker', forged({}, 'work/s1/bob')],
  ['the identity of another', forged({ identity: 'work/s1/bob' })],
  ['no identity', forged({ identity: null })],
  ['a status of its own', forged({ status: 'sleeping' })],
  ['a field of its own', forged({ 'x"; DROP TABLE events; --': 1 })],
])('a worklog that was made up is refused, and nothing is written: %s', async (_, item) => {
  const root = scratch()
  for (const target of [kept(await workspaceOf(root)), await ENGINES['sqlite']!()]) {
    const document = { format: 'punchlist', version: 1, items: [item] } as unknown as Export
    await expect(target.import(document)).rejects.toMatchObject({ code: 'bad_input' })
    expect((await target.export()).items).toEqual([])
  }
  expect(readdirSync(root).filter(name => name !== '.punchlist')).toEqual([])
})
