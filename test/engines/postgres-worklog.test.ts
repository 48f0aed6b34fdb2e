import { Client } from 'pg'
import { afterEach, describe, expect, inject, test, vi } from 'vitest'
import { columnsOf } from '../../src/core/keeping.ts'
import type { Store } from '../../src/core/store.ts'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { worklog as kind } from '../../src/worklogs/kind.ts'
import { worklogConformance } from '../conformance-worklog.ts'
import { freshSchema } from '../support/postgres.ts'
import { type Wire, wireTo } from '../support/postgres-wire.ts'
import { worklogDraft } from '../support/worklogs.ts'

worklogConformance('postgres', async () => {
  const url = freshSchema(inject('postgres'))
  const again = () => openPostgresStore(url)
  return { store: await again(), again }
})

const stores: Store[] = []
const wires: Wire[] = []
const note = { by: 'tester', at: '2026-01-02T03:04:05.000Z' }

afterEach(async () => {
  for (const wire of wires.splice(0)) wire.close()
  await Promise.all(stores.splice(0).map(store => store.close()))
})

const open = async (url: string) => {
  const store = await openPostgresStore(url)
  stores.push(store)
  return store
}

test('the table of worklogs has exactly the columns of the kind, and the order of arrival', async () => {
  const url = freshSchema(inject('postgres'))
  await open(url)
  const client = new Client({ connectionString: inject('postgres') })
  await client.connect()
  const { rows } = await client.query(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2
      ORDER BY ordinal_position`,
    [new URL(url).searchParams.get('schema'), kind.table],
  )
  await client.end()
  expect(rows.map(({ name }) => name)).toEqual([...columnsOf(kind), 'n'])
})

test('a session of two hundred is read in two statements, texts and all', async () => {
  const store = await open(freshSchema(inject('postgres')))
  const drafts = Array.from({ length: 200 }, (_, n) => worklogDraft(`w${n}`, { body: `${n}`.repeat(2000) }))
  await store.insert(kind, drafts, note)
  const asked = vi.spyOn(Client.prototype, 'query')
  const items = await store.find(kind, { where: { workflow: 'work', session: 's1' } })
  const texts = await store.texts(
    kind,
    items.map(({ id }) => id),
  )
  expect(asked.mock.calls).toHaveLength(2)
  asked.mockRestore()
  expect(items.map(({ id }) => texts.get(id))).toEqual(drafts.map(draft => draft.texts))
})

describe.each(['request', 'answer'] as const)('a connection that breaks with the %s', lose => {
  for (const moment of ['cut-here', 'COMMIT']) {
    const when = moment === 'COMMIT' ? 'commit' : 'statement'

    test(`of a ${when} that opens worklogs: each is opened once, and those that were there are told apart`, async () => {
      const url = freshSchema(inject('postgres'))
      const wire = await wireTo(Number(new URL(url).port))
      wires.push(wire)
      const direct = await open(url)
      const through = new URL(url)
      through.port = String(wire.port)
      const store = await open(through.href)
      await direct.insert(kind, [worklogDraft('ann', { body: 'hers' })], note)
      const cutting = wire.cut(moment, lose)
      const drafts = ['bob', 'ann', 'cy'].map(worker => worklogDraft(worker, { body: 'new' }))
      const added = await store.insert(kind, drafts, { ...note, by: 'cut-here' })
      await cutting
      expect(added.map(({ created, item }) => [created, item.worker])).toEqual([
        [true, 'bob'],
        [false, 'ann'],
        [true, 'cy'],
      ])
      const ids = added.map(({ item }) => item.id)
      const texts = await direct.texts(kind, ids)
      expect(ids.map(id => texts.get(id)!['body'])).toEqual(['new', 'hers', 'new'])
      expect(await direct.events({})).toHaveLength(3)
    })
  }
})
