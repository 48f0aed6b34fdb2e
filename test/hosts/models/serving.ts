import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Asked, ModelServer, Script, Step } from '../script.ts'

/** What one vendor's protocol needs besides HTTP. */
export interface Protocol<Sent> {
  /** What the model was sent; undefined where the request is not the agent's own: a title, a summary, a count. */
  read(sent: Sent, path: string): Omit<Asked, 'request'> | undefined
  /** Answers with this step, under the names that the host gives its tools. */
  answer(step: Step, sent: Sent, path: string): Told
}

/** One answer: a document, or the events of a stream. */
export type Told = { readonly document: unknown } | { readonly stream: readonly string[] }

/** A model on 127.0.0.1 that follows a script, one request after the other. */
export async function serveModel<Sent>(script: Script, protocol: Protocol<Sent>): Promise<ModelServer> {
  const asked: Asked[] = []
  const next = (sent: Sent, path: string): Told => {
    const mine = protocol.read(sent, path)
    if (!mine) return protocol.answer({ say: 'A summary.' }, sent, path)
    const now = { request: asked.length + 1, ...mine }
    asked.push(now)
    return protocol.answer(script(now), sent, path)
  }
  const server = createServer((request, response) => void serve(request, response))
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') response.writeHead(404).end()
    else tell(response, next((await json(request)) as Sent, request.url ?? '/'))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function tell(response: ServerResponse, told: Told): void {
  if ('stream' in told) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(told.stream.map(event => `${event}\n\n`).join(''))
  } else {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(told.document))
  }
}

/** A server-sent event with its name, as Anthropic and OpenAI's Responses send them. */
export function named(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}`
}

/** The host's own spelling of a tool that a script calls by the last part of its name. */
export function spelled(call: string, tools: readonly string[]): string {
  return tools.find(name => name === call) ?? tools.find(name => name.endsWith(call)) ?? call
}
