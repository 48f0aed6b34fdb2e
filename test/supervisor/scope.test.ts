import { expect, test } from 'vitest'
import { createSupervisor } from '../../src/supervisor/index.ts'
import { type Cue, scripted } from '../support/scripted-model.ts'
import { aList, completed, planIn, planned, play, told } from './stage.ts'

const QUICK: readonly Cue[] = [planned('A'), { calls: [completed(1)] }, { text: 'Done.' }]

test("a turn is the message's metadata.turnId, or its id, in the conversation that is named", async () => {
  const list = await aList()
  const turnOf = async (message: object, how = {}) => {
    const supervisor = createSupervisor({ model: scripted({ text: 'Hi' }), store: list })
    const { turnId, conversationId } = await supervisor.handleMessage(message as never, how).result
    return [conversationId, turnId]
  }
  expect(await turnOf({ id: 'm', content: 'x' })).toEqual(['default', 'm'])
  expect(await turnOf({ id: 'm', content: 'x', metadata: { turnId: 't' } })).toEqual(['default', 't'])
  expect(await turnOf({ id: 'm', content: 'x', metadata: { turnId: 7, conversationId: 'k' } })).toEqual(['k', 'm'])
  expect(await turnOf({ id: 'm', content: 'x', metadata: null }, { conversationId: 'c' })).toEqual(['c', 'm'])
  const parts = [{ type: 'text', text: 'x' }]
  expect(await turnOf({ id: 'm', role: 'user', parts, metadata: { turnId: 't' } })).toEqual(['default', 't'])
})

test('a message without a usable id is refused at once', async () => {
  const supervisor = createSupervisor({ model: scripted({ text: 'Hi' }), store: await aList() })
  const refused = (id: unknown) => () => supervisor.handleMessage({ id: id as string, content: 'x' })
  expect(refused('')).toThrow('The message has no id')
  expect(refused(undefined)).toThrow('The message has no id')
  expect(refused('a\u0000b')).toThrow('control characters')
  expect(refused('x'.repeat(201))).toThrow('200 characters')
})

test('a turn or conversation that the model sends is refused by name', async () => {
  const list = await aList()
  const stolen = { turnId: 'other', conversationId: 'theirs' }
  const { result, events } = await play(list, [
    { calls: [{ tool: 'create_todo', input: { ...stolen, items: [{ title: 'Stolen', ...stolen }] } }] },
    { calls: [{ tool: 'create_todo', input: { items: [{ title: 'Mine' }] } }] },
    { calls: [{ tool: 'complete_todo', input: { todoId: '1', outcome: 'x' } }] },
    { text: 'Done.' },
  ])
  expect(told(events, 'tool_failed')).toEqual([
    expect.objectContaining({ error: expect.stringMatching(/bad_input: turnId: .*items\.0\.turnId: /) as string }),
  ])
  expect(result).toMatchObject({ turnId: 'm1', conversationId: 'c', remaining: 0 })
  expect((await planIn(list)).map(({ title, status }) => [title, status])).toEqual([['Mine', 'completed']])
  expect(await planIn(list, 'other', 'theirs')).toEqual([])
  expect(await planIn(list, 'other', 'c')).toEqual([])
})

test("another turn's items are not found, even by their ids", async () => {
  const list = await aList()
  const theirs = await list.as({ conversationId: 'c', turnId: 'theirs' }).plan.create({ items: [{ title: 'Theirs' }] })
  const { id } = theirs.created[0]!
  const { events, result } = await play(
    list,
    [
      { calls: ['complete_todo', 'start_todo'].map(tool => ({ tool, input: { todoId: id, outcome: 'x' } })) },
      { calls: [{ tool: 'delegate', input: { todoId: id, agentType: 'w', task: 'x' } }] },
      { text: 'I could not.' },
    ],
    { workers: { w: { description: 'x', run: async () => 'x' } } },
  )
  expect(result.remaining).toBe(0)
  expect(events.filter(({ type }) => type === 'tool_failed')).toHaveLength(3)
  expect((await planIn(list, 'theirs')).map(({ status }) => status)).toEqual(['pending'])
})

test('turns and conversations at the same time do not mix', async () => {
  const list = await aList()
  const names = ['c1 t1', 'c1 t2', 'c2 t1', 'c2 t2', 'c3 t1'].map(name => name.split(' ') as [string, string])
  const results = await Promise.all(
    names.map(async ([conversationId, turnId]) => {
      const title = `${conversationId}/${turnId}`
      const model = scripted(
        planned(title, 'second'),
        { calls: [completed(1, title)] },
        { calls: [completed(2)] },
        { text: title },
      )
      const supervisor = createSupervisor({ model, store: list })
      return await supervisor.handleMessage({ id: turnId, content: title }, { conversationId }).result
    }),
  )
  expect(results.map(({ text, calls }) => [text, calls])).toEqual(names.map(name => [name.join('/'), 4]))
  for (const [conversationId, turnId] of names) {
    const [first, ...rest] = await planIn(list, turnId, conversationId)
    expect([first!.title, first!.outcome, rest.length]).toEqual([
      `${conversationId}/${turnId}`,
      `${conversationId}/${turnId}`,
      1,
    ])
  }
})

test('the same turn is carried on by a message that names it, and a new one begins without a plan', async () => {
  const list = await aList()
  await play(list, [planned('A', 'B'), { text: 'Later.' }], { limits: { base: 2, withPlan: 2 } })
  const fresh = await play(list, [{ text: 'What plan?' }], { message: { id: 'm2', content: 'Hm' } })
  expect(fresh.result).toMatchObject({ calls: 1, remaining: 0, text: 'What plan?' })
  const again = await play(list, [{ calls: [completed(1)] }, { calls: [completed(2)] }, { text: 'Done.' }], {
    message: { id: 'm3', content: 'Go on', metadata: { turnId: 'm1' } },
  })
  expect(again.result).toMatchObject({ turnId: 'm1', calls: 3, end: 'answered', remaining: 0 })
  expect((await planIn(list)).map(({ status }) => status)).toEqual(['completed', 'completed'])
})

test('what was left is brought along where that is asked for, once, linked to where it came from', async () => {
  const list = await aList()
  await play(list, [planned('A', 'B'), { calls: [completed(1)] }, { text: 'Later.' }], {
    limits: { base: 3, withPlan: 3 },
  })
  const [, left] = await planIn(list)
  const carry = { how: { carry: true as const }, limits: { base: 1, withPlan: 1 } }
  const second = await play(list, [{ text: 'Hm.' }], { ...carry, message: { id: 'm2', content: 'Go on' } })
  expect(second.result.left).toEqual([{ id: expect.any(String), title: 'B', status: 'pending', needs: null }])
  await play(list, [{ text: 'Hm.' }], { ...carry, message: { id: 'm2', content: 'Go on' } })
  expect((await planIn(list, 'm2')).map(({ carriedFrom }) => carriedFrom)).toEqual([left!.id])
  const named = await play(list, QUICK.slice(1), { how: { carry: 'm2' }, message: { id: 'm3', content: 'Go on' } })
  expect(named.result).toMatchObject({ remaining: 0, calls: 2 })
})

test('with nothing to bring along the turn begins as any other, and a turn that is not there is refused', async () => {
  const list = await aList()
  const none = await play(list, [{ text: 'Hi' }], { how: { carry: true } })
  expect(none.result.text).toBe('Hi')
  const wrong = await play(list, [{ text: 'Hi' }], { how: { carry: 'never' } })
  expect(wrong.error).toMatchObject({ code: 'not_found' })
  expect(wrong.asked).toEqual([])
})
