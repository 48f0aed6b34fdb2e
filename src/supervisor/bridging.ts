import type { ModelMessage } from 'ai'
import type { ModelName } from './events.ts'

/** Models that refuse a user's message right after a tool's answer or another user's, by the names of provider and model. */
const STRICT = /(?:mis|minis|magis|devs|codes)tral|(?:mix|pix|vox)tral/i

const BRIDGE: ModelMessage = { role: 'assistant', content: 'Noted.' }

/**
 * What a model is sent, in an order of speakers that it takes: the plan is a
 * user's message and mostly follows a tool's answer. Mistral answers that with
 * status 400, as do the chat templates of its models where they run locally.
 */
export function bridged(messages: readonly ModelMessage[], { provider, id }: ModelName): ModelMessage[] {
  if (!STRICT.test(`${provider} ${id}`)) return [...messages]
  return messages.flatMap((message, index) => {
    const before = messages[index - 1]?.role
    return message.role === 'user' && (before === 'tool' || before === 'user') ? [BRIDGE, message] : [message]
  })
}
