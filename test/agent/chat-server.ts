import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** What a scripted endpoint does with one request. */
export type Line =
  | { readonly say: string; readonly cut?: true }
  | { readonly call: string; readonly input?: unknown; readonly say?: string }
  | { readonly calls: readonly { readonly call: string; readonly input?: unknown }[] }
  /** With `body` as the whole of the answer, or `error` as OpenAI would say it. */
  | { readonly status: number; readonly error?: string; readonly body?: string }
  /** Sent as it is, as the body of a stream. */
  | { readonly raw: string }
  /** Begins a stream, if at all, and never ends it. */
  | { readonly hang: 'at once' | 'in the answer' }
  /** Ends the connection amid the answer. */
  | { readonly breaks: string }

export interface Asked {
  readonly headers: IncomingHttpHeaders
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly tool_choice?: unknown
}

export type Cue = Line | ((asked: Asked) => Line | Promise<Line>)

export interface ChatServer {
  /** How the program is told of it. */
  readonly env: Readonly<Record<string, string>>
  readonly url: string
  readonly asked: readonly Asked[]
  close(): Promise<void>
}

export const KEY = 'my-own-secret-key-0123456789'

/** An endpoint for chat completions on 127.0.0.1 that does what is written down, request by request; the last again when there is no more. */
export async function chatServer(...cues: readonly Cue[]): Promise<ChatServer> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const mine = { ...((await json(request)) as Asked), headers: request.headers }
      asked.push(mine)
      const cue = cues[Math.min(asked.length, cues.length) - 1]!
      tell(response, typeof cue === 'function' ? await cue(mine) : cue)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return {
    env: { PUNCHLIST_MODEL: 'scripted/actor', SCRIPTED_BASE_URL: url, SCRIPTED_API_KEY: KEY },
    url,
    asked,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function tell(response: ServerResponse, line: Line): void {
  if ('status' in line) {
    // Whoever tries again need not wait.
    response.writeHead(line.status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
    response.end(line.body ?? JSON.stringify({ error: { message: line.error ?? 'no' } }))
    return
  }
  if ('hang' in line && line.hang === 'at once') return
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if ('raw' in line) response.end(line.raw)
  else if ('hang' in line) response.write(chunk({ content: 'Well, ' }))
  else if ('breaks' in line) response.write(chunk({ content: line.breaks }), () => response.destroy())
  else
    response.end(
      `${deltas(line)
        .map(delta => chunk(delta))
        .join('')}${last(line)}data: [DONE]\n\n`,
    )
}

type Told = Extract<Line, { say: string } | { call: string } | { calls: readonly unknown[] }>

function deltas(line: Told): object[] {
  const words = 'say' in line && line.say !== undefined ? line.say.split(/(?<= )/).map(content => ({ content })) : []
  const calls = 'calls' in line ? line.calls : 'call' in line ? [line] : []
  return [...words, ...calls.map(({ call, input = {} }, index) => ({ tool_calls: [called(call, input, index)] }))]
}

function called(name: string, input: unknown, index: number) {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return { index, id: `call_${crypto.randomUUID()}`, type: 'function', function: { name, arguments: text } }
}

function last(line: Told): string {
  const finish_reason = 'call' in line || 'calls' in line ? 'tool_calls' : 'cut' in line ? 'length' : 'stop'
  return chunk({}, { finish_reason }, { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })
}

function chunk(delta: object, choice: object = {}, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: null, ...choice }]
  const common = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'actor' }
  return `data: ${JSON.stringify({ ...common, choices, ...more })}\n\n`
}

/** The texts of what was sent, message by message. */
export function textsIn({ messages }: Asked): string[] {
  return messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
}

/** The ids of the items in the plan that was shown last. */
export function idsIn(asked: Asked): string[] {
  return [...(textsIn(asked).at(-1) ?? '').matchAll(/ id (\S+)$/gm)].map(([, id]) => id!)
}

/** What the tools have answered, the last last. */
export function answersIn({ messages }: Asked): string[] {
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
}
