import type { ModelServer, Script, Step } from '../script.ts'
import { named, type Protocol, serveModel, type Told } from './serving.ts'

/** A model that speaks OpenAI's Responses, streaming only. Requests that offer no tools are summaries. */
export async function responsesModel(script: Script): Promise<ModelServer> {
  return await serveModel(script, responses)
}

interface Tool {
  readonly type: string
  readonly name?: string
  /** The tools of a namespace: Codex offers those of an MCP server so. */
  readonly tools?: readonly Tool[]
}

interface Entry {
  readonly type?: string
  readonly role?: string
  readonly content?: readonly { readonly text?: string }[]
  readonly output?: unknown
}

interface Sent {
  readonly instructions?: string
  readonly input: readonly Entry[]
  readonly tools?: readonly Tool[]
}

const responses: Protocol<Sent> = {
  read({ instructions = '', input, tools = [] }) {
    if (tools.length === 0) return undefined
    const said = input.filter(({ type = 'message', role }) => type === 'message' && role !== 'assistant')
    return {
      tools: callable(tools).map(({ namespace, name }) => `${namespace ?? ''}${name}`),
      texts: [instructions, ...said.map(({ content = [] }) => content.map(({ text = '' }) => text).join(''))],
      results: input.filter(({ type }) => type?.endsWith('_output')).map(({ output }) => textOf(output)),
    }
  },
  answer(step, { tools = [] }) {
    return streamed(itemFor(step, callable(tools)))
  },
}

interface Callable {
  readonly namespace?: string | undefined
  readonly name: string
}

function callable(tools: readonly Tool[], namespace?: string): Callable[] {
  return tools.flatMap(({ type, name, tools: inner = [] }) =>
    type === 'namespace' ? callable(inner, name) : name === undefined ? [] : [{ namespace, name }],
  )
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output)
}

function itemFor(step: Step, tools: readonly Callable[]) {
  const id = crypto.randomUUID()
  if ('say' in step) {
    const content = [{ type: 'output_text', text: step.say, annotations: [] }]
    return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }
  }
  const found = tools.find(({ name }) => name === step.call) ?? tools.find(({ name }) => name.endsWith(step.call))
  const { name, namespace } = found ?? { name: step.call }
  const call = { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, status: 'completed' }
  return { ...call, name, ...(namespace ? { namespace } : {}), arguments: JSON.stringify(step.input) }
}

function streamed(item: ReturnType<typeof itemFor>): Told {
  const response = { id: `resp_${crypto.randomUUID()}`, object: 'response', model: 'scripted', output: [item] }
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', usage } },
  ]
  return { stream: events.map(named) }
}
