import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { scratch } from '../support/scratch.ts'
import { TODOS, Typist } from '../support/worklog.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** What a host starts, with what the host says about who is asking and where. */
async function model(cwd: string, said: Record<string, string> = { PUNCHLIST_SESSION: 's1' }): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, USER: 'tester', ...said }
  const args = [PROGRAM, 'mcp', '--tools', 'worklog']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }))
  closing.push(() => client.close())
  return client
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name: `worklog_${name}`, arguments: args })
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
  return structured
}

describe('a model that is offered the worklog', () => {
  test('has a tool for every verb, briefly and fully described, and is told how to use them', async () => {
    const client = await model(scratch())
    const { tools } = await client.listTools()
    const verbs = ['open', 'task', 'check', 'decide', 'complete', 'fail', 'close', 'list', 'summary', 'pr', 'sweep']
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [...verbs, 'protocol'].map(verb => `worklog_${verb}`).toSorted(),
    )
    expect(JSON.stringify(tools).length).toBeLessThan(30_000)
    const reading = new Set(['worklog_list', 'worklog_pr', 'worklog_protocol'])
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(description).toBeTruthy()
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object'])
      expect(annotations?.readOnlyHint, name).toBe(reading.has(name))
      // Who asks is the host's to say.
      for (const scope of ['actor', 'root', 'store']) expect(inputSchema.properties).not.toHaveProperty(scope)
    }
    expect(client.getInstructions()).toContain('worklog_open')
  })

  test('keeps its log with nothing but tools, as the protocol for them says', async () => {
    const cwd = scratch()
    const client = await model(cwd)
    const given = { name: 'alice', role: 'test', plan: 'plans/report.md' }
    const { text: protocol } = (await answered(client, 'protocol', { ...given, via: 'mcp' })) as { text: string }
    const [, sent = ''] = /worklog_open (\{.*\})/.exec(protocol)!
    expect(JSON.parse(sent)).toEqual(given)
    expect(await answered(client, 'open', JSON.parse(sent) as Record<string, unknown>)).toMatchObject({
      worklog: { worker: 'alice', path: `${TODOS}/alice.md` },
      written: true,
    })
    const name = 'alice'
    const task = { name, task: 1, subject: 'Escape the report', subtask: ['find it', 'mend it'] }
    expect(await answered(client, 'task', task)).toMatchObject({ task: { status: 'in_progress' } })
    await answered(client, 'check', { name, task: 1, subtask: 2 })
    await answered(client, 'decide', { name, task: 1, text: 'At the exit', tag: 'arch' })
    const done = await answered(client, 'complete', { name, task: 1, file: ['a.ts'], ward: 'ok' })
    expect(done).toMatchObject({ task: { status: 'completed', files: ['a.ts'], ward: 'ok' } })
    await answered(client, 'task', { name, task: 2, subject: 'Sign it' })
    await answered(client, 'fail', { name, task: 2, reason: 'no key' })
    await answered(client, 'open', { ...given, name: 'bob' })
    await answered(client, 'close', { name, interrupted: true })
    await answered(client, 'close', { name })
    expect(await answered(client, 'sweep')).toMatchObject({ interrupted: [{ worker: 'bob' }], warnings: [] })
    expect(await answered(client, 'summary')).toMatchObject({ workers: 2, completed_tasks: 1, total_tasks: 2 })
    const { text } = (await answered(client, 'pr', { body: 'What it does.' })) as { text: string }
    expect(text).toMatch(/^What it does\.\n\n<!-- punchlist[^]*task 2 \(Sign it\) failed: no key/)
    expect(await answered(client, 'list', { worker: name })).toMatchObject({ tasks: [{ number: 1 }, { number: 2 }] })
    // The same logs, from another door.
    expect(await new Typist(cwd).list()).toMatchObject({
      session: 's1',
      worklogs: [{ worker: name }, { worker: 'bob' }],
    })
  })

  test('is refused with code, fact and hint, and nothing is written', async () => {
    const cwd = scratch()
    const client = await model(cwd)
    for (const name of ['_summary', '../x', 'a b', '', 'con']) {
      const { text, isError } = await call(client, 'open', { name, role: 'test', plan: 'p.md' })
      expect([isError, text.split(':')[0]]).toEqual([true, 'bad_input'])
    }
    const bad = await call(client, 'task', { name: 'alice', task: 'one', subject: '\u001b[2J', subtask: 'x' })
    expect(bad.text).toMatch(/^bad_input: task: .*subject: .*subtask: .*\nCorrect task, subject, subtask/)
    expect((await call(client, 'check', { name: 'alice', task: 1, subtask: 1 })).text).toMatch(
      /^not_found: .*\nOpen it first/,
    )
    expect(existsSync(join(cwd, 'tmp'))).toBe(false)
    await answered(client, 'open', { name: 'alice', role: 'test', plan: 'p.md' })
    await answered(client, 'task', { name: 'alice', task: 1, subject: 'Escape' })
    await answered(client, 'complete', { name: 'alice', task: 1 })
    expect((await call(client, 'fail', { name: 'alice', task: 1, reason: 'x' })).text).toMatch(
      /^move_refused: .*\n.*again/,
    )
    expect((await call(client, 'pr', { body: 7 })).text).toMatch(/^bad_input: body/)
  })

  test('cannot choose its session, and a log that cannot be written is no error', async () => {
    const cwd = scratch()
    const client = await model(cwd, { PUNCHLIST_SESSION: 's1' })
    const opening = { name: 'alice', role: 'test', plan: 'p.md' }
    for (const [field, value] of Object.entries({
      session: 's9',
      actor: 'root',
      root: '/',
      store: 'sqlite::memory:',
    })) {
      expect((await call(client, 'open', { ...opening, [field]: value })).text).toMatch(`bad_input: ${field}: `)
    }
    await answered(client, 'open', opening)
    expect((await new Typist(cwd).list()).worklogs).toMatchObject([{ session: 's1' }])
    const unreachable = { PUNCHLIST_SESSION: 's1', PUNCHLIST_STORE: 'postgres://ann:x@127.0.0.1:1/none' }
    const other = await model(scratch(), unreachable)
    const told = await answered(other, 'open', { name: 'alice', role: 'test', plan: 'p.md' })
    expect(told).toMatchObject({ written: false, warnings: [{ message: expect.stringContaining('not written') }] })
  })
})
