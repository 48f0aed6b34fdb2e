import type { ModelServer, Script, Step } from '../script.ts'
import { type Protocol, serveModel, spelled, type Told } from './serving.ts'

interface ChatServer extends ModelServer {
  /** Every request as it came, titles and summaries included. */
  readonly bodies: readonly string[]
}

/** A model that speaks OpenAI's chat completions. Requests that offer no tools are titles and summaries. */
export async function chatModel(script: Script): Promise<ChatServer> {
  const bodies: string[] = []
  const noting: Protocol<Sent> = {
    ...completions,
    read(sent, path) {
      bodies.push(JSON.stringify(sent))
      return completions.read(sent, path)
    },
  }
  return { ...(await serveModel(script, noting)), bodies }
}

interface Message {
  readonly role: string
  readonly content?: string | readonly { readonly text?: string }[] | null
}

interface Sent {
  readonly stream?: boolean
  readonly messages: readonly Message[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

const completions: Protocol<Sent> = {
  read({ messages, tools = [] }) {
    if (tools.length === 0) return undefined
    return {
      tools: tools.map(tool => tool.function.name),
      texts: messages.filter(({ role }) => role !== 'assistant' && role !== 'tool').map(textOf),
      results: messages.filter(({ role }) => role === 'tool').map(textOf),
    }
  },

  answer(step, { stream, tools = [] }): Told {
    const names = tools.map(tool => tool.function.name)
    const message = messageFor(step, names)
    const finish_reason = 'say' in step ? 'stop' : 'tool_calls'
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const common = { id: `chatcmpl-${crypto.randomUUID()}`, created: 1, model: 'scripted' }
    if (!stream) {
      const choices = [{ index: 0, message, finish_reason }]
      return { document: { ...common, object: 'chat.completion', choices, usage } }
    }
    const chunk = (choice: object, more = {}) =>
      `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...more })}`
    return {
      stream: [
        chunk({ delta: message, finish_reason: null }),
        chunk({ delta: {}, finish_reason }, { usage }),
        'data: [DONE]',
      ],
    }
  },
}

function textOf({ content }: Message): string {
  return typeof content === 'string' ? content : (content ?? []).map(part => part.text ?? '').join('')
}

function messageFor(step: Step, names: readonly string[]) {
  if ('say' in step) return { role: 'assistant', content: step.say }
  const called = { name: spelled(step.call, names), arguments: JSON.stringify(step.input) }
  const call = { index: 0, id: `call_${crypto.randomUUID()}`, type: 'function', function: called }
  return { role: 'assistant', content: null, tool_calls: [call] }
}
