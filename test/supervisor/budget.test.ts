import { tracingChannel } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import { type CallTrace, CHANNELS } from '../../src/supervisor/index.ts'
import type { Cue } from '../support/scripted-model.ts'
import { aList, completed, planIn, planned, play, told } from './stage.ts'

const LOOK: Cue = { calls: [{ tool: 'list_todo' }] }

test('without a plan a model that goes on and on is called 10 times, the last time without tools', async () => {
  const list = await aList()
  const { result, asked, shown } = await play(list, [LOOK])
  expect(result).toMatchObject({ calls: 10, end: 'budget', remaining: 0 })
  expect(asked.map(({ toolChoice }) => toolChoice?.type)).toEqual([...Array(9).fill('auto'), 'none'])
  expect(result.text).toBe('I stopped after 10 steps.')
  expect(shown).toBe(result.text)
})

test('an item that nobody touches buys no calls after those that its making has bought', async () => {
  const list = await aList()
  const { result } = await play(list, [planned('Only this'), { text: 'Done!' }])
  expect(result).toMatchObject({ calls: 11, end: 'budget', remaining: 1 })
  expect(result.left).toEqual([{ id: expect.any(String), title: 'Only this', status: 'pending', needs: null }])
  expect(result.text).toBe('Done!\n\nLeft in the plan:\n- Only this (pending)')
  expect((await planIn(list)).map(({ status }) => status)).toEqual(['pending'])
})

test('a plan that is worked off item by item has 50 calls and no more, and what is left is named', async () => {
  const list = await aList()
  const titles = Array.from({ length: 60 }, (_, n) => `item ${n + 1}`)
  const work: Cue = (_, call) => ({ calls: [completed(call - 1)] })
  const { result, asked, events } = await play(list, [planned(...titles), work])
  expect(result).toMatchObject({ calls: 50, end: 'budget', remaining: 12 })
  expect(asked.filter(({ toolChoice }) => toolChoice?.type === 'none')).toHaveLength(1)
  expect(asked.at(-1)!.toolChoice).toEqual({ type: 'none' })
  expect(told(events, 'call_started').map(({ allowed }) => allowed)).toEqual([
    10,
    ...Array.from({ length: 49 }, (_, n) => Math.min(11 + n, 50)),
  ])
  const left = titles.slice(48)
  expect(result.text).toBe(
    ['I stopped after 50 steps.', '', 'Left in the plan:', ...left.map(title => `- ${title} (pending)`)].join('\n'),
  )
})

test('what waits for a person buys no calls', async () => {
  const list = await aList()
  const block: Cue = { calls: [{ tool: 'block_todo', input: { todoId: '1', needs: 'the password' } }] }
  const { result } = await play(list, [planned('Log in'), block, LOOK])
  expect(result).toMatchObject({ calls: 11, end: 'budget', remaining: 1 })
  expect(result.text).toBe('I stopped after 11 steps.\n\nLeft in the plan:\n- Log in (needs you: the password)')
})

test('limits are those that are set, and what is not set is as without them', async () => {
  const list = await aList()
  const limits = { base: 3, withPlan: 5 }
  const work: Cue = (_, call) => ({ calls: [completed(call - 1)] })
  const titles = Array.from({ length: 9 }, (_, n) => `item ${n + 1}`)
  expect((await play(list, [LOOK], { limits })).result.calls).toBe(3)
  expect((await play(list, [planned(...titles), work], { limits })).result).toMatchObject({ calls: 5, remaining: 6 })
  const unset = { base: undefined, withPlan: 12 } as unknown as { withPlan: number }
  expect((await play(await aList(), [LOOK], { limits: unset })).result.calls).toBe(10)
})

test('a turn that is carried on begins with the base again, however much was left', async () => {
  const list = await aList()
  await play(list, [planned('A', 'B'), { text: 'Later.' }], { limits: { base: 2, withPlan: 3 } })
  const { result } = await play(list, [LOOK], { message: { id: 'm2', content: 'Go on', metadata: { turnId: 'm1' } } })
  expect(result).toMatchObject({ turnId: 'm1', calls: 10, remaining: 2 })
})

test('a model that calls tools although it may not is ended, told of and traced like any other', async () => {
  const list = await aList()
  const traces: CallTrace[] = []
  const subscriber = { asyncEnd: (trace: unknown) => traces.push(trace as CallTrace) }
  const channel = tracingChannel(CHANNELS.call)
  channel.subscribe(subscriber as never)
  onTestFinished(() => {
    channel.unsubscribe(subscriber as never)
  })
  const more = { text: 'And now ', calls: [{ tool: 'list_todo' }] }
  const { result, asked, events } = await play(list, [planned('A'), more])
  expect(asked).toHaveLength(11)
  expect(result).toMatchObject({ end: 'budget', text: 'And now \n\nLeft in the plan:\n- A (pending)' })
  expect(told(events, 'call_ended')).toHaveLength(11)
  expect(traces.map(trace => Object.keys(trace.result!).toSorted())).toEqual([
    ...Array.from({ length: 10 }, () => ['finishReason', 'id', 'model', 'usage']),
    ['finishReason', 'usage'],
  ])
})
