import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { Typist } from '../support/backlog.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** What a host starts, with what the host says about who is asking and where. */
async function model(cwd: string, said: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, USER: 'tester', ...said }
  const args = [PROGRAM, 'mcp', '--tools', 'backlog']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }))
  closing.push(() => client.close())
  return client
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name: `backlog_${name}`, arguments: args })
  const [content] = result.content as { type: string; text: string }[]
  return {
    text: content!.text,
    structured: (result.structuredContent ?? {}) as Record<string, unknown>,
    isError: result.isError === true,
  }
}

/** What was answered, which must be the same in words and in structure. */
async function answered(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { text, structured, isError } = await call(client, name, args)
  expect(isError, text).toBe(false)
  expect(JSON.parse(text)).toEqual(structured)
  return structured as { todo: Record<string, unknown>; todos: Record<string, unknown>[] }
}

describe('a model that is offered the backlog', () => {
  test('has a tool for every verb, fully described, and is told how to use them', async () => {
    const client = await model(scratch())
    const { tools } = await client.listTools()
    const verbs = [
      'add',
      'list',
      'show',
      'next',
      'search',
      'triage',
      'approve',
      'dismiss',
      'claim',
      'release',
      'complete',
    ]
    const rest = ['block', 'unblock', 'interrupt', 'resume', 'reopen', 'log', 'sweep', 'stale', 'graph']
    // Twenty tools: what their answers have in common is told by name, not spelt out in each.
    expect(JSON.stringify(tools).length).toBeLessThan(40_000)
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [...verbs, ...rest].map(verb => `backlog_${verb}`).toSorted(),
    )
    const reading = new Set(['list', 'show', 'search', 'stale', 'graph'].map(verb => `backlog_${verb}`))
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(description).toBeTruthy()
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object'])
      expect(annotations?.readOnlyHint, name).toBe(reading.has(name))
      // Who asks is the host's to say.
      for (const scope of ['actor', 'root', 'store']) expect(inputSchema.properties).not.toHaveProperty(scope)
    }
    const sweep = tools.find(({ name }) => name === 'backlog_sweep')!
    expect(sweep.inputSchema.properties).not.toHaveProperty('remove')
    expect(client.getInstructions()).toContain('backlog_next')
  })

  test('adds findings, takes one, tells what it did and completes it', async () => {
    const cwd = scratch()
    const client = await model(cwd, { PUNCHLIST_ACTOR: 'agent-1', PUNCHLIST_SESSION: 's1' })
    const items = [
      { title: 'Slow', source: 'review', status: 'ready', priority: 'p3' },
      { title: 'Leak', source: 'review', status: 'ready', priority: 'p1', findingId: 'F1', sourceRef: 'TOME.md' },
    ]
    await answered(client, 'add', { items })
    const { todo } = await answered(client, 'next', { claim: true })
    expect(todo).toMatchObject({ id: 'review/002', status: 'in_progress', assigned_to: 'agent-1', token: 1 })
    const { id, token } = todo
    await answered(client, 'log', { id, token, text: 'Found the open file', learning: ['close what you open'] })
    const done = await answered(client, 'complete', { id, token, reason: 'closed in src/file.ts' })
    expect(done).toMatchObject({ freed: [], todo: { status: 'complete', completed_by: 'agent-1' } })
    const shown = await answered(client, 'show', { id })
    expect(shown.todo['body']).toContain('close what you open')
    expect((await answered(client, 'list', { status: 'open', fields: ['title'] })).todos).toEqual([
      { id: 'review/001', title: 'Slow' },
    ])
    // The same list, from another door.
    expect(await new Typist(cwd).show('review/2')).toMatchObject({ session: 's1', status: 'complete' })
  })

  test('is refused with code, fact, hint and everything that is missing', async () => {
    const client = await model(scratch())
    const none = await call(client, 'next')
    expect(none.isError).toBe(true)
    expect(none.text).toMatch(/^nothing_to_do: .*\n.*\n\{.*"why":"none"/)
    const bad = await call(client, 'add', { items: [{ title: '' }, { title: 'a', source: '../up' }] })
    expect(bad.text).toMatch(/^bad_input: items\.0\.title.*items\.0\.source.*items\.1\.source/)
    await answered(client, 'add', { items: [{ title: 'a', source: 'review' }] })
    const missing = await call(client, 'dismiss', { id: '1', as: 'duplicate' })
    expect(missing.isError).toBe(true)
    expect(missing.text).toMatch(/^move_refused: .*resolution_reason, duplicate_of\n.*--reason.*\n\{.*"missing":/)
    expect((await call(client, 'claim', { id: '1' })).text).toMatch(/^move_refused: /)
    expect((await call(client, 'show', { id: '9' })).text).toMatch(/^not_found: /)
    await answered(client, 'claim', { id: '1', triage: true })
    expect((await call(client, 'complete', { id: '1', reason: 'x', token: 7 })).text).toMatch(/^lease_lost: /)
  })

  test('cannot choose its session or whom it acts for, nor take a session away', async () => {
    const cwd = scratch()
    const client = await model(cwd, { PUNCHLIST_ACTOR: 'agent-1', PUNCHLIST_SESSION: 's1' })
    const item = { title: 'a', source: 'review', status: 'ready' }
    expect((await answered(client, 'add', { items: [item] })).todo['session']).toBe('s1')
    for (const [field, value] of Object.entries({ session: 's9', actor: 'root', by: 'root', remove: true })) {
      for (const [verb, input] of [
        ['add', { items: [item] }],
        ['claim', { id: '1' }],
        ['sweep', {}],
      ] as const) {
        const other = await call(client, verb, { ...input, [field]: value })
        expect(other.text, `${verb} ${field}`).toMatch(`bad_input: ${field}: `)
      }
    }
    expect((await answered(client, 'claim', { id: '1' })).todo['assigned_to']).toBe('agent-1')
    expect(await answered(client, 'sweep', {})).toMatchObject({ removed: null, interrupted: [{ id: 'review/001' }] })
    const shown = await new Typist(cwd).show('work/s1/review/1')
    expect(new Set(shown.history.map(({ by }) => by))).toEqual(new Set(['agent-1']))
    expect((await new Typist(cwd).list('--session', 's9')).todos).toEqual([])
  })
})
