import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { createMcpHandler, type McpServerFactory } from '@modelcontextprotocol/server'
import { Hono } from 'hono'
import { Problem } from '../core/problem.ts'

export interface HttpOptions {
  /** 0, the default, takes any free port. */
  port?: number
  /** What every request has to bring as `Authorization: Bearer <token>`: 16 or more visible ASCII characters. */
  token: string
  /** 127.0.0.1 unless told otherwise. */
  host?: string
}

export interface HttpServer {
  url: string
  /** Ends everything at once, streams in the middle of an answer included. */
  close(): Promise<void>
}

const MOST_BODY_BYTES = 1024 * 1024
const MOST_HEADER_BYTES = 8 * 1024
const MOST_CONNECTIONS = 64
const HEADERS_WITHIN_MS = 5_000
const REQUEST_WITHIN_MS = 10_000
const CHECK_EVERY_MS = 1_000

/** A token of fewer could be found by trying. */
const SHORTEST_TOKEN = 16

/** Serves MCP at `/mcp`. Throws `bad_input` for a token that cannot be one, and Node's own error when the port cannot be had. */
export async function serveOverHttp(factory: McpServerFactory, options: HttpOptions): Promise<HttpServer> {
  const { port = 0, token, host = '127.0.0.1' } = options
  refuseWeak(token)
  const mcp = createMcpHandler(factory, { maxRequestBodySize: MOST_BODY_BYTES })
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.use(async (c, next) => refusal(c.env.incoming, host, token) ?? (await next()))
  app.all('/mcp', c => mcp.fetch(c.req.raw))
  app.notFound(() => refused(404, 'MCP is served at /mcp'))
  app.onError(() => refused(500, 'Internal server error'))

  // Without overrideGlobalObjects: false, the listener replaces the process's Request and Response.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const server = createServer(
    {
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      // Node looks for slow clients every 30 s unless told, which would make 5 s mean 35.
      connectionsCheckingInterval: CHECK_EVERY_MS,
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  server.maxConnections = MOST_CONNECTIONS
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('listening, but not on a port')

  return {
    url: `http://${inUrl(host)}:${address.port}/mcp`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      await mcp.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function refuseWeak(token: string): void {
  const isVisible = /^[!-~]*$/.test(token)
  if (isVisible && token.length >= SHORTEST_TOKEN) return
  throw new Problem(
    'bad_input',
    isVisible
      ? `The token for MCP has ${token.length} characters; it needs at least ${SHORTEST_TOKEN}`
      : 'The token for MCP cannot be sent: it has characters that are not visible ASCII',
    `Set PUNCHLIST_MCP_TOKEN to ${SHORTEST_TOKEN} or more visible ASCII characters without spaces, as \`openssl rand -hex 32\` prints them, or unset it for a random one.`,
  )
}

/**
 * Why a request is turned away before it reaches MCP, or undefined. Headers are read as they were sent, one
 * value per line: of a repeated Host or Authorization, Node's `headers` shows the first and hides the rest.
 */
function refusal(request: IncomingMessage, host: string, token: string): Response | undefined {
  const { host: hosts = [], origin: origins = [], authorization = [] } = request.headersDistinct
  const ours = hostsOf(request, host)
  // A page whose name was pointed at 127.0.0.1 after it had loaded still sends that name.
  if (hosts.length !== 1 || !ours.includes(lower(hosts[0]))) return refused(403, 'Host does not name this server')
  if (origins.length > 0 && !(origins.length === 1 && ours.some(own => `http://${own}` === lower(origins[0])))) {
    return refused(403, 'Origin is not this server')
  }
  if (authorization.length !== 1 || !carries(authorization[0], token)) {
    return refused(401, 'Send the token as Authorization: Bearer <token>', { 'WWW-Authenticate': 'Bearer' })
  }
  return undefined
}

/** The Host values that name this server, as reached by this connection: loopback, the host asked for, the address. */
function hostsOf({ socket }: IncomingMessage, host: string): string[] {
  const address = socket.localAddress?.replace(/^::ffff:/, '') ?? host
  const names = ['127.0.0.1', 'localhost', '[::1]', inUrl(host), inUrl(address)].map(lower)
  const withPort = names.map(name => `${name}:${socket.localPort}`)
  return socket.localPort === 80 ? [...withPort, ...names] : withPort
}

/** The scheme's case is free (RFC 9110), the token's is not. Hashed first: timingSafeEqual wants equal lengths. */
function carries(authorization: string | undefined, token: string): boolean {
  const sent = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  return timingSafeEqual(digest(sent), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function lower(text: string | undefined): string {
  return text?.toLowerCase() ?? ''
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function refused(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status, headers })
}
