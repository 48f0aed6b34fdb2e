import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { open, type Punchlist } from '../../src/index.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const ENGINES: [string, () => string][] = [
  ['files', () => 'files'],
  ['sqlite', () => `sqlite:${join(scratch(), 'list.db')}`],
  ['postgres', () => freshSchema(inject('postgres'))],
]
const items = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ title: `task ${n + 1}`, description: 'Any.', expect: 'It is done.' }))

const opened: Punchlist[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(list => list.close()))
})

describe.each(ENGINES)('a program that opens the queue, on %s', (_engine, store) => {
  const list = async (now?: () => Date) => {
    const one = await open({ root: scratch(), store: store(), actor: 'tester', ...(now ? { now } : {}) })
    opened.push(one)
    return one
  }

  test('claims and completes many at once; what cannot be completed so is refused', async () => {
    const made = await list()
    const { queue } = made
    await queue.add({ items: items(30) })
    const { tasks = [] } = await queue.claim({ worker: 'w1', limit: 20 })
    expect(tasks.map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, n) => `req_00${String(n + 1).padStart(2, '0')}`),
    )
    const batch = tasks.map(({ id, token }) => ({ id, token }))
    const done = await queue.complete({ batch })
    expect(done.tasks!.map(({ id, state }) => `${id} ${state}`)).toEqual(tasks.map(({ id }) => `${id} completed`))
    expect((await queue.complete({ batch })).tasks).toEqual(done.tasks)
    const late = [...(await queue.claim({ limit: 2 })).tasks!, tasks[0]!].map(({ id, token }) => ({ id, token }))
    await expect(queue.complete({ batch: [...late.slice(0, 2), { id: 'req_0001', token: 7 }] })).rejects.toMatchObject({
      code: 'lease_lost',
    })
    await expect(queue.complete({})).rejects.toMatchObject({ code: 'bad_input' })
    const completions = (await made.events()).filter(({ to }) => to === 'completed').map(({ id }) => id)
    expect(completions).toHaveLength(new Set(completions).size)
    expect((await queue.list({ state: ['to_execute'] })).tasks).toHaveLength(8)
  })

  test('keeps a task that it renews however slow it is, and nobody else gets it', async () => {
    const { queue } = await list()
    await queue.add({ items: items(1) })
    const lease = '1500ms'
    const { token } = await queue.claim({ worker: 'slow', lease })
    for (const end = Date.now() + 2500; Date.now() < end; ) {
      await sleep(200)
      await queue.heartbeat({ id: '1', token, lease })
      await expect(queue.claim({ worker: 'rival' })).rejects.toMatchObject({ code: 'nothing_to_do' })
    }
    const { task } = await queue.complete({ id: '1', token })
    expect([task.state, task.owner, task.token]).toEqual(['completed', 'slow', 1])
  })

  test('waits for work, and is given what comes first', async () => {
    const { queue } = await list()
    await queue.add({ items: items(1), stage: true })
    const waiting = queue.claim({ worker: 'w1', wait: true, for: '30s' })
    await sleep(200)
    await queue.release({ id: '1' })
    expect((await waiting).task).toMatchObject({ id: 'req_0001', owner: 'w1' })
    await expect(queue.claim({ for: '50ms' })).rejects.toMatchObject({ code: 'nothing_to_do' })
  })

  test('is told of what happens, with the token under which it was done', async () => {
    const made = await list()
    const { queue } = made
    await queue.add({ items: items(1) })
    const { seq } = (await made.events({ last: 1 }))[0]!
    const changed = made.store.changed(seq, 20_000)
    const { token } = await queue.claim({ worker: 'w1' })
    await changed
    await queue.complete({ id: '1', token })
    expect(await made.events({ after: seq })).toMatchObject([
      { id: 'req_0001', from: 'to_execute', to: 'in_progress', by: 'w1', token: 1 },
      { id: 'req_0001', from: 'in_progress', to: 'completed', token: 1 },
    ])
  })

  test('whose clock goes back by a day keeps its lease, and completes what it has', async () => {
    let at = Date.parse('2026-06-02T12:00:00.000Z')
    const { queue } = await list(() => new Date(at))
    await queue.add({ items: items(1) })
    const { token } = await queue.claim({ worker: 'w1', lease: '30s' })
    at -= 86_400_000
    expect((await queue.recover()).recovered).toEqual([])
    await expect(queue.claim({ worker: 'w2' })).rejects.toMatchObject({ code: 'nothing_to_do' })
    await queue.heartbeat({ id: '1', token })
    expect((await queue.complete({ id: '1', token })).task.state).toBe('completed')
    expect(await queue.recover()).toEqual({ recovered: [], stale: [], warnings: [] })
  })
})
