import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { HOME } from '../support/cli.ts'
import { ids, type ToldTask, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** What a host starts, with what the host says about who is asking and where. */
async function model(cwd: string, said: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const env = { PATH: process.env['PATH'] ?? '', HOME: HOME(), USER: 'tester', ...said }
  const args = [PROGRAM, 'mcp', '--tools', 'queue']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }))
  closing.push(() => client.close())
  return client
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name: `queue_${name}`, arguments: args })
  const [content] = result.content as { type: string; text: string }[]
  return {
    text: content!.text,
    structured: (result.structuredContent ?? {}) as Record<string, unknown>,
    isError: result.isError === true,
  }
}

/** What was answered, which must be the same in words and in structure. */
async function answered<T = { task: ToldTask; tasks: ToldTask[] }>(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<T> {
  const { text, structured, isError } = await call(client, name, args)
  expect(isError, text).toBe(false)
  expect(JSON.parse(text)).toEqual(structured)
  return structured as T
}

const item = (title: string, more = {}) => ({ title, description: 'All of it.', expect: 'It is done.', ...more })
const TALKING = ['add', 'release', 'claim', 'return', 'heartbeat', 'checkpoint', 'reply', 'complete', 'fail']
const DECIDING = ['retry', 'cancel', 'list', 'show', 'tree', 'recover']

describe('a model that is offered the queue', () => {
  test('has a tool for every verb, described in bounds, and is told how to use them', async () => {
    const client = await model(scratch())
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name.replace(/^queue_/, ''))
    expect(names).toEqual(expect.arrayContaining([...TALKING, ...DECIDING]))
    expect(names.filter(name => ![...TALKING, ...DECIDING, 'migrate'].includes(name))).toEqual([])
    expect(JSON.stringify(tools).length).toBeLessThan(30_000)
    const reading = new Set(['list', 'show', 'tree'].map(verb => `queue_${verb}`))
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(description).toBeTruthy()
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object'])
      if (!name.endsWith('migrate')) expect(annotations?.readOnlyHint, name).toBe(reading.has(name))
      for (const scope of ['session', 'actor', 'root', 'store'])
        expect(inputSchema.properties).not.toHaveProperty(scope)
    }
    // A tool call does not hang until there is work.
    const claim = tools.find(({ name }) => name === 'queue_claim')!
    expect(Object.keys(claim.inputSchema.properties ?? {})).not.toContain('wait')
    expect(client.getInstructions()).toContain('queue_claim')
  })

  test('uses every one of them', async () => {
    const cwd = scratch()
    const client = await model(cwd, { PUNCHLIST_ACTOR: 'agent-1', PUNCHLIST_SESSION: 's1' })
    const { tasks } = await answered(client, 'add', {
      items: [item('A'), item('B', { dependsOn: ['#1'] })],
      stage: true,
    })
    expect(ids(tasks)).toEqual(['req_0001', 'req_0002'])
    await answered(client, 'release', { id: '1' })
    const { task, token } = await answered<{ task: ToldTask; token: number }>(client, 'claim', {})
    expect([task.id, task.owner, task.session, token]).toEqual(['req_0001', 'agent-1', 's1', 1])
    const { id } = task
    await answered(client, 'heartbeat', { id, token })
    await answered(client, 'checkpoint', { id, token, summary: 'half', needs: 'a key' })
    expect((await answered(client, 'list', { waiting: true })).tasks).toMatchObject([{ id, waiting: true }])
    expect((await call(client, 'reply', { id, text: 'here' })).text).toMatch(/^move_refused: req_0001 is your own task/)
    await answered(await model(cwd, { PUNCHLIST_ACTOR: 'lead' }), 'reply', { id, text: 'here' })
    await answered(client, 'add', { parent: id, items: [item('part')] })
    expect((await call(client, 'complete', { id, token })).text).toMatch(
      /^move_refused: req_0001 waits for req_0001_01/,
    )
    await answered(client, 'complete', { id, token, without: ['1_01'], reason: 'not needed', note: 'done' })
    await answered(client, 'release', { id: '2' })
    const second = await answered<{ token: number }>(client, 'claim', { id: '2' })
    await answered(client, 'fail', { id: '2', type: 'build', what: 'broke', token: second.token })
    await answered(client, 'retry', { id: '2' })
    const third = await answered<{ token: number }>(client, 'claim', { id: '2' })
    await answered(client, 'return', { id: '2', token: third.token })
    await answered(client, 'cancel', { id: '2', reason: 'no use' })
    const { task: shown } = await answered<{ task: { texts: object; history: object[] } }>(client, 'show', { id })
    expect(Object.keys(shown.texts).toSorted()).toEqual([
      'checkpoint_001.md',
      'checkpoint_001_reply.md',
      'execution_log.md',
      'waived.md',
    ])
    expect(await answered(client, 'tree')).toMatchObject({
      tree: expect.arrayContaining([expect.objectContaining({ id, progress: { completed: 0, waived: 1, total: 1 } })]),
    })
    expect(await answered(client, 'recover')).toEqual({ recovered: [], stale: [], warnings: [] })
    // The same queue, from another door.
    expect((await new Typist(cwd).show('1')).history.at(-1)).toMatchObject({ to: 'completed', by: 'agent-1' })
  })

  test('is refused with code, fact and hint, and with everything that is wrong', async () => {
    const client = await model(scratch())
    const none = await call(client, 'claim')
    expect(none.isError).toBe(true)
    expect(none.text).toMatch(/^nothing_to_do: There is nothing for tester to claim\n/)
    const bad = await call(client, 'add', { items: [{ title: '' }, item('a', { slug: '../up', priority: 'SOON' })] })
    expect(bad.text).toMatch(/^bad_input: .*items\.0\.title.*items\.0\.description.*items\.1\.slug.*items\.1\.priority/)
    expect((await call(client, 'show', { id: '9' })).text).toMatch(/^not_found: /)
    await answered(client, 'add', { items: [item('a')] })
    expect((await call(client, 'complete', { id: '1' })).text).toMatch(/^move_refused: /)
    await answered(client, 'claim', { id: '1' })
    expect((await call(client, 'complete', { id: '1', token: 7 })).text).toMatch(/^lease_lost: /)
    expect((await call(client, 'release', { id: '1', without: ['2'] })).isError).toBe(true)
  })

  test('cannot choose whom it acts for, and a worker started for one task reports on that one with its token', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', 'B'])
    await typist.claim('agent-1', '1')
    const worker = { PUNCHLIST_ACTOR: 'agent-1', PUNCHLIST_TASK: 'req_0001', PUNCHLIST_TOKEN: '1' }
    const client = await model(cwd, worker)
    const other = await call(client, 'checkpoint', { id: '1', summary: 'half', by: 'root', actor: 'root' })
    expect(other.text).toMatch(/^bad_input: by: .*actor: /)
    await answered(client, 'checkpoint', { id: '1', summary: 'half' })
    await typist.run('return', '1')
    await typist.claim('agent-2', '1')
    expect((await call(client, 'complete', { id: '1' })).text).toMatch(/^lease_lost: /)
    const { history } = await typist.show('1')
    expect(history.map(({ by }) => by)).not.toContain('root')
    const { token } = await answered<{ token: number }>(client, 'claim', { id: '2' })
    expect((await call(client, 'complete', { id: '2' })).text).toMatch(/^lease_lost: req_0002 is claimed by agent-1/)
    expect((await answered(client, 'complete', { id: '2', token })).task.state).toBe('completed')
  })
})
