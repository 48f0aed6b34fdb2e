import { createHmac } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { answer, HOME } from '../support/cli.ts'
import { Hooked } from '../support/hooked.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function server(cwd: string, env: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const surroundings = { PATH: process.env['PATH'] ?? '', USER: 'tester', HOME: HOME(), ...env }
  const args = [PROGRAM, 'mcp']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env: surroundings }))
  closing.push(() => client.close())
  return client
}

const make = async (client: Client, title: string, more: { meta?: Record<string, unknown>; scope?: string } = {}) => {
  const { meta, scope } = more
  const result = await client.callTool({
    name: 'create_todo',
    arguments: { items: [{ title }], ...(scope === undefined ? {} : { punchlist_scope: scope }) },
    ...(meta ? { _meta: meta } : {}),
  })
  expect(result.isError ?? false).toBe(false)
}

const titles = async (cwd: string, conversation: string, env: Record<string, string> = {}) =>
  (
    await answer<{ items: { title: string }[] }>(['plan', 'list', '--conversation', conversation], { cwd, env })
  ).items.map(({ title }) => title)

describe('the session that a plan belongs to comes from the host', () => {
  test.each(['CLAUDE_CODE_SESSION_ID', 'QWEN_CODE_SESSION_ID', 'COPILOT_AGENT_SESSION_ID'])('in %s', async variable => {
    const cwd = scratch()
    await make(await server(cwd, { [variable]: 'session-1' }), 'One')
    expect(await titles(cwd, 'session-1')).toEqual(['One'])
    // A command that the agent gives in its own shell is about the same plan.
    const { items } = await answer<{ items: unknown[] }>(['plan', 'list'], { cwd, env: { [variable]: 'session-1' } })
    expect(items).toHaveLength(1)
  })

  test('in what it adds to each request, so that one server serves several', async () => {
    const cwd = scratch()
    const client = await server(cwd)
    await make(client, 'One', { meta: { 'x-codex-turn-metadata': { session_id: 'a', turn_id: 't' } } })
    await make(client, 'Two', { meta: { 'x-codex-turn-metadata': { session_id: 'b', turn_id: 't' } } })
    await make(client, 'Three', { meta: { 'x-codex-turn-metadata': 'nonsense' } })
    expect(await titles(cwd, 'a')).toEqual(['One'])
    expect(await titles(cwd, 'b')).toEqual(['Two'])
    expect(await titles(cwd, 'default')).toEqual(['Three'])
  })

  test('in a scope that its plugin has sealed, which a model cannot forge', async () => {
    const cwd = scratch()
    const client = await server(cwd, { PUNCHLIST_SCOPE_KEY: 'secret' })
    const sealed = (session: string, key: string) =>
      `${session}.${createHmac('sha256', key).update(session).digest('base64url')}`
    await make(client, 'One', { scope: sealed('ses_1.2', 'secret') })
    await make(client, 'Two', { scope: sealed('ses_1.2', 'guess') })
    await make(client, 'Three', { scope: 'ses_1.2' })
    await make(client, 'Four', { scope: '.' })
    expect(await titles(cwd, 'ses_1.2')).toEqual(['One'])
    expect(await titles(cwd, 'default')).toEqual(['Two', 'Three', 'Four'])
  })

  test('and what whoever starts the server says comes first', async () => {
    const cwd = scratch()
    const env = { CLAUDE_CODE_SESSION_ID: 'hosts', PUNCHLIST_CONVERSATION: 'mine' }
    await make(await server(cwd, env), 'One')
    expect(await titles(cwd, 'mine')).toEqual(['One'])
  })

  test('and the hook then looks at the same plan, unless the host keeps its environment from the server', async () => {
    const cwd = scratch()
    const env = { HOME: scratch(), PUNCHLIST_CONVERSATION: 'mine' }
    await make(await server(cwd, env), 'One')
    const hooked = new Hooked(cwd, 'hosts', env)
    expect(await hooked.tell('Stop')).toContain('1 remaining')
    const stop = JSON.stringify({ session_id: 'hosts', cwd, hook_event_name: 'Stop' })
    expect((await hooked.send(stop, 'codex')).stdout).toBe('')
    const { HOME: home } = env
    await make(await server(cwd, { HOME: home }), 'Two', { meta: { 'x-codex-turn-metadata': { session_id: 'hosts' } } })
    expect((await hooked.send(stop, 'codex')).stdout).toContain('1 remaining')
  })

  test('by the process that both the hook and the server descend from, where the host says nothing', async () => {
    const cwd = scratch()
    mkdirSync(join(cwd, '.git'))
    const env = { HOME: scratch() }
    const payload = { hook_event_name: 'SessionStart', source: 'startup', cwd }
    const older = new Hooked(cwd, 'older', env)
    const newer = new Hooked(cwd, 'newer', env)
    for (const { session } of [older, newer]) {
      expect(await older.send(JSON.stringify({ ...payload, session_id: session }), 'gemini')).toMatchObject({
        status: 0,
      })
    }
    await make(await server(cwd, env), 'One')
    expect(await titles(cwd, 'newer', env)).toEqual(['One'])
    await older.send(JSON.stringify({ ...payload, hook_event_name: 'SessionEnd', session_id: 'newer' }), 'gemini')
    await make(await server(cwd, env), 'Two')
    expect(await titles(cwd, 'older', env)).toEqual(['Two'])
  })

  test('with the folder that its hook announced, where the host starts the server elsewhere', async () => {
    const home = scratch()
    const project = scratch()
    const env = { HOME: home }
    const started = { hook_event_name: 'SessionStart', session_id: 'c1', cwd: project, source: 'new' }
    await new Hooked(project, 'c1', env).send(JSON.stringify(started), 'copilot')
    await make(await server(home, { ...env, COPILOT_AGENT_SESSION_ID: 'c1' }), 'One')
    expect(await titles(project, 'c1', env)).toEqual(['One'])
  })
})
