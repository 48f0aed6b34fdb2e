import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { perform } from '../src/core/operation.ts'
import { Problem } from '../src/core/problem.ts'
import type { Export } from '../src/index.ts'
import { kinds } from '../src/kinds.ts'
import { callerOf, open, type Punchlist } from '../src/library.ts'
import { log, status } from '../src/overview.ts'
import { VALUES } from '../src/transfer/values.ts'
import { punchlist, refusal } from './support/cli.ts'
import { workspaceOf } from './support/files.ts'
import { mutated, nested, placesIn, withKey } from './support/mutated.ts'
import { freshSchema } from './support/postgres.ts'
import { scratch } from './support/scratch.ts'

const inTables = async (store: string) => await open({ root: scratch(), store, session: 's1', actor: 'tester' })
const ENGINES: Record<string, { open: () => Promise<Punchlist>; runs: number }> = {
  sqlite: { open: async () => await inTables('sqlite::memory:'), runs: 150 },
  files: { open: async () => await workspaceOf(scratch()), runs: 40 },
  postgres: { open: async () => await inTables(freshSchema(inject('postgres'))), runs: 12 },
}

/** An export with an item of every kind. */
async function everything(): Promise<Export> {
  const list = await inTables('sqlite::memory:')
  const task = (title: string, more = {}) => ({ title, description: 'd', expect: 'e', ...more })
  await list.plan.turn({ turnId: 't1', completion: 'verified', check: 'true' })
  await list.plan.create({ items: [{ title: 'one', check: 'true' }, { title: 'two' }] })
  await list.plan.complete({ todoId: '1', outcome: 'done in `src/a.ts`' })
  const found = { source: 'review', status: 'ready' as const, findingId: 'F', sourceRef: 'r' }
  await list.backlog.add({ items: [{ title: 'found', tags: ['a'], ...found }] })
  await list.queue.add({ items: [task('one'), task('two', { dependsOn: ['#1'], writes: ['src/a.ts'] })] })
  const { token } = await list.queue.claim({ id: '1', worker: 'w1' })
  await list.queue.complete({ id: '1', token })
  await list.worklog.open({ name: 'ann', role: 'test', plan: 'plan.md' })
  await list.continuation.stop()
  const document = await list.export()
  await list.close()
  return document
}

/** Every verb that reads, and those that work on what is there: none may fail otherwise than by a refusal. */
async function used(list: Punchlist): Promise<void> {
  const { backlog, queue, worklog } = list
  const caller = callerOf(list)
  const { plan } = list.as({ turnId: 't1' })
  const verbs: (() => Promise<unknown>)[] = [
    () => perform(status, caller, {}),
    () => perform(log, caller, {}),
    () => list.plan.list({ status: 'all' }),
    () => plan.list({ status: 'all' }),
    () => plan.turn(),
    () => backlog.list(),
    () => backlog.show({ id: 'review/001' }),
    () => backlog.next(),
    () => backlog.search({ query: 'x' }),
    () => backlog.stale(),
    () => backlog.graph(),
    () => queue.list(),
    () => queue.show({ id: '1' }),
    () => queue.show({ id: '2' }),
    () => queue.tree(),
    () => worklog.list(),
    () => worklog.summary(),
    () => worklog.pr(),
    () => list.export(),
    () => queue.claim({ worker: 'w' }),
    () => backlog.claim({ id: 'review/001', as: 'w' }),
    () => list.plan.carry(),
    () => queue.recover(),
    () => plan.create({ items: [{ title: 'another' }] }),
    () => plan.complete({ todoId: '2', outcome: 'done' }),
  ]
  for (const verb of verbs) await verb().catch(refused)
}

/** Anything but a refusal is thrown on. */
function refused(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

interface Change {
  readonly value?: unknown
  readonly key?: string
  readonly deep?: boolean
}

const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, true, 0, -1, 1.5, 1e308, 2 ** 31, 2 ** 53).map(value => ({ value })),
  fc.constantFrom('', 'x', '../../x', '-x', 'a\0b', '\ud800', 'a\nb', 'x'.repeat(5000), '[]').map(value => ({ value })),
  fc
    .constantFrom<unknown>([], {}, [1], ['x'], [null], ['a\0b'], { x: 1 }, { length: 'a' }, { x: '\udc00' })
    .map(value => ({ value })),
  fc.jsonValue().map(value => ({ value })),
  fc
    .constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'a\0b', '\ud800', '../../x')
    .map(key => ({ key })),
  fc.constant({ deep: true }),
)

function changed(before: unknown, { value, key, deep }: Change): unknown {
  if (deep) return nested(20_000)
  return key === undefined ? value : withKey(before, key)
}

describe('an export in which anything was changed', () => {
  let document: Export
  beforeAll(async () => {
    document = JSON.parse(JSON.stringify(await everything())) as Export
  })

  test.each(Object.entries(ENGINES))(
    'is refused or taken in, and then every verb works, on %s',
    async (_name, engine) => {
      const places = placesIn(document)
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...places), changes, async (place, change) => {
          const list = await engine.open()
          try {
            const strange = mutated(document, place, before => changed(before, change))
            const problem = await list.import(strange as Export).then(() => undefined, refused)
            if (problem) expect(problem.code).toMatch(/^(?:bad_input|newer_schema|move_refused)$/)
            if (problem) expect((await list.export()).items).toEqual([])
            else await used(list)
          } finally {
            await list.close()
          }
        }),
        { numRuns: engine.runs },
      )
    },
    240_000,
  )

  const strange: Record<string, [place: string, value: unknown]> = {
    'a check that is no command': ['0.fields.checkCommand', 'rm -rf'],
    'a check with a word that is none': ['0.fields.checkCommand', ['touch', 7]],
    'a check without a program': ['0.fields.checkCommand', []],
    'a verification without an output': ['0.fields.verification', { exit: 0 }],
    'no place in the plan': ['0.fields.priority', null],
    'a mode of its own': ['0.fields.completionMode', 'always'],
    'a time that is none': ['0.fields.createdAt', 'yesterday'],
    'half of a character': ['0.fields.context', '\ud800'],
    'half of a character in a list': ['0.fields.evidence', ['\ud800']],
    'a NUL in a text': ['0.texts', { a: 'a\0b' }],
    'an id with a line break': ['0.id', 'a\nb'],
    'no id': ['0.id', ''],
    'a history with a number for a reason': ['0.history.0.why', 7],
    'a NUL in its history': ['0.history.0.by', 'a\0b'],
    'lists in lists without end': ['0.fields.evidence', nested(20_000)],
  }
  test.each(Object.entries(strange))('is refused for %s', async (_what, [place, value]) => {
    const list = await ENGINES['sqlite']!.open()
    const different = mutated(document, ['items', ...place.split('.')], () => value)
    await expect(list.import(different as Export)).rejects.toMatchObject({ code: 'bad_input' })
    await list.close()
  })

  test.each(['../../x', '/etc/x', 'a//b', '', '.', 'x'.repeat(300)])(
    'is refused for a text of a task with the name %j, whatever keeps it',
    async name => {
      const at = document.items.findIndex(({ kind }) => kind === 'task')
      const texts = (before: unknown) => ({ ...(before as object), [name]: 'x' })
      const list = await ENGINES['sqlite']!.open()
      const different = mutated(document, ['items', String(at), 'texts'], texts)
      await expect(list.import(different as Export)).rejects.toMatchObject({ code: 'bad_input' })
      await list.close()
    },
  )

  test.each(['--upload-pack=x', 'req_0001;x', '../req_0001', 'req_1'])(
    'is refused for a task with the id %j, which would name a branch and a folder',
    async id => {
      const at = document.items.findIndex(({ kind }) => kind === 'task')
      const list = await ENGINES['sqlite']!.open()
      const different = mutated(document, ['items', String(at), 'id'], () => id)
      await expect(list.import(different as Export)).rejects.toMatchObject({ code: 'bad_input' })
      await list.close()
    },
  )

  test.each(['__proto__', 'constructor', 'prototype'])('is refused for a key %s', async key => {
    const list = await ENGINES['sqlite']!.open()
    for (const place of [[], ['items', '0'], ['items', '0', 'fields'], ['items', '0', 'texts']]) {
      const different = mutated(document, place, before => withKey(before, key))
      await expect(list.import(different as Export)).rejects.toMatchObject({ code: 'bad_input' })
    }
    await list.close()
  })
})

describe('what the fields of a document are held to', () => {
  test('covers every field that is JSON, and knows no field that its kind has not', () => {
    expect(Object.keys(VALUES).toSorted()).toEqual(kinds.map(({ name }) => name).toSorted())
    for (const { name, fields } of kinds) {
      const json = Object.keys(fields).filter(field => fields[field] === 'json')
      expect(Object.keys(VALUES[name]!), name).toEqual(expect.arrayContaining(json))
      expect(Object.keys(fields), name).toEqual(expect.arrayContaining(Object.keys(VALUES[name]!)))
    }
  })

  test('refuses to leave empty what a table must have', async () => {
    const file = join(scratch(), 'list.db')
    await (await inTables(`sqlite:${file}`)).close()
    const database = new DatabaseSync(file)
    for (const { name, table, fields } of kinds) {
      const columns = database.prepare(`PRAGMA table_info(${table})`).all() as { name: string; notnull: number }[]
      const needed = columns.filter(column => column.notnull && Object.hasOwn(fields, column.name))
      expect(
        needed.filter(column => VALUES[name]![column.name]?.(null) ?? true),
        name,
      ).toEqual([])
    }
    database.close()
  })
})

describe('on the command line', () => {
  const texts = [
    '',
    '{',
    '[',
    'nul',
    '\0',
    '\ufeff{}',
    '{"a":1}}',
    '[1,]',
    '"x"',
    '7',
    'null',
    '['.repeat(50_000),
    '[]',
  ]
  test('what is no document of ours is refused with exit 2, and nothing more is printed', async () => {
    const cwd = scratch()
    for (const text of [...texts, '{"__proto__":1}', '{"format":"punchlist","version":1,"items":[{"__proto__":{}}]}']) {
      writeFileSync(join(cwd, 'bad.json'), text)
      expect(await refusal(['import', 'bad.json'], { cwd }), text.slice(0, 40)).toMatchObject({ status: 2 })
    }
    const { status: code, stderr } = await punchlist(['import', '-'], { cwd, input: '\ud800{' })
    expect({ code, trace: /\n\s+at /.test(stderr) }).toEqual({ code: 2, trace: false })
  })
})
