import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { type Export, open, type Punchlist } from '../src/index.ts'
import { answer, punchlist, refusal } from './support/cli.ts'
import { put, REVIEW, workspaceOf } from './support/files.ts'
import { freshSchema } from './support/postgres.ts'
import { scratch } from './support/scratch.ts'

const opened: Punchlist[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map(list => list.close()))
})

const kept = (list: Punchlist) => {
  opened.push(list)
  return list
}
const inFiles = async (root = scratch()) => kept(await workspaceOf(root))
const inTables = async (store: string) => kept(await open({ root: scratch(), store, session: 's1', actor: 'tester' }))

/** Every file below the folder of them all, by its place there. */
function filesIn(root: string): Record<string, string> {
  const entries = readdirSync(join(root, 'tmp'), { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(paths.toSorted().map(path => [relative(root, path), readFileSync(path, 'utf8')]))
}

/** A backlog that went through every verb, beside a plan. */
async function lived(list: Punchlist): Promise<void> {
  const { backlog } = list
  const item = (title: string, more = {}) => ({ title, source: 'review', status: 'ready' as const, ...more })
  await list.plan.create({ items: [{ title: 'planned' }, { title: 'planned too' }] })
  await list.plan.start()
  await backlog.add({
    items: [
      item('One: "quoted" | piped – ünï', { priority: 'p1', findingId: 'F-1', sourceRef: 'a.md', severity: 'high' }),
      item('Two', {
        tags: ['a, b', '#c'],
        files: ['src/a b.ts'],
        body: '## Findings\n\n| a | b |\n\n```\n# code\n```',
      }),
      item('Three', { dependsOn: [] }),
      item('Four', { status: 'pending' }),
      item('Five', { status: 'pending' }),
      item('Six', { status: 'pending', source: 'audit' }),
    ],
  })
  await backlog.claim({ id: 'review/001', as: 'w1' })
  await backlog.log({ id: 'review/001', text: 'Looked\nand saw', learning: ['## much', 'more'], phase: 'search' })
  await backlog.block({ id: 'review/001', on: ['review/002'] })
  await backlog.claim({ id: 'review/002', as: 'w2' })
  await backlog.complete({ id: 'review/002', reason: 'escaped | it' })
  await backlog.unblock({ id: 'review/001' })
  await backlog.release({ id: 'review/001', reason: 'lunch' })
  await backlog.next({ claim: true, as: 'w3' })
  await backlog.interrupt({ id: 'review/001', reason: 'night' })
  await backlog.resume()
  await backlog.triage({ decisions: [{ id: 'review/004', decision: 'approve', priority: 'p3' }] })
  await backlog.approve({ id: 'audit/001', reason: 'yes' })
  await backlog.dismiss({ id: 'review/005', as: 'duplicate', of: 'review/003', reason: 'the same' })
  await backlog.reopen({ id: 'review/002', reason: 'came back' })
  await backlog.claim({ id: 'review/003', as: 'w4' })
  await backlog.sweep()
  await list.as({ session: 's2' }).backlog.add({ items: [item('Elsewhere')], workflow: 'reviews' })
}

const FOREIGN = [
  '---',
  '# kept by hand',
  'status: ready',
  'reviewer: "Ann"',
  'custom:',
  '  nested: [1, 2]',
  'tags: [a]',
  '---',
  '',
  '# Theirs',
  '',
  'Text.',
  '',
  '## Status History',
  '',
  '| Timestamp | From | To | Actor | Reason |',
  '|---|---|---|---|---|',
  '| 2026-01-01T00:00:00.000Z | — | ready | ann | found |',
  '',
  '## Appendix',
  '',
  'The end.',
  '',
].join('\r\n')

describe('what was exported and imported', () => {
  test('is the same byte for byte, by way of SQLite and PostgreSQL back to files', async () => {
    const root = scratch()
    const first = await inFiles(root)
    await lived(first)
    const stations = [
      await inTables(`sqlite:${join(scratch(), 'list.db')}`),
      await inTables(freshSchema(inject('postgres'))),
    ]
    let document = await first.export()
    for (const station of stations) {
      expect(await station.import(document)).toEqual({ added: document.items.length, known: 0, checks: 0 })
      const next = await station.export()
      expect(next).toEqual(document)
      document = next
    }
    const last = scratch()
    const back = await inFiles(last)
    await back.import(document)
    expect(filesIn(last)).toEqual(filesIn(root))
    expect(await back.export()).toEqual(document)
    expect((await back.backlog.add({ items: [{ title: 'next', source: 'review' }] })).todo.id).toBe('review/007')
    // The claims go on where they were.
    const { todo } = await first.backlog.claim({ id: 'review/001', as: 'w9' })
    expect((await back.backlog.claim({ id: 'review/001', as: 'w9' })).todo.token).toBe(todo.token)
  })

  test('has the keys, comments and texts of others, in every engine', async () => {
    const root = scratch()
    put(root, '007-theirs.md', FOREIGN)
    const first = await inFiles(root)
    const table = await inTables(`sqlite:${join(scratch(), 'list.db')}`)
    await table.import(await first.export())
    await table.backlog.claim({ id: 'review/007', as: 'w1' })
    const last = scratch()
    const back = await inFiles(last)
    await back.import(await table.export())
    const text = readFileSync(join(last, REVIEW, '007-theirs.md'), 'utf8')
    for (const part of ['# kept by hand', 'reviewer: "Ann"', 'custom:\n  nested: [1, 2]', 'Text.']) {
      expect(text).toContain(part)
    }
    expect(text).toContain('| ann | found |')
    expect(text.trimEnd().endsWith('## Appendix\n\nThe end.')).toBe(true)
    expect((await back.backlog.show({ id: '7' })).todo).toMatchObject({
      assigned_to: 'w1',
      tags: ['a'],
      title: 'Theirs',
    })
  })

  test('adds nothing the second time, and refuses everything when one item differs', async () => {
    const source = await inFiles()
    await lived(source)
    const document = await source.export()
    for (const target of [await inFiles(), await inTables('sqlite::memory:')]) {
      await target.import(document)
      expect(await target.import(document)).toEqual({ added: 0, known: document.items.length, checks: 0 })
      await target.backlog.log({ id: 'review/001', text: 'went on' })
      const before = await target.export()
      await source.backlog.add({ items: [{ title: 'new', source: 'gap' }] })
      await expect(target.import(await source.export())).rejects.toMatchObject({
        code: 'move_refused',
        details: { differing: ['work/s1/review/001'] },
      })
      expect(await target.export()).toEqual(before)
    }
  })
})

describe('a document that was made up', () => {
  const item = (more: Record<string, unknown> = {}, fields: Record<string, unknown> = {}): Export['items'][number] => ({
    kind: 'todo',
    id: 'work/s1/review/001',
    token: 0,
    fields: {
      title: 'x',
      status: 'ready',
      owner: null,
      identity: null,
      workflow: 'work',
      session: 's1',
      source: 'review',
      file: '001-ready-p2-x.md',
      schema_version: 2,
      priority: 'p2',
      issue_id: '001',
      tags: [],
      dependencies: [],
      files: [],
      related_todos: [],
      workflow_chain: [],
      ...fields,
    },
    texts: { body: 'x' },
    history: [{ at: '2026-01-01T00:00:00.000Z', from: null, to: 'ready', by: 'x', why: null }],
    ...more,
  })
  const finding = { finding_id: 'F', source_ref: 'r' }
  const other = item({ id: 'work/s1/review/002' }, { issue_id: '002', file: '002-ready-p2-x.md' })
  /** Whole items of other kinds, which are taken in first. */
  const plan = async () => {
    const list = await inTables('sqlite::memory:')
    await list.plan.create({ items: [{ title: 'planned' }] })
    return (await list.export()).items
  }
  const hostile: Record<string, unknown[]> = {
    'a file outside': [item({}, { file: '../../../../001-x.md' })],
    'a file in another folder': [item({}, { file: 'a/001-x.md' })],
    'a file of another kind': [item({}, { file: '.bashrc' })],
    'a file with a name that is too long': [item({}, { file: `001-${'x'.repeat(300)}.md` })],
    'a source that leads out': [item({ id: 'work/s1/../001' }, { source: '..' })],
    'a session that leads out': [item({ id: 'work/../review/001' }, { session: '..' })],
    'a session with a slash': [item({ id: 'work/a/b/review/001' }, { session: 'a/b' })],
    'a workflow of its own': [item({ id: 'etc/s1/review/001' }, { workflow: 'etc' })],
    'an id that is not its number': [item({ id: 'work/s1/review/009' })],
    'a field of its own': [item({}, { 'x" TEXT); DROP TABLE events; --': 1 })],
    'a status of its own': [item({}, { status: 'sleeping' })],
    'a number for a title': [item({}, { title: 7 })],
    'a list for a status': [item({}, { status: ['ready'] })],
    'a token that is no number of claims': [item({ token: 1.5 })],
    'a token below zero': [item({ token: -1 })],
    'a kind of its own': [item({ kind: 'secret' })],
    'one id twice': [item(), item()],
    'one finding twice': [
      item({}, { ...finding, identity: '["work","s1","F","r"]' }),
      { ...other, fields: { ...other.fields, ...finding, identity: '["work","s1","F","r"]' } },
    ],
    'the identity of another finding': [item({}, { ...finding, identity: '["work","s1","F","s"]' })],
    'a text that is none': [item({ texts: { body: 7 } })],
    'a history that is none': [item({ history: [{ to: 'x' }] })],
    nothing: ['x'],
  }

  for (const [what, items] of Object.entries(hostile)) {
    test(`is refused whole, and nothing is written: ${what}`, async () => {
      const root = scratch()
      for (const target of [await inFiles(root), await inTables('sqlite::memory:')]) {
        const document = {
          format: 'punchlist',
          version: 1,
          items: [...(await plan()), other, ...items.filter(one => one !== other)],
        }
        await expect(target.import(document as Export)).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:bad_input|newer_schema|move_refused)$/),
        })
        expect(await target.export()).toEqual({ format: 'punchlist', version: 1, items: [] })
      }
      expect(readdirSync(root).filter(name => !['.punchlist', 'tmp'].includes(name))).toEqual([])
    })
  }

  test('is taken in where nothing is wrong with it', async () => {
    const target = await inFiles()
    const items = [...(await plan()), other, item()]
    expect(await target.import({ format: 'punchlist', version: 1, items })).toEqual({
      added: items.length,
      known: 0,
      checks: 0,
    })
    expect((await target.backlog.list()).todos.map(({ id }) => id)).toEqual(['review/002', 'review/001'])
  })
})

describe('on the command line', () => {
  test('an export goes to a file and is imported elsewhere; what is no document is refused', async () => {
    const root = scratch()
    await lived(await inFiles(root))
    await answer(['export', '--to', 'all.json'], { cwd: root })
    const cwd = scratch()
    writeFileSync(join(cwd, 'all.json'), readFileSync(join(root, 'all.json')))
    await answer(['import', 'all.json'], { cwd })
    expect(filesIn(cwd)).toEqual(filesIn(root))
    for (const text of [
      '',
      '{',
      '[]',
      '{"format":"other","version":1,"items":[]}',
      '{"format":"punchlist","version":2,"items":[]}',
    ]) {
      writeFileSync(join(cwd, 'bad.json'), text)
      expect(await refusal(['import', 'bad.json'], { cwd }), text).toMatchObject({ status: 2 })
    }
    expect(filesIn(cwd)).toEqual(filesIn(root))
  })

  test('an export that would leave something out is refused', async () => {
    const cwd = scratch()
    await lived(await inFiles(cwd))
    await answer(['export', '--to', 'all.json'], { cwd })
    const before = readFileSync(join(cwd, 'all.json'), 'utf8')
    put(cwd, '050-broken.md', '---\nstatus: sleeping\n---\n')
    expect(await refusal(['export', '--to', 'all.json'], { cwd })).toMatchObject({
      status: 7,
      code: 'unreadable_file',
      details: { file: `${REVIEW}/050-broken.md`, line: 2 },
    })
    expect((await punchlist(['export'], { cwd })).stdout).toBe('')
    expect(readFileSync(join(cwd, 'all.json'), 'utf8')).toBe(before)
    writeFileSync(join(cwd, REVIEW, '050-broken.md'), '---\nstatus: ready\n---\n# mended\n')
    symlinkSync(scratch(), join(cwd, 'tmp/work/elsewhere'))
    expect(await refusal(['export', '--to', 'all.json'], { cwd })).toMatchObject({ status: 7 })
  })
})
