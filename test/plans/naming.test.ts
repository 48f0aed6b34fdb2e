import { expect, inject, test } from 'vitest'
import { open } from '../../src/index.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const STORES = { sqlite: () => 'sqlite::memory:', postgres: () => freshSchema(inject('postgres')) }

test.each(Object.entries(STORES))('an id is an id first, and a place otherwise, on %s', async (_, store) => {
  const made = await open({ root: scratch(), store: 'sqlite::memory:', conversation: 'c', turn: 't' })
  await made.plan.create({ items: ['A', 'B', 'C'].map(title => ({ title })) })
  const ids = (await made.plan.list()).items.map(({ id }) => id)
  const renamed = JSON.stringify(await made.export())
    .replaceAll(ids[0]!, '2')
    .replaceAll(ids[1]!, '1')
  const list = await open({ root: scratch(), store: store(), conversation: 'c', turn: 't' })
  await list.import(JSON.parse(renamed))
  expect(await list.plan.start({ todoId: '2' })).toMatchObject({ title: 'A' })
  expect(await list.plan.start({ todoId: '1' })).toMatchObject({ title: 'B' })
  expect(await list.plan.start({ todoId: '3' })).toMatchObject({ title: 'C' })
  for (const one of [made, list]) await one.close()
})

test('a number that is none is refused with those there are', async () => {
  const list = await open({ root: scratch(), store: 'sqlite::memory:' })
  const hint = async () => (await list.plan.start({ todoId: '9' }).catch((error: unknown) => error)) as { hint: string }
  await list.plan.turn({ turnId: 't' })
  expect((await hint()).hint).toMatch(/^Make a plan first/)
  await list.plan.create({ items: [{ title: 'A' }] })
  expect((await hint()).hint).toContain('the number 1.')
  await list.plan.create({ items: [{ title: 'B' }] })
  expect((await hint()).hint).toContain('a number from 1 to 2.')
  await list.close()
})
