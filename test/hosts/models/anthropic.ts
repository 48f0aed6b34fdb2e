import type { ModelServer, Script, Step } from '../script.ts'
import { named, type Protocol, serveModel, spelled, type Told } from './serving.ts'

/** A model that speaks Anthropic's Messages. Requests that offer no tools are titles and summaries. */
export async function anthropicModel(script: Script): Promise<ModelServer> {
  return await serveModel(script, messages)
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: string | readonly Block[]
}

interface Sent {
  readonly stream?: boolean
  readonly system?: string | readonly Block[]
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
  readonly tools?: readonly { readonly name: string }[]
}

const messages: Protocol<Sent> = {
  read(sent, path) {
    if (!sent.tools?.length || path.includes('count_tokens')) return undefined
    const blocks = sent.messages.filter(({ role }) => role !== 'assistant').flatMap(({ content }) => blocksOf(content))
    return {
      tools: toolsOf(sent),
      texts: [...blocksOf(sent.system), ...blocks].flatMap(({ type, text }) => (type === 'text' && text ? [text] : [])),
      results: blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => textOf(content)),
    }
  },
  answer(step, sent, path) {
    if (path.includes('count_tokens')) return { document: { input_tokens: 10 } }
    const content = contentOf(step, toolsOf(sent))
    return sent.stream ? streamed(content) : { document: { ...message, content: [content], ...endOf(content) } }
  },
}

function toolsOf({ tools = [] }: Sent): string[] {
  return tools.map(({ name }) => name)
}

function blocksOf(content: string | readonly Block[] | undefined): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
}

function textOf(content: string | readonly Block[] | undefined): string {
  return blocksOf(content)
    .map(({ text = '' }) => text)
    .join('')
}

const usage = { input_tokens: 10, output_tokens: 5 }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', usage }

function contentOf(step: Step, tools: readonly string[]) {
  if ('say' in step) return { type: 'text' as const, text: step.say }
  const id = `toolu_${crypto.randomUUID().replaceAll('-', '')}`
  return { type: 'tool_use' as const, id, name: spelled(step.call, tools), input: step.input }
}

type Content = ReturnType<typeof contentOf>

function endOf({ type }: Content) {
  return { stop_reason: type === 'text' ? 'end_turn' : 'tool_use', stop_sequence: null }
}

function streamed(content: Content): Told {
  const isText = content.type === 'text'
  const empty = isText ? { ...content, text: '' } : { ...content, input: {} }
  const delta = isText
    ? { type: 'text_delta', text: content.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(content.input) }
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: empty },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: endOf(content), usage },
    { type: 'message_stop' },
  ]
  return { stream: events.map(named) }
}
