import { describe, expect, test } from 'vitest'
import { amend } from '../../src/core/move.ts'
import { claim, move, openStore, type Problem, planItem } from '../../src/index.ts'
import { draft, note } from '../support/drafts.ts'

const code = async (answer: Promise<unknown>) =>
  await answer.then(
    () => 'granted',
    (error: Problem) => error.code,
  )

describe('a claim', () => {
  test('that was given back is over: its holder can neither report nor renew, although nobody else has the item', async () => {
    const store = await openStore('sqlite::memory:')
    await store.insert(planItem, [draft('a')], note)
    const held = (await claim(store, planItem, { to: 'in_progress', leaseMs: 60_000, ...note, by: 'slow' }))!
    await move(store, planItem, { id: held.id, to: 'pending', ...note })
    const report = { id: held.id, to: 'completed', fields: { outcome: 'late' }, token: held.token, ...note, by: 'slow' }
    expect(await code(move(store, planItem, report))).toBe('lease_lost')
    expect(await code(store.renew(planItem, held.id, held.token, 1000))).toBe('lease_lost')
    const [item] = await store.find(planItem, {})
    expect(item).toMatchObject({ status: 'pending', owner: null, leaseUntil: null, startedAt: null })
    const next = (await claim(store, planItem, { to: 'in_progress', ...note, by: 'quick' }))!
    const done = { ...report, token: next.token, by: 'quick' }
    expect(await code(move(store, planItem, done))).toBe('granted')
    expect(await code(move(store, planItem, done))).toBe('granted')
    // The same answer, but not from whoever has given it.
    expect(await code(move(store, planItem, report))).toBe('lease_lost')
    await store.close()
  })

  test('may be asked for again by whoever has it, and by nobody else', async () => {
    const store = await openStore('sqlite::memory:')
    const [added] = await store.insert(planItem, [draft('a')], note)
    const wanted = { id: added!.item.id, to: 'in_progress', ...note }
    const first = await claim(store, planItem, { ...wanted, by: 'ann' })
    expect(await claim(store, planItem, { ...wanted, by: 'ann' })).toEqual(first)
    expect(await code(claim(store, planItem, { ...wanted, by: 'bob' }))).toBe('move_refused')
    expect(await code(claim(store, planItem, { ...wanted, id: 'nobody' }))).toBe('not_found')
    expect(await claim(store, planItem, { to: 'in_progress', ...note, by: 'bob' })).toBeUndefined()
    await store.close()
  })
})

describe('a move', () => {
  test('is judged again when somebody else was first', async () => {
    const store = await openStore('sqlite::memory:')
    const [added] = await store.insert(planItem, [draft('a')], note)
    const { id } = added!.item
    const endings = Array.from({ length: 6 }, (_, n) => ({
      id,
      to: 'completed',
      fields: { outcome: n < 3 ? 'x' : 'y' },
      ...note,
    }))
    const answers = await Promise.all(endings.map(ending => code(move(store, planItem, ending))))
    expect(answers).toEqual(['granted', 'granted', 'granted', 'move_refused', 'move_refused', 'move_refused'])
    expect(await store.events({})).toHaveLength(2)
    await store.close()
  })

  test('to a status that is not there, or inherited, is bad input and names those there are', async () => {
    const store = await openStore('sqlite::memory:')
    const [added] = await store.insert(planItem, [draft('a')], note)
    for (const to of ['done', 'constructor', '']) {
      await expect(move(store, planItem, { id: added!.item.id, to, ...note })).rejects.toMatchObject({
        code: 'bad_input',
        hint: 'Use one of: pending, in_progress, completed, cancelled.',
      })
    }
    await store.close()
  })
})

test('what is beaten again and again keeps trying, and is then made on how the item stands', async () => {
  const store = await openStore('sqlite::memory:')
  const [added] = await store.insert(planItem, [draft('a')], note)
  const { id } = added!.item
  let rivals = 0
  const changed = await amend(store, planItem, {
    id,
    ...note,
    // Somebody else is quicker twelve times in a row.
    fields: ({ revision, priority }) => {
      if (rivals++ < 12)
        void store.save(planItem, { id, revision, from: 'pending', fields: { context: `rival ${rivals}` } }, note)
      return { completionCriteria: `seen at ${revision}, place ${priority}` }
    },
  })
  expect(rivals).toBe(13)
  expect(changed).toMatchObject({ context: 'rival 12', completionCriteria: 'seen at 13, place 0', revision: 14 })
  await store.close()
})
