import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { type Export, open, type Punchlist } from '../src/index.ts'
import { workspaceOf } from './support/files.ts'
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
const ENGINES: Record<string, () => Promise<Punchlist>> = {
  files: async () => kept(await workspaceOf(scratch())),
  sqlite: async () => kept(await open({ root: scratch(), store: `sqlite:${join(scratch(), 'list.db')}` })),
  postgres: async () => kept(await open({ root: scratch(), store: freshSchema(inject('postgres')) })),
}

const item = (title: string, more = {}) => ({ title, description: `About ${title}.`, expect: 'It is done.', ...more })

/** A queue that went through every verb. */
async function lived({ queue }: Punchlist): Promise<void> {
  const claim = async (id: string) => (await queue.claim({ id, worker: 'w1' })).token
  await queue.add({
    items: [
      item('One: "quoted" | piped – ünï', { priority: 'HIGH', type: 'Research', targetWorker: 'w1', key: 'k1' }),
      item('Two', { description: '## Notes\n\n```\n# code\n', notes: 'see\n\nthere', dependsOn: ['#1'] }),
      item('Three', { entryCriteria: 'a', exitCriteria: 'b', subtasks: '- c', discrete: 'yes' }),
      item('Four'),
      item('Five'),
      item('Six', { dependsOn: ['#5', '#4'] }),
    ],
  })
  await queue.add({ items: [item('Seven')], stage: true })
  await queue.add({ items: [item('part'), item('part too', { dependsOn: ['#1'] })], parent: '3' })
  await queue.add({ items: [item('deep')], parent: '3_02' })
  await queue.complete({ id: '1', token: await claim('1'), note: 'done\n\nwith words' })
  const token = await claim('3_01')
  await queue.checkpoint({ id: '3_01', summary: 'half', needs: 'a key', token })
  await queue.reply({ id: '3_01', text: 'here' })
  await queue.complete({ id: '3_01', token })
  for (const type of ['first', 'second']) {
    await queue.fail({ id: '4', type, what: 'broke', tried: 'again', token: await claim('4') })
    if (type === 'first') await queue.retry({ id: '4', reason: 'mended' })
  }
  await queue.cancel({ id: '5', reason: 'no use' })
  await queue.release({ id: '6', without: ['5'], reason: 'was cancelled' })
  await claim('3_02_01')
  await queue.return({ id: '3_02_01', reason: 'lunch' })
  const last = await claim('3_02_01')
  await queue.checkpoint({ id: '3_02_01', summary: 'asks', needs: 'an answer', token: last })
}

/** Every file below the folder of a queue, and where each link leads. */
function filesIn(root: string): Record<string, string> {
  const top = join(root, 'coordination')
  const entries = readdirSync(top, { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name))
  const own = paths.filter(path => !path.includes('/.punchlist/'))
  const told = (path: string) =>
    lstatSync(path).isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path).toString('base64')
  return Object.fromEntries(own.toSorted().map(path => [relative(top, path), told(path)]))
}

/** What the queue says of itself, but for when and where. */
async function everything({ queue }: Punchlist) {
  const { tasks } = await queue.list({ all: true })
  const shown = []
  for (const { id } of tasks) {
    const { dir: _, leaseUntil: __, history, ...rest } = (await queue.show({ id })).task
    shown.push({ ...rest, history: history.map(({ token: ___, ...one }) => one) })
  }
  return shown
}

describe('a queue that is exported and imported', () => {
  test('is the same byte for byte, by way of SQLite and PostgreSQL back to directories', async () => {
    const root = scratch()
    const first = kept(await workspaceOf(root))
    await lived(first)
    const artifacts = join(root, 'coordination/completed/req_0001_one_quoted_piped_uni/artifacts/deep')
    mkdirSync(artifacts, { recursive: true })
    writeFileSync(join(artifacts, 'plot.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff, 0xfe]))
    writeFileSync(join(artifacts, 'data.csv'), 'a;b\r\n1;2\r\n')
    writeFileSync(join(artifacts, 'empty'), '')
    let document = await first.export()
    for (const engine of ['sqlite', 'postgres']) {
      const station = await ENGINES[engine]!()
      expect(await station.import(document), engine).toEqual({ added: document.items.length, known: 0, checks: 0 })
      expect(await everything(station), engine).toEqual(await everything(first))
      const next = await station.export()
      expect(next, engine).toEqual(document)
      document = next
    }
    const last = scratch()
    const back = kept(await workspaceOf(last))
    await back.import(document)
    expect(filesIn(last)).toEqual(filesIn(root))
    expect(await back.export()).toEqual(document)
    expect(await everything(back)).toEqual(await everything(first))
    expect(readFileSync(join(artifacts.replace(root, last), 'plot.png')).toString('hex')).toBe('89504e4700fffe')
  })

  for (const from of Object.keys(ENGINES)) {
    for (const to of Object.keys(ENGINES)) {
      test(`goes on where it was, from ${from} to ${to}`, async () => {
        const source = await ENGINES[from]!()
        const target = await ENGINES[to]!()
        await lived(source)
        const document: Export = await source.export()
        await target.import(document)
        expect(await target.import(document)).toEqual({ added: 0, known: document.items.length, checks: 0 })
        expect(await target.export()).toEqual(document)
        const { queue } = target
        // Numbers, keys, tokens, and what waits for what are carried along.
        expect((await queue.add({ items: [item('again', { key: 'k1' })] })).task.id).toBe('req_0001')
        expect((await queue.add({ items: [item('next')] })).task.id).toBe('req_0008')
        expect((await queue.add({ items: [item('next')], parent: '3' })).task.id).toBe('req_0003_03')
        await queue.cancel({ id: '3_03', reason: 'only a number' })
        const { tree } = await queue.tree({ id: '3' })
        expect(tree[0]).toMatchObject({ blockers: 2, progress: { completed: 1, total: 4 } })
        await expect(queue.claim({ id: '3_02', worker: 'w1' })).rejects.toMatchObject({ code: 'move_refused' })
        expect((await queue.list({ waiting: true })).tasks).toMatchObject([{ id: 'req_0003_02_01' }])
        const { token } = (await queue.show({ id: '3_02_01' })).task
        await queue.reply({ id: '3_02_01', text: 'so' })
        await queue.complete({ id: '3_02_01', token })
        expect((await queue.claim({ worker: 'w1' })).task.id).toBe('req_0002')
        await queue.retry({ id: '4' })
        expect((await queue.claim({ id: '4', worker: 'w2' })).token).toBeGreaterThan(
          (await source.queue.show({ id: '4' })).task.token,
        )
        await queue.fail({ id: '4', type: 'third', what: 'w' })
        const { texts } = (await queue.show({ id: '4' })).task
        expect(Object.keys(texts).filter(name => name.startsWith('error'))).toHaveLength(3)
        expect((await queue.recover()).recovered).toEqual([])
      })
    }
  }

  test('is refused whole when one task differs from what is there', async () => {
    for (const engine of ['files', 'sqlite']) {
      const source = await ENGINES['sqlite']!()
      await lived(source)
      const document = await source.export()
      const target = await ENGINES[engine]!()
      await target.import(document)
      await target.queue.cancel({ id: '7', reason: 'differs' })
      const before = await target.export()
      await source.queue.add({ items: [item('new')] })
      await expect(target.import(await source.export())).rejects.toMatchObject({
        code: 'move_refused',
        details: { differing: ['req_0007'] },
      })
      expect(await target.export()).toEqual(before)
    }
  })

  const made = (id: string, fields: Record<string, unknown> = {}, texts: Record<string, string> = {}) => ({
    id,
    fields: { slug: 'x', status: 'to_execute', title: 'x', ...fields },
    texts,
  })
  test.each<[string, ReturnType<typeof made>]>([
    ['an id that leads out', made('../req_0001')],
    ['an id of its own', made('task_1')],
    ['a slug that leads out', made('req_0001', { slug: '../../x' })],
    ['a slug with a slash', made('req_0001', { slug: 'a/b' })],
    ['a state of its own', made('req_0001', { status: 'sleeping' })],
    ['a text that leads out', made('req_0001', {}, { '../../../x.md': 'x' })],
    ['a text at the root', made('req_0001', {}, { '/tmp/punchlist-x': 'x' })],
    ['a field of its own', made('req_0001', { 'x"; DROP TABLE events; --': 1 })],
  ])('is refused when it was made up: %s', async (_, wrong) => {
    const source = await ENGINES['sqlite']!()
    await source.queue.add({ items: [item('x')] })
    const { items, ...rest } = await source.export()
    const [right] = items
    const forged = {
      ...right!,
      id: wrong.id,
      fields: { ...right!.fields, ...wrong.fields },
      texts: { ...right!.texts, ...wrong.texts },
    }
    const root = scratch()
    const target = kept(await workspaceOf(root))
    await expect(target.import({ ...rest, items: [forged] })).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:bad_input|move_refused|newer_schema)$/),
    })
    expect((await target.queue.list({ all: true })).tasks).toEqual([])
    expect(readdirSync(root).filter(name => !['.punchlist', 'coordination', 'tmp'].includes(name))).toEqual([])
  })
})
