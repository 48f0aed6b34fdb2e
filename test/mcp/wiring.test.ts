import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingHttpHeaders, IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type HttpServer, serveOverHttp } from '../../src/mcp/http.ts'
import { fixtureServer } from './fixture-server.ts'

const TOKEN = 'Correct-Horse-Battery-7'
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
/** Opens a stream that stays open until somebody ends it. */
const LISTEN = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: { _meta: MODERN, notifications: { resourceSubscriptions: ['test://watched-resource'] } },
})
const LISTEN_HEADERS = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }

let server: HttpServer
let port: number

beforeAll(async () => {
  server = await serveOverHttp(fixtureServer, { token: TOKEN })
  port = Number(new URL(server.url).port)
})

afterAll(() => server.close())

describe.concurrent('over HTTP, a request is answered', () => {
  test('when it brings the token', async () => {
    const { status, body } = await post()
    assert.equal(status, 200)
    assert.match(body, /test_simple_text/)
  })

  for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
    test(`when Host and Origin call us ${name}`, async () => {
      const { status } = await post({ host: `${name}:${port}`, origin: `http://${name}:${port}` })
      assert.equal(status, 200)
    })
  }

  test('when the scheme is written bearer, whose case is free', async () => {
    assert.equal((await post({ authorization: `bearer ${TOKEN}` })).status, 200)
  })

  test('under the address it was sent to, when we listen on all of them', async () => {
    const everywhere = await serveOverHttp(fixtureServer, { token: TOKEN, host: '0.0.0.0' })
    const other = Number(new URL(everywhere.url).port)
    try {
      assert.equal((await post({ host: `127.0.0.2:${other}` }, LIST, other, '127.0.0.2')).status, 200)
      assert.equal((await post({ host: `evil.example:${other}` }, LIST, other, '127.0.0.2')).status, 403)
    } finally {
      await everywhere.close()
    }
  })
})

describe.concurrent('over HTTP, a request is refused', () => {
  const wrong: Record<string, Headers> = {
    'no token': { authorization: undefined },
    'another token': { authorization: 'Bearer Correct-Horse-8' },
    'the token in another case': { authorization: `Bearer ${TOKEN.toLowerCase()}` },
    'only the beginning of the token': { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
    'the token and more': { authorization: `Bearer ${TOKEN}x` },
    'an empty token': { authorization: 'Bearer ' },
    'the token with a space in it': { authorization: `Bearer ${TOKEN.replace('-', ' -')}` },
    'the token and something after a space': { authorization: `Bearer ${TOKEN} x` },
    'another scheme': { authorization: `Basic ${TOKEN}` },
    'the token alone': { authorization: TOKEN },
    'two tokens, the right one first': { authorization: [`Bearer ${TOKEN}`, 'Bearer x'] },
    'two tokens, the right one last': { authorization: ['Bearer x', `Bearer ${TOKEN}`] },
    'two tokens in one line': { authorization: `Bearer x, Bearer ${TOKEN}` },
    'the token in another header': { authorization: undefined, 'proxy-authorization': `Bearer ${TOKEN}` },
  }
  for (const [what, headers] of Object.entries(wrong)) {
    test(`with 401 for ${what}`, async () => {
      const answer = await post(headers)
      assert.equal(answer.status, 401)
      assert.equal(answer.headers['www-authenticate'], 'Bearer')
      assert.match(answer.body, /Authorization: Bearer/)
      assert.ok(!answer.body.includes(TOKEN))
    })
  }

  test('with 401 on every path and for every method', async () => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PUT']) {
      for (const path of ['/mcp', '/', '/mcp/', '//mcp', '/%6dcp']) {
        assert.equal((await send({ method, path, headers: { host: `127.0.0.1:${port}` } })).status, 401, method + path)
      }
    }
  })

  for (const host of ['evil.example', 'evil.example:PORT', '127.0.0.1', 'localhost:1', '127.0.0.1.evil.example:PORT']) {
    test(`with 403 for the Host ${host}`, async () => {
      assert.equal((await post({ host: host.replace('PORT', String(port)) })).status, 403)
    })
  }

  test('with 403 for two Hosts, ours first', async () => {
    const lines = [
      'POST /mcp HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Host: evil.example',
      `Authorization: Bearer ${TOKEN}`,
    ]
    const said = await raw([...lines, 'Content-Type: application/json', 'Content-Length: 0', 'Connection: close'])
    assert.match(said, /^HTTP\/1.1 403/)
  })

  for (const origin of [
    'http://evil.example',
    'null',
    'https://127.0.0.1:PORT',
    'http://localhost:1',
    'http://127.0.0.1',
    '',
  ]) {
    test(`with 403 for the Origin "${origin}"`, async () => {
      assert.equal((await post({ origin: origin.replace('PORT', String(port)) })).status, 403)
    })
  }

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', undefined]) {
    test(`with 415 for a body of type ${type}`, async () => {
      assert.equal((await post({ 'content-type': type })).status, 415)
    })
  }

  test('with 413 for a body of more than 1 MiB', async () => {
    const fits = LIST.padEnd(1024 * 1024)
    assert.equal((await post({}, fits)).status, 200)
    assert.equal((await post({}, `${fits} `)).status, 413)
    assert.equal((await post({ 'content-length': undefined, 'transfer-encoding': 'chunked' }, `${fits} `)).status, 413)
  })

  test('with 431 for more than 8 KiB of headers', async () => {
    assert.equal((await post({ 'x-long': 'x'.repeat(7 * 1024) })).status, 200)
    assert.equal((await post({ 'x-long': 'x'.repeat(8 * 1024) })).status, 431)
  })

  test('with 404 anywhere but at /mcp', async () => {
    const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${TOKEN}` }
    assert.equal((await send({ method: 'POST', path: '/', headers })).status, 404)
  })
})

describe.concurrent('over HTTP,', () => {
  test('no answer lets a page of another origin read it', async () => {
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
    const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${TOKEN}`, origin: `http://127.0.0.1:${port}` }
    const answers = [
      await post(),
      await post({ origin: 'http://evil.example' }),
      await send({ method: 'OPTIONS', path: '/mcp', headers: { ...headers, ...preflight } }),
    ]
    const names = answers.flatMap(answer => Object.keys(answer.headers))
    assert.deepEqual(
      names.filter(name => name.startsWith('access-control')),
      [],
    )
  })

  test('an error of ours shows neither stack nor path', async () => {
    const broken = await serveOverHttp(() => Promise.reject(new Error('cannot open /home/me/list.db')), {
      token: TOKEN,
    })
    try {
      const { status, body } = await post({}, LIST, Number(new URL(broken.url).port))
      assert.equal(status, 500)
      assert.doesNotMatch(body, /list\.db|\.ts|\.mjs|at /)
    } finally {
      await broken.close()
    }
  })

  test('only the loopback address is listened on unless told', async () => {
    const socket = connect(port, '127.0.0.2')
    const [error] = await once(socket, 'error').catch((reason: unknown) => [reason])
    assert.match(String(error), /ECONNREFUSED/)
  })

  test('a port in use is told as Node tells it', async () => {
    await assert.rejects(serveOverHttp(fixtureServer, { token: TOKEN, port }), { code: 'EADDRINUSE' })
  })

  for (const token of [
    '',
    'short',
    'x'.repeat(15),
    'two words are too many',
    'a-new\nline-in-a-token',
    'ünï-ünï-ünï-ünï-ünï',
  ]) {
    test(`the token ${JSON.stringify(token)} is not accepted as one`, async () => {
      await assert.rejects(serveOverHttp(fixtureServer, { token }), { code: 'bad_input', hint: /visible ASCII/ })
    })
  }

  test('a token of 16 characters is accepted as one', async () => {
    await (await serveOverHttp(fixtureServer, { token: 'x'.repeat(16) })).close()
  })

  test('closing ends a stream that is open and a call that is running', async () => {
    const sleepy = await serveOverHttp(fixtureServer, { token: TOKEN })
    const own = Number(new URL(sleepy.url).port)
    const call = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'test_never_answers' },
    })
    const running = post({}, call, own).then(answer => answer.status, String)
    const stream = await open(own)
    const ended = once(stream, 'close')
    await delay(100)
    const before = performance.now()
    await sleepy.close()
    await ended
    assert.match(String(await running), /ECONNRESET|socket hang up|aborted/)
    assert.ok(performance.now() - before < 3_000)
    await assert.rejects(post({}, LIST, own), { code: 'ECONNREFUSED' })
    await sleepy.close()
  })

  test('a client that does not finish its headers is cut off', { timeout: 15_000 }, async () => {
    const before = performance.now()
    await raw(['POST /mcp HTTP/1.1', `Host: 127.0.0.1:${port}`], '')
    assert.ok(performance.now() - before < 9_000)
  })

  test('a client that sends nothing at all is cut off', { timeout: 15_000 }, async () => {
    const before = performance.now()
    await raw([], '')
    assert.ok(performance.now() - before < 9_000)
  })

  test('a client that does not finish its body is cut off', { timeout: 20_000 }, async () => {
    const before = performance.now()
    const lines = ['POST /mcp HTTP/1.1', `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${TOKEN}`]
    await raw([...lines, 'Content-Type: application/json', 'Content-Length: 100'], '\r\n\r\n{')
    assert.ok(performance.now() - before < 14_000)
  })

  test('a stream outlives the time-outs for slow clients', { timeout: 20_000 }, async () => {
    const stream = await open(port)
    await delay(12_500)
    assert.equal(stream.destroyed, false)
    stream.destroy()
  })

  test('the 65th connection is dropped', async () => {
    const crowded = await serveOverHttp(fixtureServer, { token: TOKEN })
    const own = Number(new URL(crowded.url).port)
    const sockets: Socket[] = []
    try {
      for (let n = 0; n < 64; n++) {
        const socket = connect(own, '127.0.0.1')
        socket.on('error', () => {})
        await once(socket, 'connect')
        sockets.push(socket)
      }
      await assert.rejects(post({}, LIST, own), { code: 'ECONNRESET' })
      sockets.pop()?.destroy()
      await delay(50)
      assert.equal((await post({}, LIST, own)).status, 200)
    } finally {
      for (const socket of sockets) socket.destroy()
      await crowded.close()
    }
  })
})

describe.concurrent('over stdio,', () => {
  test('the server leaves with 0 when stdin ends', async () => {
    const child = start()
    child.stdin.write(`${LIST}\n`)
    await once(child.stdout, 'data')
    child.stdin.end()
    await once(child, 'close')
    assert.equal(child.exitCode, 0)
  })

  test('the server leaves with 0 when nobody reads its stdout any more', async () => {
    const child = start()
    const complained = text(child.stderr)
    child.stdin.on('error', () => {})
    child.stdout.destroy()
    child.stdin.write(`${LIST}\n`.repeat(20))
    await once(child, 'close')
    assert.equal(child.exitCode, 0)
    assert.equal(await complained, '')
  })

  test('what code prints goes to stderr, and stdout carries only the protocol', async () => {
    const child = start()
    const all = [text(child.stdout), text(child.stderr)]
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'test_prints' } })}\n`,
    )
    await once(child.stdout, 'data')
    child.stdin.end()
    const [answers = '', printed = ''] = await Promise.all(all)
    const lines = answers.trimEnd().split('\n')
    assert.equal(lines.length, 1, answers)
    assert.partialDeepStrictEqual(JSON.parse(answers), { id: 7, result: { content: [{ text: 'printed' }] } })
    assert.equal(printed, 'not JSON-RPC\n')
  })
})

function start() {
  return spawn(process.execPath, [join(import.meta.dirname, 'fixture-server.ts')], { stdio: 'pipe' })
}

interface Answer {
  status: number | undefined
  headers: IncomingHttpHeaders
  body: string
}

/** Sent in this order; an array as a line each, undefined not at all. */
type Headers = Record<string, string | string[] | undefined>

function post(headers: Headers = {}, body = LIST, to = port, address = '127.0.0.1'): Promise<Answer> {
  return send({ method: 'POST', path: '/mcp', headers: { ...proper(to, body), ...headers }, body, to, address })
}

/** The headers of a client that does everything right. */
function proper(to: number, body: string): Headers {
  return {
    host: `127.0.0.1:${to}`,
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    accept: 'application/json, text/event-stream',
  }
}

interface Sent {
  method: string
  path: string
  headers: Headers
  body?: string
  to?: number
  address?: string
}

async function send(sent: Sent): Promise<Answer> {
  const answer = await begin(sent)
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

/** A response whose first event has come and whose end has not. */
async function open(to: number): Promise<IncomingMessage> {
  const headers = { ...proper(to, LISTEN), ...LISTEN_HEADERS }
  const answer = await begin({ method: 'POST', path: '/mcp', headers, body: LISTEN, to })
  answer.on('error', () => {})
  await once(answer, 'data')
  assert.equal(answer.headers['content-type'], 'text/event-stream')
  await delay(50)
  assert.equal(answer.destroyed, false)
  return answer
}

async function begin({ method, path, headers, body = '', to = port, address = '127.0.0.1' }: Sent) {
  const lines = Object.entries(headers).flatMap(([name, value = []]) => [value].flat().flatMap(one => [name, one]))
  const outgoing = request({ host: address, port: to, method, path, headers: lines, agent: false })
  outgoing.end(body)
  const [answer]: unknown[] = await once(outgoing, 'response')
  assert.ok(answer instanceof IncomingMessage)
  // A body refused half-way may break the pipe after the answer is complete.
  outgoing.on('error', () => {})
  return answer
}

/** Sends lines as they stand and waits for the server to hang up. */
async function raw(lines: string[], end = '\r\n\r\n'): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(lines.join('\r\n') + end)
  return text(socket)
}
