import { context, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { tool } from 'ai'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { open, type Punchlist } from '../../src/index.ts'
import { traceSupervisor } from '../../src/otel/index.ts'
import { createSupervisor, type SupervisorOptions } from '../../src/supervisor/index.ts'
import { scratch } from '../support/scratch.ts'
import { type Cue, idsIn, scripted } from '../support/scripted-model.ts'
import { FollowingContext, type Recorder, recorder } from './recorder.ts'

let list: Punchlist
let recorded: Recorder
let stop: () => void

beforeEach(async () => {
  list = await open({ root: scratch(), store: 'sqlite::memory:' })
  recorded = recorder()
  stop = traceSupervisor({ tracer: recorded.tracer })
})

afterEach(async () => {
  stop()
  context.disable()
  await list.close()
})

function begin(cues: readonly Cue[], more: Partial<SupervisorOptions> = {}, signal?: AbortSignal) {
  const supervisor = createSupervisor({ model: scripted(...cues), store: list, name: 'chief', ...more })
  return supervisor.handleMessage(
    { id: 'm1', content: 'Go and see' },
    { conversationId: 'c', ...(signal ? { signal } : {}) },
  )
}

const worker = { description: 'reads logs', run: async () => 'a race in the cache' }

const PLANNED: readonly Cue[] = [
  { calls: [{ tool: 'create_todo', input: { items: [{ title: 'Find the cause', agentType: 'researcher' }] } }] },
  asked => ({ calls: [{ tool: 'delegate', input: { todoId: idsIn(asked)[0], task: 'Look' } }] }),
  asked => ({ calls: [{ tool: 'complete_todo', input: { todoId: idsIn(asked)[0], outcome: 'a race' } }] }),
  { text: 'It was a race.' },
]

const named = (spans: readonly ReadableSpan[], name: string) => spans.find(span => span.name === name)!

describe('a turn with a worker', () => {
  test('is a span with one below it for each call, tool and worker', async () => {
    await begin(PLANNED, { workers: { researcher: worker } }).result
    expect(await recorded.tree()).toEqual([
      'invoke_agent chief',
      '  chat actor',
      '  execute_tool create_todo',
      '  chat actor',
      '  execute_tool delegate',
      '  invoke_agent researcher',
      '  chat actor',
      '  execute_tool complete_todo',
      '  chat actor',
    ])
    expect(recorded.open.size).toBe(0)
  })

  test('has the attributes of the conventions, and nothing that anybody said', async () => {
    const { usage } = await begin(PLANNED, { workers: { researcher: worker } }).result
    const spans = await recorded.spans()
    const turn = named(spans, 'invoke_agent chief')
    expect(turn.kind).toBe(SpanKind.INTERNAL)
    expect(turn.status).toEqual({ code: SpanStatusCode.UNSET })
    expect(turn.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'chief',
      'gen_ai.conversation.id': 'c',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'actor',
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.usage.cache_write.input_tokens': 0,
      'punchlist.turn.id': 'm1',
      'punchlist.turn.end': 'answered',
      'punchlist.turn.calls': 4,
      'punchlist.turn.remaining': 0,
    })
    const call = named(spans, 'chat actor')
    expect(call.kind).toBe(SpanKind.CLIENT)
    expect(call.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'actor',
      'gen_ai.request.stream': true,
      'gen_ai.conversation.id': 'c',
      'gen_ai.response.id': expect.stringMatching(/./),
      'gen_ai.response.model': 'actor',
      'gen_ai.response.finish_reasons': ['tool_call'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.usage.cache_write.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 0,
      'punchlist.turn.call': 1,
    })
    const delegate = named(spans, 'execute_tool delegate')
    expect(delegate.kind).toBe(SpanKind.INTERNAL)
    expect(delegate.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'delegate',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'call-2-0',
    })
    const { items } = await list.as({ conversationId: 'c', turnId: 'm1' }).plan.list({ status: 'all' })
    const delegation = named(spans, 'invoke_agent researcher')
    expect(delegation.kind).toBe(SpanKind.INTERNAL)
    expect(delegation.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'researcher',
      'gen_ai.conversation.id': 'c',
      'punchlist.todo.id': items[0]!.id,
    })
    expect(JSON.stringify(spans.map(({ attributes, events }) => ({ attributes, events })))).not.toMatch(
      /a race|the cause|Go and see/,
    )
  })

  test('hangs from what was active when it began, and what its parts trace hangs from them', async () => {
    context.setGlobalContextManager(new FollowingContext())
    const run = async () => {
      recorded.tracer.startSpan('GET /logs').end()
      return 'a race'
    }
    const researcher = { description: 'reads logs', run }
    await recorded.tracer.startActiveSpan('POST /chat', async outer => {
      await begin(PLANNED, { workers: { researcher } }).result
      outer.end()
    })
    const tree = await recorded.tree()
    expect(tree.slice(0, 2)).toEqual(['POST /chat', '  invoke_agent chief'])
    expect(tree).toContain('      GET /logs')
    expect(tree[tree.indexOf('      GET /logs') - 1]).toBe('    invoke_agent researcher')
  })
})

describe('what goes wrong', () => {
  const failed = (span: ReadableSpan) => ({
    type: span.attributes['error.type'],
    status: span.status,
    exceptions: span.events.map(({ name, attributes }) => [name, attributes?.['exception.message']]),
  })

  test('a tool that fails fails its own span and no other', async () => {
    const broken = tool({
      inputSchema: z.object({}),
      execute: async (): Promise<string> => {
        throw new RangeError('no such page, Bearer abcdefghijklmnop')
      },
    })
    await begin([{ calls: [{ tool: 'broken' }] }, { text: 'It is broken.' }], { tools: { broken } }).result
    const spans = await recorded.spans()
    expect(failed(named(spans, 'execute_tool broken'))).toEqual({
      type: 'RangeError',
      status: { code: SpanStatusCode.ERROR, message: 'no such page, Bearer [redacted]' },
      exceptions: [['exception', 'no such page, Bearer [redacted]']],
    })
    expect(JSON.stringify(named(spans, 'execute_tool broken').events)).not.toContain('abcdefgh')
    expect(spans.filter(({ status }) => status.code === SpanStatusCode.ERROR)).toHaveLength(1)
  })

  test('a refusal is told apart by its code', async () => {
    await begin([{ calls: [{ tool: 'complete_todo', input: { todoId: 'x', outcome: 'done' } }] }, { text: 'No.' }])
      .result
    expect(named(await recorded.spans(), 'execute_tool complete_todo').attributes['error.type']).toBe('not_found')
  })

  test('a worker that fails is told by its span and by that of the tool', async () => {
    const run = async () => {
      throw new TypeError('log is empty')
    }
    const workers = { researcher: { description: 'reads logs', run } }
    await begin([...PLANNED.slice(0, 2), { text: 'x' }], { workers, limits: { base: 3, withPlan: 3 } }).result
    const spans = await recorded.spans()
    expect(failed(named(spans, 'invoke_agent researcher'))).toMatchObject({ type: 'TypeError' })
    expect(failed(named(spans, 'execute_tool delegate'))).toMatchObject({ type: 'TypeError' })
    expect(named(spans, 'invoke_agent chief').attributes).toMatchObject({
      'punchlist.turn.end': 'budget',
      'punchlist.turn.remaining': 1,
    })
  })

  test('a model that fails fails the call and the turn, by the status of its answer', async () => {
    const error = Object.assign(new Error('overloaded'), { statusCode: 529 })
    await expect(begin([{ fails: error }], { settings: { maxRetries: 0 } }).result).rejects.toThrow('overloaded')
    const spans = await recorded.spans()
    expect(spans.map(span => [span.name, failed(span).type])).toEqual([
      ['chat actor', '529'],
      ['invoke_agent chief', '529'],
    ])
    expect(spans[0]!.attributes['gen_ai.response.finish_reasons']).toEqual(['error'])
    expect(failed(spans[0]!).status).toEqual({ code: SpanStatusCode.ERROR, message: 'overloaded' })
    expect(recorded.open.size).toBe(0)
  })

  test('a turn that is aborted ends all its spans, also that of a tool that goes on', async () => {
    const abort = new AbortController()
    const deaf = tool({
      inputSchema: z.object({}),
      execute: async () => {
        abort.abort(new DOMException('The user left', 'AbortError'))
        return await new Promise<string>(() => undefined)
      },
    })
    const turn = begin([{ calls: [{ tool: 'deaf' }] }], { tools: { deaf } }, abort.signal)
    await expect(turn.result).rejects.toThrow('The user left')
    const spans = await recorded.spans()
    expect(Object.fromEntries(spans.map(span => [span.name, failed(span).type]))).toEqual({
      'chat actor': 'AbortError',
      'execute_tool deaf': 'AbortError',
      'invoke_agent chief': 'AbortError',
    })
    expect(recorded.open.size).toBe(0)
  })
})

test('who stops in the middle of a turn is left with ended spans, and hears no more', async () => {
  const cues: readonly Cue[] = [
    () => {
      stop()
      return { calls: [{ tool: 'list_todo' }] }
    },
    { text: 'Nothing to do.' },
  ]
  await expect(begin(cues).result).resolves.toMatchObject({ text: 'Nothing to do.' })
  expect((await recorded.spans()).map(({ name }) => name)).toEqual(['chat actor', 'invoke_agent chief'])
  expect(recorded.open.size).toBe(0)
})

test('a tracer that fails does not touch the turn', async () => {
  const broken = {
    startSpan: () => {
      throw new Error('no tracer')
    },
  }
  const leave = traceSupervisor({ tracer: broken as unknown as Recorder['tracer'] })
  await expect(begin([{ text: 'Fine.' }]).result).resolves.toMatchObject({ text: 'Fine.' })
  leave()
  expect(await recorded.tree()).toEqual(['invoke_agent chief', '  chat actor'])
})
