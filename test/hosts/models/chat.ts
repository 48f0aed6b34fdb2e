import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Asked, ModelServer, Script, Step } from '../script.ts'

/** A model that speaks OpenAI's chat completions. Requests that offer no tools are titles and summaries, not the agent's own. */
export async function chatModel(script: Script): Promise<ModelServer> {
  const asked: Asked[] = []
  const server = createServer((request, response) => void answer(request, response, script, asked))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
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

async function answer(request: IncomingMessage, response: ServerResponse, script: Script, asked: Asked[]) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  if (request.method !== 'POST') return void response.writeHead(404).end()
  const sent = JSON.parse(Buffer.concat(parts).toString()) as Sent
  const tools = (sent.tools ?? []).map(tool => tool.function.name)
  const step = tools.length === 0 ? { say: 'A summary.' } : stepFor(sent, tools, script, asked)
  const message = messageFor(step, tools)
  const common = { id: 'chatcmpl-1', created: 1, model: 'scripted' }
  const reason = 'tool_calls' in message ? 'tool_calls' : 'stop'
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  if (!sent.stream) {
    const choices = [{ index: 0, message, finish_reason: reason }]
    response.writeHead(200, { 'content-type': 'application/json' })
    return void response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
  }
  const chunk = (delta: unknown, finish: string | null, more = {}) =>
    response.write(
      `data: ${JSON.stringify({
        ...common,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...more,
      })}\n\n`,
    )
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  chunk(message, null)
  chunk({}, reason, { usage })
  response.end('data: [DONE]\n\n')
}

function stepFor({ messages }: Sent, tools: readonly string[], script: Script, asked: Asked[]): Step {
  const texts = messages.filter(({ role }) => role !== 'assistant' && role !== 'tool').map(textOf)
  const results = messages.filter(({ role }) => role === 'tool').map(textOf)
  const now: Asked = { request: asked.length + 1, tools, texts, results }
  asked.push(now)
  return script(now)
}

function textOf({ content }: Message): string {
  return typeof content === 'string' ? content : (content ?? []).map(part => part.text ?? '').join('')
}

function messageFor(step: Step, tools: readonly string[]) {
  if ('say' in step) return { role: 'assistant', content: step.say }
  const name = tools.find(tool => tool.endsWith(step.call)) ?? step.call
  const call = { index: 0, id: `call_${crypto.randomUUID()}`, type: 'function' }
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ ...call, function: { name, arguments: JSON.stringify(step.input) } }],
  }
}
