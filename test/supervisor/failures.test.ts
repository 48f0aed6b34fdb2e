import { readUIMessageStream, tool, toUIMessageStream } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createSupervisor } from '../../src/supervisor/index.ts'
import { type Cue, scripted } from '../support/scripted-model.ts'
import { aList, all, completed, ended, planIn, planned, play, told, typesOf } from './stage.ts'

const FINISH: readonly Cue[] = [{ calls: [completed(1), completed(2)] }, { text: 'Done.' }]

test('a tool that throws is told to the model, and the turn goes on', async () => {
  const throwing = (what: unknown) =>
    tool({
      inputSchema: z.object({}),
      execute: async (): Promise<string> => {
        throw what
      },
    })
  const tools = { broken: throwing(new Error('no disk')), odd: throwing('odd'), empty: throwing(undefined) }
  const { result, events, asked } = await play(
    await aList(),
    [{ calls: Object.keys(tools).map(name => ({ tool: name })) }, { text: 'I could not.' }],
    { tools },
  )
  expect(result).toMatchObject({ calls: 2, end: 'answered', text: 'I could not.' })
  expect(told(events, 'tool_failed').map(({ error }) => error)).toEqual(['no disk', 'odd', 'undefined'])
  expect(JSON.stringify(asked[1]!.prompt)).toContain('no disk')
})

test('nonsense is told to the model, and leaves the plan as it was', async () => {
  const list = await aList()
  const nonsense: Cue = {
    calls: [
      { tool: 'no_such_tool', input: { a: 1 } },
      { tool: 'complete_todo', input: '{"todoId": "1", ' },
      { tool: 'complete_todo', input: '[]' },
      { tool: 'complete_todo', input: { todoId: 1, outcome: 'done' } },
      { tool: 'complete_todo', input: { todoId: '1', outcome: ' ' } },
      { tool: 'complete_todo', input: { todoId: '77', outcome: 'x' } },
      { tool: '__proto__', input: {} },
    ],
  }
  const { result, events, asked } = await play(list, [planned('A', 'B'), nonsense, ...FINISH])
  expect(told(events, 'tool_failed').filter(({ call }) => call === 2)).toHaveLength(7)
  const third = JSON.stringify(asked[2]!.prompt)
  expect(third).toContain('0/2 completed, 2 remaining')
  expect(third).toContain('There is no item 77')
  expect(result).toMatchObject({ calls: 4, remaining: 0, text: 'Done.' })
})

test('calls that were cut off are not carried out, the model is told, and the turn goes on', async () => {
  const list = await aList()
  const { toolName, input } = { toolName: 'complete_todo', input: JSON.stringify(completed(1).input) }
  const model = interrupted(2, 'length', [{ type: 'tool-call', toolCallId: 'cut', toolName, input }])
  const turn = createSupervisor({ model, store: list }).handleMessage({ id: 'm1', content: 'x' })
  const { result, events } = await ended(turn)
  expect(told(events, 'tool_failed')).toMatchObject([
    { call: 2, id: 'cut', error: "was not carried out: the model's answer ended with length" },
  ])
  expect(told(events, 'call_started').map(({ remaining }) => remaining)).toEqual([0, 2, 2, 0])
  expect(result).toMatchObject({ calls: 4, text: 'Done.', remaining: 0 })
})

test('what the provider carries out itself is part of the answer, and asks for no further call', async () => {
  const call = { toolCallId: 'p', toolName: 'search', providerExecuted: true }
  const model = interrupted(1, 'stop', [
    { type: 'tool-call', ...call, input: '{}' },
    { type: 'tool-result', ...call, result: 'found' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Found.' },
    { type: 'text-end', id: 't' },
  ])
  const search = {
    type: 'provider' as const,
    id: 'x.search' as const,
    args: {},
    inputSchema: z.object({}),
    isProviderExecuted: true as const,
  }
  const supervisor = createSupervisor({ model, store: await aList(), tools: { search } })
  expect(await supervisor.handleMessage({ id: 'm1', content: 'x' }).result).toMatchObject({ calls: 1, text: 'Found.' })
})

test('a tool that needs an approval ends the turn, and is not carried out', async () => {
  let carriedOut = false
  const execute = async () => {
    carriedOut = true
    return 'x'
  }
  const drop = tool({ inputSchema: z.object({}), needsApproval: true, execute })
  const { result } = await play(await aList(), [planned('A'), { calls: [{ tool: 'drop' }] }], { tools: { drop } })
  expect(result).toMatchObject({ calls: 2, end: 'unanswered', remaining: 1 })
  expect(result.text).toBe('A tool waits for an approval.\n\nLeft in the plan:\n- A (pending)')
  expect(carriedOut).toBe(false)
})

type Parts =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer T> ? T[] : never

/** A model that plans and works the plan off, and in one of its calls says something else. */
function interrupted(at: number, unified: 'length' | 'stop', parts: Parts): MockLanguageModelV4 {
  const model = scripted(planned('A', 'B'), ...FINISH)
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never
  let call = 0
  return new MockLanguageModelV4({
    doStream: async asked => {
      call += 1
      if (call !== at) return await model.doStream(asked)
      const finish = { type: 'finish' as const, finishReason: { unified, raw: unified }, usage }
      return { stream: convertArrayToReadableStream([{ type: 'stream-start', warnings: [] }, ...parts, finish]) }
    },
  })
}

const ERROR = new Error('overloaded')
test.each<[string, Cue, string]>([
  ['before it says anything', { fails: ERROR }, ''],
  ['in the middle of a text', { text: 'I was about', breaks: ERROR }, ''],
  ['after it has called tools', { calls: [completed(1), completed(2)], breaks: ERROR }, ''],
])('a model that fails %s leaves the plan as it was, and the turn can be carried on', async (_, cue, shown) => {
  const list = await aList()
  const failed = await play(list, [planned('A', 'B'), { calls: [{ tool: 'start_todo' }] }, cue])
  expect(failed.error).toBe(ERROR)
  expect(failed.shown).toBe(shown)
  expect(failed.events.at(-1)).toMatchObject({
    type: 'turn_failed',
    error: ERROR,
    remaining: 2,
    left: [
      { title: 'A', status: 'in_progress' },
      { title: 'B', status: 'pending' },
    ],
  })
  await expect(all(failed.turn.textStream)).rejects.toBe(ERROR)
  expect((await all(failed.turn.stream)).at(-1)).toEqual({ type: 'error', error: ERROR })
  expect((await planIn(list)).map(({ status }) => status)).toEqual(['in_progress', 'pending'])
  const again = await play(list, FINISH)
  expect(again.result).toMatchObject({ calls: 2, remaining: 0, text: 'Done.' })
  await list.close()
})

test('whoever shows a turn that failed in the middle of its answer has what was said, and the failure', async () => {
  const list = await aList()
  const turn = createSupervisor({ model: scripted({ text: 'It is', breaks: ERROR }), store: list }).handleMessage({
    id: 'm',
    content: 'x',
  })
  const failures: unknown[] = []
  const stream = toUIMessageStream({ stream: turn.stream, onError: error => String(error) })
  const states = []
  for await (const state of readUIMessageStream({ stream, onError: error => failures.push(error) })) states.push(state)
  expect(states.at(-1)!.parts).toMatchObject([{ type: 'step-start' }, { type: 'text', text: 'It is' }])
  expect(String(failures[0])).toContain('overloaded')
  await expect(turn.result).rejects.toBe(ERROR)
})

test('a failure that nobody asks about disturbs nobody', async () => {
  const list = await aList()
  const supervisor = createSupervisor({ model: scripted({ fails: ERROR }), store: list })
  const heard = Promise.withResolvers<void>()
  const listening = createSupervisor({
    model: scripted({ fails: ERROR }),
    store: list,
    onEvent: ({ type }) => type === 'turn_failed' && heard.resolve(),
  })
  supervisor.handleMessage({ id: 'm', content: 'x' })
  listening.handleMessage({ id: 'm', content: 'x' })
  await heard.promise
  await new Promise(done => setTimeout(done, 5))
})

test('a store that goes away in the middle ends the turn with what it says', async () => {
  const list = await aList()
  const gone: Cue = async () => {
    await list.close()
    return { calls: [completed(1)] }
  }
  const { error, events } = await play(list, [planned('A'), gone, { text: 'Done.' }])
  expect(error).toBeInstanceOf(Error)
  expect(events.at(-1)).toMatchObject({ type: 'turn_failed', remaining: 0, left: [] })
})

test('a listener that fails is warned of once, and the turn goes on', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  onTestFinished(() => warn.mockRestore())
  const workers = { w: { description: 'x', run: async () => 'x' } }
  const cues = [planned('A', 'B'), { calls: [{ tool: 'delegate', input: { todoId: '1', agentType: 'w', task: 'x' } }] }]
  const fails = (): never => {
    throw new Error('listener')
  }
  const rejects = async () => Promise.reject(new Error('listener'))
  for (const onEvent of [fails, rejects as typeof fails]) {
    const list = await aList()
    const { result } = await play(list, [...cues, ...FINISH], { onEvent, workers })
    expect(result).toMatchObject({ calls: 4, remaining: 0, text: 'Done.' })
    expect((await planIn(list))[0]!.context).toBe('')
  }
  expect(warn.mock.calls.map(([text]) => text)).toEqual(
    Array(2).fill('onEvent of the supervisor has failed: Error: listener'),
  )
})

test('a failing turn, too, is told from its start to its end', async () => {
  const { events } = await play(await aList(), [{ fails: ERROR }])
  expect(typesOf(events)).toEqual(['turn_started', 'call_started', 'turn_failed'])
})
