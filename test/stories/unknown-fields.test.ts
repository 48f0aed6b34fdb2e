import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, expect, test } from 'vitest'
import { open, type Punchlist } from '../../src/index.ts'
import { TOOL_SETS, toolsFor } from '../../src/tools.ts'
import { HOME, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function opened(cwd: string): Promise<Punchlist> {
  const list = await open({ root: cwd, store: 'sqlite::memory:', session: 's1' })
  closing.push(() => list.close())
  return list
}

/** Calls a verb as a program without types does. */
async function refusedBy(verb: (input: never) => Promise<unknown>, input: unknown): Promise<unknown> {
  return await verb(input as never).then(
    answer => ({ answered: answer }),
    (error: unknown) => error,
  )
}

test.each([
  ['plan', { items: [{ title: 'A', contxt: 'x' }] }, 'items.0.contxt: is no field here; did you mean context?'],
  [
    'backlog',
    { items: [{ title: 'A', source: 'work', priorty: 'p1' }] },
    'items.0.priorty: is no field here; did you mean priority?',
  ],
  ['backlog', { itmes: [] }, 'itmes: is no field here; did you mean items?'],
  [
    'queue',
    { items: [{ title: 'A', description: 'x', expect: 'y', depends_on: ['1'] }] },
    'items.0.depends_on: is no field here; did you mean dependsOn?',
  ],
])('%s add --items refuses a misspelt field by name and adds nothing', async (room, document, fact) => {
  const cwd = scratch()
  const around = { cwd, input: JSON.stringify(document) }
  const { status, code, message } = await refusal([room, 'add', '--items', '-'], around)
  expect([status, code]).toEqual([2, 'bad_input'])
  expect(message).toContain(fact)
  const list = await opened(cwd)
  expect((await list.plan.list({ status: 'all' })).items).toEqual([])
  expect((await list.backlog.list()).todos).toEqual([])
  expect((await list.queue.list()).tasks).toEqual([])
})

test('a document of triage decisions may not have other fields either', async () => {
  const input = JSON.stringify([{ id: '1', decision: 'approve', why: 'x' }])
  const { status, message } = await refusal(['backlog', 'triage', '--decisions', '-'], { cwd: scratch(), input })
  expect([status, message]).toEqual([2, expect.stringContaining('decisions.0.why: is no field here')])
})

test('a program is refused by every kind of verb, with the field and the one it probably meant', async () => {
  const { plan, backlog, queue, worklog, continuation } = await opened(scratch())
  const { repository } = plan
  const row = { conversationId: 'default', turnId: 't', title: 'A' }
  const created = await repository.create(row)
  for (const [verb, input, field, nearest] of [
    [plan.list, { stauts: 'all' }, 'stauts', 'status'],
    [plan.complete, { todoId: '1', outcome: 'x', evidnce: [] }, 'evidnce', undefined],
    [backlog.complete, { id: '1', reson: 'x' }, 'reson', 'reason'],
    [backlog.next, { clam: true }, 'clam', 'claim'],
    [queue.claim, { wroker: 'w' }, 'wroker', 'worker'],
    [worklog.task, { name: 'ann', task: 1, subject: 'x', subtasks: ['y'] }, 'subtasks', 'subtask'],
    [worklog.list, { sesion: 'x' }, 'sesion', undefined],
    [continuation.stop, { al: true }, 'al', undefined],
    [(given: never) => repository.create(given), { ...row, agentTyp: 'coder' }, 'agentTyp', 'agentType'],
    [(given: never) => repository.createBatch(given), [{ ...row, checkCommand: ['true'] }], 'checkCommand', undefined],
    [(updates: never) => repository.update(created.id, updates), { turnId: 't2' }, 'turnId', undefined],
  ] as const) {
    const problem = await refusedBy(verb, input)
    expect(problem, field).toMatchObject({ code: 'bad_input' })
    const { wrong } = (problem as { details: { wrong: { field: string; nearest?: string }[] } }).details
    expect(
      wrong.find(one => one.field === field),
      field,
    ).toMatchObject(nearest ? { nearest } : {})
  }
  expect(await repository.findById(created.id)).toEqual(created)
  // A field that is there and empty is left out, as programs write it.
  expect((await plan.list({ status: undefined })).items).toEqual([])
})

test('a model is refused by every tool, and each schema it is shown says so', async () => {
  const cwd = scratch()
  const client = new Client({ name: 'test', version: '1' })
  const args = [PROGRAM, 'mcp', '--tools', TOOL_SETS.join(',')]
  const env = { PATH: process.env['PATH'] ?? '', USER: 'tester', HOME: HOME() }
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }))
  closing.push(() => client.close())
  const { tools } = await client.listTools()
  expect(tools.length).toBeGreaterThan(40)
  for (const { name, inputSchema } of tools) {
    expect([name, openObjectsIn(inputSchema)]).toEqual([name, []])
    // What a client adds to its request is not input.
    const answer = await client.callTool({ name, arguments: { nosuchfield: 1 }, _meta: { more: 'x' } })
    const [{ text }] = answer.content as unknown as [{ text: string }]
    expect([name, answer.isError, text.split(': ').slice(0, 2)]).toEqual([name, true, ['bad_input', 'nosuchfield']])
  }
  const own = await toolsFor(await opened(cwd), TOOL_SETS)
  for (const tool of own) {
    expect((await tool.answer({ nosuchfield: null })).text).toMatch(/^bad_input: nosuchfield: /)
  }
})

/** The places in a JSON schema where an object may have other fields than those it names. */
function openObjectsIn(schema: unknown, place = '$'): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { type, additionalProperties } = schema as Record<string, unknown>
  const own = type === 'object' && additionalProperties !== false ? [place] : []
  return [...own, ...Object.entries(schema).flatMap(([key, value]) => openObjectsIn(value, `${place}.${key}`))]
}
