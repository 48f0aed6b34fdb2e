import { convertToModelMessages, type LanguageModel, type LanguageModelUsage, type ModelMessage } from 'ai'
import * as v from 'valibot'
import { line } from '../core/input.ts'
import { checked } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { ModelName } from './events.ts'
import type { HandleOptions, Message } from './options.ts'

/** Where a message belongs: the turn it names, or the one it begins. */
export function scopeOf(
  message: Message,
  { conversationId }: HandleOptions,
): { readonly conversationId: string; readonly turnId: string } {
  const named = (typeof message.metadata === 'object' && message.metadata) || {}
  const { turnId, conversationId: inMessage } = named as Readonly<Record<string, unknown>>
  const turn = wordIn(turnId) ?? wordIn(message.id)
  if (turn === undefined) {
    throw new Problem('bad_input', 'The message has no id', 'Give it an id, or a turnId in its metadata.')
  }
  const conversation = wordIn(conversationId) ?? wordIn(inMessage) ?? 'default'
  return checked(names, { conversationId: conversation, turnId: turn })
}

const names = v.object({ conversationId: line(200), turnId: line(200) })

function wordIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What the user said, as the model is sent it. */
export async function modelMessages(message: Message): Promise<ModelMessage[]> {
  if ('content' in message) return [{ role: 'user', content: message.content }]
  return await convertToModelMessages([{ role: 'user', parts: message.parts }])
}

export function modelName(model: LanguageModel): ModelName {
  return typeof model === 'string'
    ? { provider: model.split('/')[0]!, id: model }
    : { provider: model.provider, id: model.modelId }
}

/** The sum of two; what neither tells stays untold. */
export function added(one: LanguageModelUsage, other: LanguageModelUsage): LanguageModelUsage {
  const input = [one.inputTokenDetails, other.inputTokenDetails] as const
  const output = [one.outputTokenDetails, other.outputTokenDetails] as const
  return {
    inputTokens: plus(one.inputTokens, other.inputTokens),
    inputTokenDetails: {
      noCacheTokens: plus(input[0]?.noCacheTokens, input[1]?.noCacheTokens),
      cacheReadTokens: plus(input[0]?.cacheReadTokens, input[1]?.cacheReadTokens),
      cacheWriteTokens: plus(input[0]?.cacheWriteTokens, input[1]?.cacheWriteTokens),
    },
    outputTokens: plus(one.outputTokens, other.outputTokens),
    outputTokenDetails: {
      textTokens: plus(output[0]?.textTokens, output[1]?.textTokens),
      reasoningTokens: plus(output[0]?.reasoningTokens, output[1]?.reasoningTokens),
    },
    totalTokens: plus(one.totalTokens, other.totalTokens),
  }
}

function plus(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0)
}

export const NO_USAGE: LanguageModelUsage = {
  inputTokens: undefined,
  inputTokenDetails: { noCacheTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined },
  outputTokens: undefined,
  outputTokenDetails: { textTokens: undefined, reasoningTokens: undefined },
  totalTokens: undefined,
}

/**
 * Some models call tools although they are told not to, which the SDK takes for a
 * failure. Nothing was carried out.
 */
export function isDisobedience(error: unknown): boolean {
  return error instanceof Error && error.name === 'AI_ToolChoiceViolationError'
}
