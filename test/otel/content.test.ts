import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { tool } from 'ai'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { open, type Punchlist } from '../../src/index.ts'
import { traceSupervisor } from '../../src/otel/index.ts'
import { createSupervisor, type Message } from '../../src/supervisor/index.ts'
import { scratch } from '../support/scratch.ts'
import { scripted } from '../support/scripted-model.ts'
import { type Recorder, recorder } from './recorder.ts'

const KEY = 'sk-abcdefghijklmnopqrstuvwx'

let list: Punchlist
let recorded: Recorder
let leave: () => void

beforeEach(async () => {
  list = await open({ root: scratch(), store: 'sqlite::memory:' })
  recorded = recorder()
})

afterEach(async () => {
  leave()
  await list.close()
})

async function spansOf(captureContent: boolean, message: Message, ...input: [unknown, unknown]) {
  leave = traceSupervisor({ tracer: recorded.tracer, captureContent })
  const lookup = tool({ inputSchema: z.object({ text: z.string() }), execute: async () => input[1] })
  const supervisor = createSupervisor({
    model: scripted(
      { calls: [{ tool: 'lookup', input: input[0] }] },
      { calls: [{ tool: 'delegate', input: { agentType: 'reader', task: `Read it with ${KEY}` } }] },
      { text: `The key is ${KEY}.` },
    ),
    store: list,
    tools: { lookup },
    workers: { reader: { description: 'reads', run: async () => 'Nothing there.' } },
  })
  // The AI SDK fails a turn whose tool returns what JSON has no form for.
  await supervisor.handleMessage(message).result.catch(() => undefined)
  return await recorded.spans()
}

const content = (spans: readonly ReadableSpan[], name: string) => {
  const { attributes } = spans.find(span => span.name === name)!
  const told = Object.entries(attributes).filter(([key]) => /messages|arguments|result/.test(key))
  return Object.fromEntries(told.map(([key, value]) => [key, JSON.parse(String(value))]))
}

test('what went in and came out is told on request, without what looks like a credential', async () => {
  const message = { id: 'm', content: `Use ${KEY}` }
  const spans = await spansOf(true, message, { text: `at ${KEY}` }, { found: [`it is "${KEY}"`, 1] })
  const text = (words: string) => [{ type: 'text', content: words }]
  expect(content(spans, 'invoke_agent supervisor')).toEqual({
    'gen_ai.input.messages': [{ role: 'user', parts: text('Use [redacted]') }],
    'gen_ai.output.messages': [{ role: 'assistant', parts: text('The key is [redacted].'), finish_reason: 'stop' }],
  })
  expect(content(spans, 'execute_tool lookup')).toEqual({
    'gen_ai.tool.call.arguments': { text: 'at [redacted]' },
    'gen_ai.tool.call.result': { found: ['it is "[redacted]"', 1] },
  })
  expect(content(spans, 'invoke_agent reader')).toEqual({
    'gen_ai.input.messages': [{ role: 'user', parts: text('Read it with [redacted]') }],
    'gen_ai.output.messages': [{ role: 'assistant', parts: text('Nothing there.'), finish_reason: 'stop' }],
  })
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(KEY)
})

test('nothing of it is told to those who did not ask', async () => {
  const spans = await spansOf(false, { id: 'm', content: 'Use it' }, { text: 'there' }, 'found')
  for (const { name } of spans) expect(content(spans, name)).toEqual({})
})

test('of a file that the user sent, only that it was there', async () => {
  const file = { type: 'file' as const, mediaType: 'text/plain', url: 'data:text/plain;base64,c2VjcmV0' }
  const message = { id: 'm', parts: [{ type: 'text' as const, text: 'See' }, file] }
  const spans = await spansOf(true, message, { text: 'there' }, 'found')
  expect(content(spans, 'invoke_agent supervisor')['gen_ai.input.messages']).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'See' }, { type: 'file' }] },
  ])
})

test('a result that JSON has no form for is left out, and the span ends all the same', async () => {
  const round: Record<string, unknown> = {}
  round['round'] = round
  const spans = await spansOf(true, { id: 'm', content: 'Go' }, { text: 'there' }, round)
  expect(content(spans, 'execute_tool lookup')).toEqual({ 'gen_ai.tool.call.arguments': { text: 'there' } })
  expect(recorded.open.size).toBe(0)
})
