import { describe, expect, test } from 'vitest'
import { type Agent, SimulatedHost } from './host.ts'

const finishesOne: Agent = items => {
  const next = items.find(({ status }) => status === 'pending')
  if (next) next.status = 'completed'
}
const getsNowhere: Agent = () => ({ tools: 5 })
const hasNoTool: Agent = () => ({ tools: 0 })
const rewords: Agent = (items, turn) => {
  for (const item of items) item.content = `${item.content}, version ${turn}`
  items[0]!.status = turn % 2 === 0 ? 'in_progress' : 'pending'
}
const finishesOneAndAddsOne: Agent = (items, turn) => {
  finishesOne(items, turn)
  items.push({ content: `another one, found in turn ${turn}`, status: 'pending' })
}
const needsSomebody: Agent = items => {
  for (const item of items) item.status = 'blocked'
}

describe.each([
  ['a host that answers at once', {}],
  ['a host that answers when the turn is over', { slowPrompts: true }],
  ['a host that tells every stop three times', { idles: 3 }],
  ['a host that shows what is said', { texts: true }],
])('in %s', (_, manner) => {
  test('an agent that finishes one item at a time gets its list done, with no more pushes than items', async () => {
    const host = new SimulatedHost(8, finishesOne, manner)
    host.speaks()
    await host.hours(3)
    expect(host.open).toBe(0)
    expect(host.injections).toHaveLength(7)
  })

  test.each(Object.entries({ getsNowhere, hasNoTool, rewords }))(
    'one that %s is pushed three times',
    async (__, agent) => {
      const host = new SimulatedHost(4, agent, manner)
      host.speaks()
      await host.hours(6)
      expect(host.injections).toHaveLength(3)
      for (let n = 0; n < 20; n++) {
        host.idlesAgain()
        await host.hours(0.2)
      }
      expect(host.injections).toHaveLength(3)
      host.speaks()
      await host.hours(6)
      expect(host.injections).toHaveLength(6)
    },
  )

  test('one that finishes an item and finds another for ever is pushed eight times, until the user speaks', async () => {
    const host = new SimulatedHost(2, finishesOneAndAddsOne, manner)
    host.speaks()
    await host.hours(12)
    expect(host.injections).toHaveLength(8)
    host.speaks()
    await host.hours(12)
    expect(host.injections).toHaveLength(16)
  })

  test('one that finds some more to do before it gets less is pushed until it is done', async () => {
    const agent: Agent = (items, turn) => (turn <= 6 ? finishesOneAndAddsOne(items, turn) : finishesOne(items, turn))
    const host = new SimulatedHost(4, agent, manner)
    host.speaks()
    await host.hours(3)
    expect(host.open).toBe(0)
  })

  test('one with more items than that is pushed fifty times, until the user speaks', async () => {
    const host = new SimulatedHost(60, finishesOne, manner)
    host.speaks()
    await host.hours(12)
    expect(host.injections).toHaveLength(50)
    host.speaks()
    await host.hours(12)
    expect(host.open).toBe(0)
  })

  test('one that needs somebody is let go', async () => {
    const host = new SimulatedHost(3, needsSomebody, manner)
    host.speaks()
    await host.hours(6)
    expect(host.injections).toEqual([])
  })

  test.each(['MessageAbortedError', 'ContextOverflowError'])(
    'after %s nothing follows until the user speaks',
    async error => {
      const host = new SimulatedHost(
        6,
        (items, turn) => (finishesOne(items, turn), turn === 2 ? { error } : {}),
        manner,
      )
      host.speaks()
      await host.hours(6)
      expect(host.injections).toHaveLength(1)
      host.speaks()
      await host.hours(6)
      expect(host.open).toBe(0)
    },
  )

  test('one that was switched off stays off, whoever speaks, until it is switched on', async () => {
    const host = new SimulatedHost(8, finishesOne, manner)
    host.speaks()
    await host.hours(0.01)
    const before = host.injections.length
    host.off = 'session'
    await host.hours(1)
    host.speaks()
    await host.hours(1)
    expect(host.injections.length - before).toBe(0)
    host.off = null
    host.speaks()
    await host.hours(3)
    expect(host.open).toBe(0)
  })
})

test('where prompts cannot be sent, that is tried three times', async () => {
  const host = new SimulatedHost(3, getsNowhere, { brokenPrompts: true })
  host.speaks()
  await host.hours(24)
  expect(host.injections).toHaveLength(3)
})

describe('when the process is restarted', () => {
  test('after every push, one that gets nowhere is still pushed three times', async () => {
    const host = new SimulatedHost(3, getsNowhere)
    host.speaks()
    for (let n = 0; n < 200; n++) {
      const before = host.injections.length
      await host.clock.pass(15_000)
      if (host.injections.length > before) host.restarts()
      host.idlesAgain()
    }
    expect(host.injections).toHaveLength(3)
  })

  test.each([700, 2_010, 2_050, 9_000, 31_000, 61_000])(
    'every %i ms, one that goes on for ever is pushed no more than eight times',
    async every => {
      const host = new SimulatedHost(2, finishesOneAndAddsOne)
      host.speaks()
      for (let passed = 0; passed < 7_200_000; passed += every) {
        await host.clock.pass(every)
        host.restarts()
        host.idlesAgain()
      }
      expect(host.injections.length).toBeLessThanOrEqual(8)
      if (every > 5_000) expect(host.injections).toHaveLength(8)
    },
  )
})
