import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'vitest'
import { serveOverHttp } from '../../src/mcp/http.ts'
import { fixtureServer } from './fixture-server.ts'
import { bridgeToStdio } from './stdio-bridge.ts'

const suite = dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'))

describe.concurrent('the official conformance suite passes', () => {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    test(`over HTTP, ${revision}`, { timeout: 120_000 }, async () => {
      const token = 'not-known-to-the-suite'
      const server = await serveOverHttp(fixtureServer, { token })
      const front = await addToken(server.url, token)
      try {
        await judge(front.url, revision, 'http')
      } finally {
        await front.close()
        await server.close()
      }
    })

    test(`over stdio, ${revision}`, { timeout: 120_000 }, async () => {
      const bridge = await bridgeToStdio(join(import.meta.dirname, 'fixture-server.ts'))
      try {
        await judge(bridge.url, revision, 'stdio')
      } finally {
        await bridge.close()
      }
    })
  }
})

async function judge(url: string, revision: string, wiring: string): Promise<void> {
  const results = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const baseline = join(import.meta.dirname, `expected-failures-${wiring}.yml`)
    const options = ['--url', url, '--requirements', revision, '--expected-failures', baseline, '-o', results]
    const child = spawn(process.execPath, [join(suite, 'dist/index.js'), 'server', ...options], { stdio: 'pipe' })
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    assert.equal(child.exitCode, 0, `${said}\n${complained}`)
    const ran = new Set(readdirSync(results).map(name => name.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, '')))
    const missed = required(revision).filter(name => !ran.has(name))
    assert.deepEqual(missed, [], 'required, but not run')
  } finally {
    rmSync(results, { recursive: true })
  }
}

/** The scenarios a server has to pass, as the suite itself lists them for a revision. */
function required(revision: string): string[] {
  const listed = readFileSync(join(suite, `requirements/${revision}.yaml`), 'utf8')
  const [, server = ''] = /^server:\n((?: {2}- .+\n)+)/m.exec(listed) ?? []
  const names = server.split('\n').flatMap(line => line.slice('  - '.length) || [])
  assert.ok(names.length > 20)
  return names
}

/** The suite cannot send a token. All else goes through as sent; this port, where Host or Origin name it, as the server's. */
async function addToken(target: string, token: string): Promise<{ url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(target)
  const proxy = createServer((incoming, outgoing) => {
    const headers: Record<string, string | string[] | undefined> = { ...incoming.headers }
    for (const name of ['host', 'origin']) {
      const value = headers[name]
      if (typeof value === 'string') headers[name] = value.replace(`:${incoming.socket.localPort}`, `:${port}`)
    }
    headers['authorization'] = `Bearer ${token}`
    const { method, url: path } = incoming
    const onward = request({ hostname, port, path, method, headers, agent: false }, answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  assert.ok(address !== null && typeof address === 'object')
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    async close() {
      proxy.close()
      proxy.closeAllConnections()
      await once(proxy, 'close')
    },
  }
}
