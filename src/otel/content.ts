import type { Attributes } from '@opentelemetry/api'
import { redacted } from '../core/text.ts'
import type { TurnResult } from '../supervisor/events.ts'

type Message = TurnResult['messages'][number]

const FINISHED = { answered: 'stop', budget: 'length', unanswered: 'tool_call' } as const

/** What the user said and what the answer was. */
export function turnContent({ messages, text, end }: TurnResult): Attributes {
  return {
    'gen_ai.input.messages': asJson(messages.slice(0, -1).map(asMessage)),
    'gen_ai.output.messages': saidBy(text, FINISHED[end]),
  }
}

export function toldTo(text: string): string | undefined {
  return asJson([{ role: 'user', parts: [{ type: 'text', content: text }] }])
}

export function saidBy(text: string, finishReason: string): string | undefined {
  return asJson([{ role: 'assistant', parts: [{ type: 'text', content: text }], finish_reason: finishReason }])
}

/** Credentials are taken out of each text by itself: from the whole, they would take the marks of the JSON along. */
export function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, one: unknown) => (typeof one === 'string' ? redacted(one) : one))
  } catch {
    // Tools may return what JSON has no form for.
    return undefined
  }
}

/** Of anything but text, only that it was there. */
function asMessage({ role, content }: Message): object {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  return {
    role,
    parts: parts.map(part => (part.type === 'text' ? { type: 'text', content: part.text } : { type: part.type })),
  }
}
