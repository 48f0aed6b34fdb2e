import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

const MODERN = '2026-07-28'
const VERSION = 'io.modelcontextprotocol/protocolVersion'
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

interface Message {
  jsonrpc: '2.0'
  id?: string | number | null
  method?: string
  params?: { _meta?: Record<string, unknown>; progressToken?: unknown }
  error?: { code: number }
}

/**
 * Lets a judge that only speaks HTTP talk to a server on stdio: every JSON-RPC message it posts is written
 * to a child process, every line of the child goes back on the request it belongs to. A 2025 session gets a
 * child of its own, as a client on stdio would; 2026 requests, which have no sessions, share one.
 */
export async function bridgeToStdio(file: string): Promise<{ url: string; close(): Promise<void> }> {
  const sessions = new Map<string, Pipe>()
  const strangers: Pipe[] = []
  const modern = new Pipe(file)
  // The first request settles a connection's revision for good, and the judge's first ones are malformed.
  modern.write({ jsonrpc: '2.0', id: 'opening', method: 'tools/list', params: { _meta: OPENING } })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = request.headers['mcp-session-id']
    if (request.method === 'DELETE' && typeof session === 'string') {
      await sessions.get(session)?.close()
      return void response.writeHead(sessions.delete(session) ? 200 : 404).end()
    }
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message: Message = JSON.parse(await text(request))
    if (message.method === 'initialize' && request.headers['mcp-protocol-version'] !== MODERN) {
      const id = randomUUID()
      sessions.set(id, new Pipe(file))
      response.setHeader('mcp-session-id', id)
      return sessions.get(id)?.exchange(message, response)
    }
    const claimed = metaOf(message)?.[VERSION] ?? MODERN
    if (claimed !== MODERN) {
      // A connection has one revision, so a client of another one would have opened its own.
      const stranger = new Pipe(file)
      strangers.push(stranger)
      return stranger.exchange(message, response)
    }
    const pipe = typeof session === 'string' ? sessions.get(session) : modern
    if (pipe === undefined) return void response.writeHead(404).end()
    pipe.exchange(message, response)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('listening, but not on a port')
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    async close() {
      server.close()
      server.closeAllConnections()
      await Promise.all([modern, ...strangers, ...sessions.values()].map(pipe => pipe.close()))
    },
  }
}

const OPENING = {
  [VERSION]: MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** stdio has no status codes; these are the ones the HTTP binding gives to the same errors. */
const STATUS: Record<number, number> = { [-32601]: 404, [-32602]: 400, [-32020]: 400, [-32021]: 400, [-32022]: 400 }

interface Exchange {
  request: Message
  response: ServerResponse
}

class Pipe {
  readonly #child: ChildProcess
  /** By the id used on the pipe: judges of different requests use the same ids. */
  readonly #open = new Map<number, Exchange>()
  #ids = 0

  constructor(file: string) {
    this.#child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
    if (this.#child.stdout === null) throw new Error('the child has no stdout')
    createInterface(this.#child.stdout).on('line', line => this.#deliver(line))
  }

  write(message: Message): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  exchange(request: Message, response: ServerResponse): void {
    if (request.method === undefined || request.id === undefined) {
      this.write(request)
      response.writeHead(202).end()
      return
    }
    const id = ++this.#ids
    this.#open.set(id, { request, response })
    response.on('close', () => {
      const params = { requestId: id, _meta: OPENING }
      if (this.#open.delete(id)) this.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    })
    this.write({ ...request, id })
  }

  /** As the stdio binding asks of a client: close stdin and wait for the server to leave. */
  async close(): Promise<void> {
    const left = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await left
    if (this.#child.exitCode !== 0) throw new Error(`the server on stdio left with ${this.#child.exitCode}`)
  }

  #deliver(line: string): void {
    const message: Message = JSON.parse(line)
    if (message.method !== undefined) return this.#stream(message)
    const id = Number(message.id)
    const exchange = this.#open.get(id)
    if (!exchange) return
    this.#open.delete(id)
    const { request, response } = exchange
    const final = JSON.stringify({ ...message, id: request.id })
    if (response.headersSent) return void response.end(`event: message\ndata: ${final}\n\n`)
    const status = message.error ? (STATUS[message.error.code] ?? 200) : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end(final)
  }

  /** A message that is no answer goes to the request it names, or else to the newest. */
  #stream(message: Message): void {
    const meta = metaOf(message)
    const progressToken = message.params?.progressToken
    const open = [...this.#open.values()]
    let exchange = open.at(-1)
    if (progressToken !== undefined) {
      exchange = open.find(({ request }) => metaOf(request)?.['progressToken'] === progressToken)
    }
    if (meta && SUBSCRIPTION in meta) {
      exchange = this.#open.get(Number(meta[SUBSCRIPTION]))
      meta[SUBSCRIPTION] = exchange?.request.id
    }
    if (!exchange) return
    const { response } = exchange
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  }
}

function metaOf({ params: { _meta: meta } = {} }: Message): Record<string, unknown> | undefined {
  return meta
}
