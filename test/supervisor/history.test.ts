import type { ModelMessage } from 'ai'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recent, Transcript } from '../../src/supervisor/history.ts'
import { type Cue, textsIn } from '../support/scripted-model.ts'
import { aList, completed, planned, play } from './stage.ts'

test('of earlier turns the last 10 messages are sent along, from a message of the user on', async () => {
  const history = Array.from({ length: 31 }, (_, n): ModelMessage => {
    return n % 2 === 0 ? { role: 'user', content: `question ${n}` } : { role: 'assistant', content: `answer ${n}` }
  })
  const say: Cue[] = [{ text: 'Hi' }]
  const sent = async (historyLimit?: number) => {
    const options = historyLimit === undefined ? {} : { historyLimit }
    const { asked } = await play(await aList(), say, { planning: false, how: { history }, ...options })
    return textsIn(asked[0]!)
  }
  expect((await sent()).slice(0, 2)).toEqual(['question 22', 'answer 23'])
  expect(await sent()).toHaveLength(10)
  expect(await sent(2)).toEqual(['question 30', 'Do it'])
  expect(await sent(0)).toEqual(['Do it'])
})

test("a turn that grows too long loses its older half at once, and never the user's message or half of a pair", async () => {
  const history: ModelMessage[] = [
    { role: 'user', content: 'before' },
    { role: 'assistant', content: 'yes' },
  ]
  const tick: Cue = (_, call) => (call < 30 ? { calls: [{ tool: 'list_todo' }] } : { text: 'Done' })
  const limits = { base: 40, withPlan: 50 }
  const { asked, result } = await play(await aList(), [tick], { turnLimit: 12, limits, how: { history } })
  expect(result.calls).toBe(30)
  const lengths = asked.map(({ prompt }) => prompt.length)
  expect(Math.max(...lengths)).toBe(4 + 12)
  for (const { prompt } of asked) {
    expect(prompt.slice(0, 4).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(JSON.stringify(prompt[3])).toContain('Do it')
    expectPairs(prompt)
  }
  // Cuts are rare: between them the provider's cache holds.
  expect(lengths.filter((length, n) => n > 0 && length < lengths[n - 1]!).length).toBeLessThanOrEqual(8)
  const oldest = asked.slice(1).map(({ prompt }) => JSON.stringify(prompt[4]))
  expect(new Set(oldest).size).toBeLessThanOrEqual(8)
})

test('what a turn gives back for the history is what the user said and the answer, and no more', async () => {
  const list = await aList()
  const first = await play(list, [planned('A'), { calls: [completed(1)] }, { text: 'Done.' }])
  expect(first.result.messages).toEqual([
    { role: 'user', content: 'Do it' },
    { role: 'assistant', content: 'Done.' },
  ])
  const how = { history: first.result.messages }
  const { asked } = await play(list, [{ text: 'Hi' }], { planning: false, how, message: { id: 'm2', content: 'And?' } })
  expect(textsIn(asked[0]!)).toEqual(['Do it', 'Done.', 'And?'])
})

/** A conversation as it may have been kept: with tools, called one or several at a time. */
const conversation = fc
  .array(fc.oneof(fc.constant('user'), fc.constant('text'), fc.integer({ min: 1, max: 3 })), { maxLength: 40 })
  .map(kinds => kinds.flatMap((kind, n) => messagesOf(kind, n)))

test('whatever is cut, a tool call keeps its answer and an answer its call', () => {
  fc.assert(
    fc.property(conversation, fc.integer({ min: -1, max: 50 }), (history, limit) => {
      const kept = recent(history, limit)
      expectPairs(kept)
      expect(kept.length).toBeLessThanOrEqual(Math.max(0, limit))
      expect(history.slice(history.length - kept.length)).toEqual(kept)
      if (kept.length > 0) expect(kept[0]!.role).toBe('user')
    }),
  )
  const steps = fc.array(fc.oneof(fc.constant('text'), fc.integer({ min: 1, max: 3 })), { maxLength: 60 })
  fc.assert(
    fc.property(conversation, steps, fc.integer({ min: 1, max: 30 }), (head, kinds, limit) => {
      const question: ModelMessage = { role: 'user', content: 'the question' }
      const transcript = new Transcript([...head, question], limit)
      const whole: ModelMessage[] = []
      kinds.forEach((kind, n) => {
        const step = messagesOf(kind, 1000 + n)
        whole.push(...step)
        transcript.add(step)
        const sent = transcript.with('the plan', undefined)
        expect(sent.slice(0, head.length + 1)).toEqual([...head, question])
        expect(sent.at(-1)).toEqual({ role: 'user', content: 'the plan' })
        const kept = sent.slice(head.length + 1, -1)
        expect(kept.length).toBeLessThanOrEqual(Math.max(limit, step.length))
        expect(whole.slice(whole.length - kept.length)).toEqual(kept)
        expect(kept.slice(-step.length)).toEqual(step)
        expectPairs(kept)
      })
    }),
  )
})

function messagesOf(kind: string | number, n: number): ModelMessage[] {
  if (kind === 'user') return [{ role: 'user', content: `said ${n}` }]
  if (typeof kind === 'string') return [{ role: 'assistant', content: `answer ${n}` }]
  const ids = Array.from({ length: kind }, (_, index) => `${n}-${index}`)
  const call = (toolCallId: string) => ({ type: 'tool-call' as const, toolCallId, toolName: 't', input: {} })
  const output = { type: 'text' as const, value: 'x' }
  const result = (toolCallId: string) => ({ type: 'tool-result' as const, toolCallId, toolName: 't', output })
  return [
    { role: 'assistant', content: ids.map(call) },
    { role: 'tool', content: ids.map(result) },
  ]
}

function expectPairs(messages: readonly ModelMessage[]): void {
  const ids = (role: string, type: string) =>
    messages
      .filter(message => message.role === role && Array.isArray(message.content))
      .flatMap(({ content }) => content as { type: string; toolCallId: string }[])
      .filter(part => part.type === type)
      .map(part => part.toolCallId)
  expect(ids('tool', 'tool-result')).toEqual(ids('assistant', 'tool-call'))
}
