import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { answer, HOME, punchlist, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')
const INSPECTOR = join(import.meta.dirname, '../../node_modules/.bin/mcp-inspector')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const environment = (env: Record<string, string>) => ({
  PATH: process.env['PATH'] ?? '',
  USER: 'tester',
  HOME: HOME(),
  ...env,
})

async function overStdio(cwd: string, env: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp'],
    cwd,
    env: environment(env),
  })
  await client.connect(transport)
  closing.push(() => client.close())
  return client
}

/** Starts the server as a person would, and gives back what it prints for programs. */
async function serving(cwd: string): Promise<{ url: string; token: string }> {
  const child = spawn(process.execPath, [PROGRAM, 'mcp', '--http', '--json'], { cwd, env: environment({}) })
  const gone = new Promise<void>(done => child.on('close', () => done()))
  closing.push(async () => {
    child.kill('SIGTERM')
    await gone
  })
  const first = await new Promise<string>(done => child.stdout.setEncoding('utf8').once('data', done))
  return JSON.parse(first) as { url: string; token: string }
}

async function overHttp(
  { url, token }: { url: string; token: string },
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { Authorization: `Bearer ${token}`, ...headers } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  closing.push(() => client.close())
  return client
}

/** The texts of an answer, the first of which is the answer itself. */
async function textsOf(client: Client, name: string): Promise<string[]> {
  const { content } = await client.callTool({ name, arguments: {} })
  return (content as { text: string }[]).map(({ text }) => text)
}

test('a database that came with the folder is read with a warning, as on the command line', async () => {
  const cwd = scratch()
  await answer(['plan', 'add', 'Theirs'], { cwd, env: { HOME: scratch() } })
  const [list, warning] = await textsOf(await overStdio(cwd), 'list_todo')
  expect(JSON.parse(list!)).toMatchObject({ items: [{ title: 'Theirs' }] })
  expect(warning).toMatch(/^warning: .*punchlist\.db was not made here by you.*punchlist trust$/)
  const { stderr } = await punchlist(['export'], { cwd })
  expect(stderr).toBe(`${warning}\n`)
  const own = scratch()
  await answer(['plan', 'add', 'Mine'], { cwd: own })
  expect(await textsOf(await overStdio(own), 'list_todo')).toHaveLength(1)
})

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: args })
  const [content] = result.content as { type: string; text: string }[]
  return {
    text: content!.text,
    structured: (result.structuredContent ?? {}) as Record<string, unknown>,
    isError: result.isError === true,
  }
}

describe('a model, over stdio', () => {
  test('makes a plan, drains it, and is told what remains', async () => {
    const cwd = scratch()
    const client = await overStdio(cwd)
    const made = await call(client, 'create_todo', { items: [{ title: 'A', context: 'c' }, { title: 'B' }] })
    expect(JSON.parse(made.text)).toEqual(made.structured)
    expect(made.structured).toMatchObject({
      totalPending: 2,
      remaining: 2,
      created: [
        { title: 'A', order: 1 },
        { title: 'B', order: 2 },
      ],
    })
    const started = await call(client, 'start_todo')
    expect(started.structured).toMatchObject({ title: 'A', status: 'in_progress', context: 'c', remaining: 2 })
    const listed = await call(client, 'list_todo')
    expect(listed.structured).toMatchObject({ summary: { total: 2, pending: 1, inProgress: 1 } })
    const todoId = started.structured['id']
    const done = await call(client, 'complete_todo', { todoId, outcome: 'ok' })
    expect(done.structured).toMatchObject({
      id: todoId,
      status: 'completed',
      outcome: 'ok',
      remaining: 1,
      next: [{ title: 'B' }],
    })
    // The same list, from another door.
    const { items } = await answer<{ items: { title: string }[] }>(['plan', 'list'], { cwd })
    expect(items.map(({ title }) => title)).toEqual(['B'])
  })

  test('cannot choose its turn, and cannot set a command to be run', async () => {
    const cwd = scratch()
    const client = await overStdio(cwd, { PUNCHLIST_CONVERSATION: 'c1', PUNCHLIST_TURN: 't1' })
    for (const [field, input] of [
      ['turnId', { turnId: 't9', items: [{ title: 'A' }] }],
      ['items.0.conversationId', { items: [{ title: 'A', conversationId: 'c9' }] }],
      ['items.0.check', { items: [{ title: 'A', check: 'touch owned' }] }],
      ['items.0.status', { items: [{ title: 'A', status: 'completed' }] }],
    ] as const) {
      const stolen = await call(client, 'create_todo', input)
      expect([stolen.isError, stolen.text], field).toEqual([true, expect.stringContaining(`bad_input: ${field}: `)])
    }
    await call(client, 'create_todo', { items: [{ title: 'A' }] })
    const env = { PUNCHLIST_CONVERSATION: 'c1', PUNCHLIST_TURN: 't1' }
    await answer(['plan', 'turn', '--completion', 'verified'], { cwd, env })
    const { items } = await answer<{ items: { id: string; status: string }[] }>(['plan', 'list'], { cwd, env })
    expect(items).toMatchObject([{ title: 'A', status: 'pending' }])
    const refused = await call(client, 'complete_todo', { todoId: items[0]!.id, outcome: 'x' })
    expect(refused.isError).toBe(true)
    expect(refused.text).toMatch(/^move_refused: .*checkCommand/)
  })

  test('is refused with code, fact and hint, everything at once', async () => {
    const cwd = scratch()
    const client = await overStdio(cwd)
    const bad = await call(client, 'create_todo', { items: [{ title: '' }, { order: 0 }] })
    expect(bad.isError).toBe(true)
    expect(bad.text).toMatch(/^bad_input: items\.0\.title.*items\.1\.title.*items\.1\.order/)
    expect((await call(client, 'complete_todo', { todoId: 'x', outcome: 'y' })).text).toMatch(
      /^not_found: .*\n.*create_todo/,
    )
    expect((await call(client, 'complete_todo')).text).toMatch(/^bad_input: todoId: is missing; outcome: is missing/)
    expect((await call(client, 'list_todo')).isError).toBe(false)
  })

  test('is offered five tools, fully described, small, and always loaded', async () => {
    const client = await overStdio(scratch())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'create_todo',
      'list_todo',
      'start_todo',
      'complete_todo',
      'block_todo',
    ])
    for (const tool of tools) {
      expect(tool.description).toBeTruthy()
      expect(tool.inputSchema.type).toBe('object')
      expect(tool.outputSchema?.type).toBe('object')
      expect(tool._meta).toMatchObject({ 'anthropic/alwaysLoad': true })
      expect(tool.annotations).toEqual({
        readOnlyHint: tool.name === 'list_todo',
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      })
    }
    const definitions = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    // About four characters a token: 1,500 tokens of definitions at most.
    expect(JSON.stringify(tools).length).toBeLessThan(6000)
    expect(JSON.stringify(definitions)).not.toContain('"check"')
    expect(client.getInstructions()).toContain('create_todo')
  })

  test('gets long plans in pages that fit its context, with all text complete', async () => {
    const client = await overStdio(scratch())
    const context = 'x'.repeat(20_000)
    await call(client, 'create_todo', {
      items: Array.from({ length: 10 }, (_, n) => ({ title: `item ${n}`, context })),
    })
    const seen: string[] = []
    let after: string | null | undefined
    do {
      const page = await call(client, 'list_todo', after ? { after } : {})
      expect(page.text.length).toBeLessThan(80_000)
      const { items, cursor } = JSON.parse(page.text) as {
        items: { title: string; context: string }[]
        cursor: string | null
      }
      for (const item of items) expect(item.context).toBe(context)
      seen.push(...items.map(({ title }) => title))
      after = cursor
    } while (after)
    expect(seen).toEqual(Array.from({ length: 10 }, (_, n) => `item ${n}`))
  })
})

describe('a model, over HTTP', () => {
  test('works on the same plan; each client in the conversation its configuration names', async () => {
    const cwd = scratch()
    const server = await serving(cwd)
    const [ann, bob] = [
      await overHttp(server, { 'punchlist-conversation': 'ann', 'punchlist-actor': 'ann' }),
      await overHttp(server, { 'punchlist-conversation': 'bob' }),
    ]
    await call(ann, 'create_todo', { items: [{ title: 'A' }] })
    await call(bob, 'create_todo', { items: [{ title: 'B' }] })
    const titles = async (client: Client) =>
      ((await call(client, 'list_todo')).structured['items'] as { title: string }[]).map(({ title }) => title)
    expect([await titles(ann), await titles(bob)]).toEqual([['A'], ['B']])
    const { events } = await answer<{ events: { by: string }[] }>(['log'], { cwd })
    expect(events.map(({ by }) => by)).toEqual(['ann', 'ann', 'tester', 'tester'])
  })

  test('without the token nothing is served, and a port in use is a clear refusal', async () => {
    const { url } = await serving(scratch())
    const { status } = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    expect(status).toBe(401)
    const { port } = new URL(url)
    const ran = spawnSync(process.execPath, [PROGRAM, 'mcp', '--http', '--port', port, '--json'], {
      cwd: scratch(),
      encoding: 'utf8',
    })
    expect(ran.status).toBe(2)
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'bad_input' } })
  })

  test('a token that is too short to be safe is refused before anything listens', async () => {
    const env = { PUNCHLIST_MCP_TOKEN: 'fifteen-letters' }
    expect(await refusal(['mcp', '--http'], { cwd: scratch(), env })).toMatchObject({
      status: 2,
      code: 'bad_input',
      message: 'The token for MCP has 15 characters; it needs at least 16',
      hint: expect.stringContaining('PUNCHLIST_MCP_TOKEN'),
    })
  })
})

describe('the official inspector', () => {
  const inspect = (cwd: string, ...args: string[]) => {
    const server = ['--', process.execPath, PROGRAM, 'mcp']
    const env = { PATH: process.env['PATH'] ?? '', HOME: HOME(), USER: 'tester' }
    const ran = spawnSync(process.execPath, [INSPECTOR, '--cli', '--format', 'json', ...args, ...server], {
      cwd,
      env,
      encoding: 'utf8',
    })
    return {
      status: ran.status,
      stderr: ran.stderr,
      result: (ran.stdout ? JSON.parse(ran.stdout) : {}) as { result?: Record<string, unknown> },
    }
  }

  for (const era of ['legacy', 'modern']) {
    test(`lists and calls our tools, strictly, ${era} protocol`, () => {
      const cwd = scratch()
      const listed = inspect(cwd, '--strict', '--protocol-era', era, '--method', 'tools/list')
      expect([listed.status, listed.stderr]).toEqual([0, ''])
      expect(listed.result.result?.['tools']).toHaveLength(5)
      const args = JSON.stringify({ items: [{ title: 'A' }] })
      const called = inspect(
        cwd,
        '--protocol-era',
        era,
        '--method',
        'tools/call',
        '--tool-name',
        'create_todo',
        '--tool-args-json',
        args,
      )
      expect([called.status, called.stderr]).toEqual([0, ''])
      expect(called.result.result?.['structuredContent']).toMatchObject({ totalPending: 1 })
    })
  }
})
