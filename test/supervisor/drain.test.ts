import { readUIMessageStream, toUIMessageStream, type UIMessage } from 'ai'
import { describe, expect, inject, test } from 'vitest'
import { createSupervisor } from '../../src/supervisor/index.ts'
import { freshSchema } from '../support/postgres.ts'
import { type Cue, scripted } from '../support/scripted-model.ts'
import { aList, all, completed, ended, planIn, planned, play, told, typesOf } from './stage.ts'

const WORKED_OFF: readonly Cue[] = [
  planned('Find', 'Mend'),
  { text: 'Working. ', calls: [completed(1)] },
  { text: 'All is done!' },
  { text: 'The other. ', calls: [completed(2)] },
  { text: 'Now it is.' },
]

describe.each([
  ['sqlite', () => 'sqlite::memory:'],
  ['postgres', () => freshSchema(inject('postgres'))],
])('on %s', (_, store) => {
  test('a text is not the answer while something can be worked on', async () => {
    const list = await aList(store())
    const { result, events, shown } = await play(list, WORKED_OFF)
    expect(result).toMatchObject({ calls: 5, end: 'answered', remaining: 0, left: [], text: 'Now it is.' })
    expect(shown).toBe('Now it is.')
    expect(told(events, 'sent_back')).toEqual([{ type: 'sent_back', call: 3, remaining: 1 }])
    expect((await planIn(list)).map(({ status }) => status)).toEqual(['completed', 'completed'])
    await list.close()
  })

  test('an item whose worker failed is pending again, and the next attempt reads why', async () => {
    const list = await aList(store())
    let attempts = 0
    const run = async ({ prompt }: { prompt: string }) => {
      if (++attempts === 1) throw new Error('no such log')
      return prompt
    }
    const delegate = { calls: [{ tool: 'delegate', input: { todoId: '1', agentType: 'w', task: 'Look' } }] }
    const cues = [planned('Find'), delegate, delegate, { calls: [completed(1)] }, { text: 'Found.' }]
    const { result, events } = await play(list, cues, { workers: { w: { description: 'x', run } } })
    expect(result).toMatchObject({ calls: 5, remaining: 0, text: 'Found.' })
    expect(told(events, 'worker_answered')[0]!.text).toMatch(
      /What is known:\n\[.* tried by supervisor: w: no such log\]$/,
    )
    const log = (await list.events({})).filter(({ kind }) => kind === 'plan_item')
    expect(log.map(({ to }) => to)).toEqual(['pending', 'in_progress', 'pending', 'in_progress', 'completed'])
    await list.close()
  })
})

test('what waits for a person is not waited for, and is named at the end of the answer', async () => {
  const list = await aList()
  const block = { calls: [{ tool: 'block_todo', input: { todoId: '2', needs: 'which server?' } }, completed(1)] }
  const { result, events, shown } = await play(list, [planned('A', 'Deploy'), block, { text: 'I need to know.' }])
  expect(result).toMatchObject({ calls: 3, end: 'answered', remaining: 1 })
  expect(result.text).toBe('I need to know.\n\nLeft in the plan:\n- Deploy (needs you: which server?)')
  expect(shown).toBe(result.text)
  expect(told(events, 'sent_back')).toEqual([])
})

test('everything is told in the order in which it happens', async () => {
  const { events } = await play(await aList(), WORKED_OFF)
  const call = ['call_started', 'tool_called', 'tool_answered', 'call_ended']
  const answer = ['call_started', 'text', 'call_ended']
  const talk = ['call_started', 'text', 'tool_called', 'tool_answered', 'call_ended']
  expect(typesOf(events).filter((type, n, types) => type !== 'text' || types[n - 1] !== 'text')).toEqual([
    'turn_started',
    ...call,
    ...talk,
    ...answer,
    'sent_back',
    ...talk,
    ...answer,
    'turn_ended',
  ])
})

test('the answer is streamed as it is made, and nothing else', async () => {
  const list = await aList()
  const turn = createSupervisor({ model: scripted(...WORKED_OFF), store: list }).handleMessage({ id: 'm', content: '' })
  const pieces = await all(turn.textStream)
  expect(pieces).toEqual(['Now ', 'it ', 'is.'])
})

test('the turn is one message for a chat in the browser', async () => {
  const list = await aList()
  const waits = { calls: [{ tool: 'block_todo', input: { todoId: '3', needs: 'a key' } }] }
  const model = scripted(planned('Find', 'Mend', 'Ask'), waits, ...WORKED_OFF.slice(1))
  const turn = createSupervisor({ model, store: list }).handleMessage({ id: 'm', content: 'Go' })
  const chunks = toUIMessageStream({ stream: turn.stream })
  const [seen, read] = chunks.tee()
  const types = (await all(seen)).map(({ type }) => type)
  expect(types.filter(type => type === 'start' || type === 'finish')).toEqual(['start', 'finish'])
  expect([types[0], types.at(-1)]).toEqual(['start', 'finish'])
  let message: UIMessage | undefined
  for await (const state of readUIMessageStream({ stream: read })) message = state
  const parts = message!.parts
  expect(message!.role).toBe('assistant')
  expect(parts.flatMap(part => (part.type === 'text' ? [part.text] : []))).toEqual([
    'Now it is.',
    'Left in the plan:\n- Ask (needs you: a key)',
  ])
  expect(parts.filter(part => part.type === 'text').every(part => part.state === 'done')).toBe(true)
  const tools = parts.filter(part => part.type.startsWith('tool-'))
  expect(tools.map(part => part.type)).toEqual([
    'tool-create_todo',
    'tool-block_todo',
    'tool-complete_todo',
    'tool-complete_todo',
  ])
  expect(tools.every(part => 'state' in part && part.state === 'output-available')).toBe(true)
  expect(parts.filter(part => part.type === 'step-start')).toHaveLength(6)
})

test('a plan that somebody else drains while the model speaks makes its text the answer', async () => {
  const list = await aList()
  const { result, shown } = await play(list, [
    planned('Find'),
    async () => {
      await list.as({ conversationId: 'c', turnId: 'm1' }).plan.complete({ todoId: '1', outcome: 'by hand' })
      return { text: 'It is all there.' }
    },
  ])
  expect(result).toMatchObject({ calls: 2, end: 'answered', text: 'It is all there.' })
  expect(shown).toBe('It is all there.')
})

test('an item that somebody else adds while the model answers is worked on before the turn ends', async () => {
  const list = await aList()
  const plan = list.as({ conversationId: 'c', turnId: 'm1' }).plan
  const { result, events } = await play(list, [
    async () => {
      await plan.create({ items: [{ title: 'One more' }] })
      return { text: 'Bye.' }
    },
    { calls: [completed(1)] },
    { text: 'Now bye.' },
  ])
  expect(result).toMatchObject({ calls: 3, text: 'Now bye.', remaining: 0 })
  expect(told(events, 'sent_back')).toHaveLength(1)
})

test('a model that says nothing is asked once more, and there is an answer in any case', async () => {
  const asked = await play(await aList(), [{}, { text: 'Sorry: 42.' }])
  expect(asked.result).toMatchObject({ calls: 2, end: 'answered', text: 'Sorry: 42.' })
  const silent = await play(await aList(), [{ text: ' ' }])
  expect(silent.result).toMatchObject({ calls: 2, end: 'answered', text: 'I have nothing to add.' })
  expect(silent.result.messages.at(-1)).toEqual({ role: 'assistant', content: 'I have nothing to add.' })
})

test('whoever reads along late, or more than once, gets everything from the beginning', async () => {
  const list = await aList()
  const turn = createSupervisor({ model: scripted(...WORKED_OFF), store: list }).handleMessage({ id: 'm', content: '' })
  const first = await ended(turn)
  expect(await ended(turn)).toEqual(first)
  expect(await all(turn.textStream)).toEqual(['Now ', 'it ', 'is.'])
})
