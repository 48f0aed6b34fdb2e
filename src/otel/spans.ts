import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { CallTrace, CHANNELS, DelegationTrace, ModelName, ToolTrace, TurnTrace } from '../supervisor/events.ts'
import { asJson, saidBy, toldTo, turnContent } from './content.ts'
import { providerName } from './provider.ts'

/** How something the supervisor does looks as a span. */
export interface SpanOf<T> {
  readonly kind: SpanKind
  name(trace: T): string
  /** What is known when it begins, and a sampler may decide by. */
  begun(trace: T): Attributes
  ended(trace: T): Attributes
  /** What is only told to those who ask for it. */
  content(trace: T): Attributes
}

type Usage = NonNullable<CallTrace['result']>['usage']

const turn: SpanOf<TurnTrace> = {
  kind: SpanKind.INTERNAL,
  name: ({ agent }) => `invoke_agent ${agent}`,
  begun: ({ agent, conversationId, turnId, model }) => ({
    ...invoked(agent, conversationId, model),
    'punchlist.turn.id': turnId,
  }),
  ended: ({ result }) =>
    result
      ? {
          ...used(result.usage),
          'punchlist.turn.end': result.end,
          'punchlist.turn.calls': result.calls,
          'punchlist.turn.remaining': result.remaining,
        }
      : {},
  content: ({ result }) => (result ? turnContent(result) : {}),
}

const call: SpanOf<CallTrace> = {
  kind: SpanKind.CLIENT,
  name: ({ model }) => `chat ${model.id}`,
  begun: ({ conversationId, model, call: number }) => ({
    'gen_ai.operation.name': 'chat',
    ...asked(model),
    'gen_ai.conversation.id': conversationId,
    'gen_ai.request.stream': true,
    'punchlist.turn.call': number,
  }),
  ended: ({ result }) =>
    result
      ? {
          'gen_ai.response.id': result.id,
          'gen_ai.response.model': result.model,
          'gen_ai.response.finish_reasons': [finished(result.finishReason)],
          ...used(result.usage),
          'gen_ai.usage.reasoning.output_tokens': result.usage.outputTokenDetails.reasoningTokens,
        }
      : { 'gen_ai.response.finish_reasons': ['error'] },
  content: () => ({}),
}

const tool: SpanOf<ToolTrace> = {
  kind: SpanKind.INTERNAL,
  name: ({ tool: name }) => `execute_tool ${name}`,
  begun: ({ tool: name, id }) => ({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.type': 'function',
  }),
  ended: () => ({}),
  content: ({ input, result }) => ({
    'gen_ai.tool.call.arguments': asJson(input),
    'gen_ai.tool.call.result': asJson(result),
  }),
}

const delegation: SpanOf<DelegationTrace> = {
  kind: SpanKind.INTERNAL,
  name: ({ agent }) => `invoke_agent ${agent}`,
  begun: ({ agent, conversationId, model, todoId }) => ({
    ...invoked(agent, conversationId, model),
    'punchlist.todo.id': todoId ?? undefined,
  }),
  ended: () => ({}),
  content: ({ task, result }) => ({
    'gen_ai.input.messages': toldTo(task),
    'gen_ai.output.messages': result === undefined ? undefined : saidBy(result, 'stop'),
  }),
}

/** By the names of the channels. */
export const SPANS = { turn, call, tool, delegation } satisfies Record<keyof typeof CHANNELS, unknown>

function invoked(agent: string, conversationId: string, model: ModelName | null): Attributes {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'gen_ai.conversation.id': conversationId,
    ...(model ? asked(model) : {}),
  }
}

function asked({ provider, id }: ModelName): Attributes {
  return { 'gen_ai.provider.name': providerName(provider), 'gen_ai.request.model': id }
}

/** The AI SDK says `tool-calls` and `content-filter`. */
function finished(reason: string): string {
  return reason === 'tool-calls' ? 'tool_call' : reason.replaceAll('-', '_')
}

function used({ inputTokens, outputTokens, inputTokenDetails }: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.cache_read.input_tokens': inputTokenDetails.cacheReadTokens,
    // Was cache_creation until the conventions renamed it in 2026.
    'gen_ai.usage.cache_write.input_tokens': inputTokenDetails.cacheWriteTokens,
  }
}
