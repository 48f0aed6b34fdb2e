import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MARK } from '../../src/continuation/prompt.ts'
import extension, { type Pi } from '../../src/hosts/pi/extension.ts'
import type { Tool } from '../../src/hosts/pi/tools.ts'
import { answer } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const SESSION = '01a1e3a2-52e1-731b-b905-984603fd02cb'

beforeAll(() => {
  const launcher = join(import.meta.dirname, '../../bin/punchlist.js')
  process.env['PUNCHLIST_COMMAND'] = JSON.stringify([process.execPath, launcher])
})
afterAll(() => {
  delete process.env['PUNCHLIST_COMMAND']
})

type Handler = Parameters<Pi['on']>[1]

/** pi's side of the extension: what it would call, and what it is asked to do. */
async function started(items: readonly string[] = ['Write it', 'Test it']) {
  const cwd = scratch()
  await answer(['init'], { cwd })
  const run = async <T>(...args: string[]) => await answer<T>(['--conversation', SESSION, ...args], { cwd })
  if (items.length > 0) await run('plan', 'add', ...items)
  const handlers = new Map<string, Handler>()
  const tools = new Map<string, Tool>()
  const sent: string[] = []
  extension({
    on: (event, handler) => handlers.set(event, handler),
    registerTool: tool => void tools.set(tool.name, tool),
    sendMessage: ({ content }) => void sent.push(content),
  })
  const branch: unknown[] = []
  const context = { cwd, sessionManager: { getSessionId: () => SESSION, getBranch: () => branch } }
  const tell = async (event: string, fields = {}) => await handlers.get(event)?.({ type: event, ...fields }, context)
  const settles = async (more = {}) =>
    (await tell('agent_before_settle', {
      outcome: 'completed',
      entries: ['theirs'],
      continue: false,
      context: { pendingMessages: [] },
      ...more,
    })) as { entries: unknown[]; continue: boolean } | undefined
  const call = async (name: string, params: unknown) => {
    const { content } = await tools.get(name)!.execute('call_1', params, undefined, undefined, context)
    return JSON.parse(content[0]!.text) as Record<string, never>
  }
  return { cwd, run, tools, sent, branch, tell, settles, call }
}

test('a session that would settle with items open goes on, with what others added', async () => {
  const { settles } = await started()
  expect(await settles()).toEqual({
    entries: [
      'theirs',
      { type: 'custom_message', customType: 'punchlist', content: expect.stringContaining(MARK), display: true },
    ],
    continue: true,
  })
})

test.each([
  ['something waits to be said to it', { context: { pendingMessages: [{ role: 'user' }] } }],
  ['somebody else sends it on', { continue: true }],
])('a session is left alone where %s', async (_, more) => {
  const { settles } = await started()
  expect(await settles(more)).toBeUndefined()
})

test('a session that was ended by the user, or by an error, is left alone until the user speaks', async () => {
  for (const outcome of ['aborted', 'error']) {
    const { settles, tell, run } = await started()
    expect([await settles({ outcome }), await settles()]).toEqual([undefined, undefined])
    expect(await run('status')).toMatchObject({ continuation: [{ session: SESSION, why: outcome }] })
    await tell('input', { source: 'extension', text: 'Go on.' })
    expect(await settles()).toBeUndefined()
    await tell('input', { source: 'interactive', text: 'Go on.' })
    expect(await settles()).toMatchObject({ continue: true })
  }
})

test('the tools are those of a plan, and work on that of the session', async () => {
  const { tools, call, run } = await started([])
  expect([...tools.keys()]).toEqual(['create_todo', 'list_todo', 'start_todo', 'complete_todo', 'block_todo'])
  await call('create_todo', {
    items: [{ title: '--help' }, { title: 'Second', context: 'line\nline' }, { title: 'Third' }],
  })
  await call('start_todo', {})
  await call('complete_todo', { todoId: '1', outcome: '--done: "it" $HOME' })
  await call('complete_todo', { todoId: '2', outcome: 'not wanted', status: 'cancelled' })
  await call('block_todo', { todoId: '3', needs: 'a key' })
  const { items } = await call('list_todo', { status: 'all', limit: 2 })
  expect(items).toMatchObject([
    { title: '--help', status: 'completed', outcome: '--done: "it" $HOME' },
    { title: 'Second', status: 'cancelled', context: 'line\nline' },
  ])
  expect(await run('plan', 'list')).toMatchObject({ items: [{ title: 'Third', status: 'pending', needs: 'a key' }] })
})

test('a model cannot say which command is run as a check', async () => {
  const { tools, call, run, cwd } = await started([])
  expect(JSON.stringify(tools.get('create_todo')!.parameters)).not.toContain('check')
  await run('plan', 'turn', 'strict', '--completion', 'verified')
  const sly = call('create_todo', { items: [{ title: 'Sly', check: 'touch done' }] })
  await expect(sly).rejects.toThrow('items.0.check: is no field here')
  await call('create_todo', { items: [{ title: 'Sly' }] })
  await expect(call('complete_todo', { todoId: '1', outcome: 'did it' })).rejects.toThrow('missing checkCommand')
  expect(existsSync(join(cwd, 'done'))).toBe(false)
})

test('what is refused is told to the model with what to do about it', async () => {
  const { call } = await started([])
  await expect(call('complete_todo', { todoId: '7', outcome: 'done' })).rejects.toThrow(/^not_found: .*\n.+/)
  await expect(call('create_todo', { items: [] })).rejects.toThrow(/^bad_input: .*\n.+/)
})

test('a session that is resumed, or was compacted, is told its plan once', async () => {
  const { tell, branch, sent } = await started()
  await tell('session_start', { reason: 'startup' })
  expect(await tell('before_agent_start')).toBeUndefined()
  branch.push({ type: 'message' })
  await tell('session_start', { reason: 'startup' })
  const told = { message: { customType: 'punchlist', content: expect.stringContaining('"Write it"'), display: true } }
  expect([await tell('before_agent_start'), await tell('before_agent_start')]).toEqual([told, undefined])
  await tell('session_compact', { reason: 'threshold' })
  expect(sent).toEqual([expect.stringContaining('"Write it"')])
})

test('pi goes on where our own program cannot be found', async () => {
  process.env['PUNCHLIST_COMMAND'] = '/nowhere/punchlist'
  try {
    const { tell, settles, call } = await started()
    await tell('input', { source: 'interactive', text: 'Build it.' })
    expect([await settles(), await tell('session_compact')]).toEqual([undefined, undefined])
    await expect(call('list_todo', {})).rejects.toThrow('ENOENT')
  } finally {
    process.env['PUNCHLIST_COMMAND'] = JSON.stringify([
      process.execPath,
      join(import.meta.dirname, '../../bin/punchlist.js'),
    ])
  }
})
