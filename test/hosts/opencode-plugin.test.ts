import { describe, expect, test } from 'vitest'
import { MARK } from '../../src/continuation/prompt.ts'
import { scopeOf } from '../../src/hosts/opencode/scope.ts'
import { talkThrough } from '../../src/hosts/talk.ts'
import { loaded, PlayedOpenCode, SESSION, says, started, tell } from './opencode-client.ts'

describe('the budget of a session', () => {
  test('is the same after OpenCode was started again', async () => {
    const { host, hooks, cwd } = await started()
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'sent on')
    const again = new PlayedOpenCode()
    again.messages.push(...host.messages)
    await tell(await loaded(again, cwd), 'session.idle')
    await again.logged(SESSION, 'left alone', 'cooling')
    expect(again.prompts).toEqual([])
  })

  test('begins anew when the user speaks, and not when OpenCode or we do', async () => {
    const { host, hooks, injections } = await started()
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'sent on')
    // The second may be one of another process of ours.
    for (const id of ['msg_1', 'msg_2']) await says(hooks, host.prompts[0]!.body.parts[0]!.text, {}, id)
    await says(hooks, 'Background task completed', { synthetic: true }, 'msg_3')
    for (const id of ['msg_4', 'msg_5'])
      await tell(hooks, 'message.updated', { info: { id, role: 'user', time: { created: Date.now() + 1000 } } })
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone', 'cooling')
    expect({ prompts: host.prompts.length, injections: await injections() }).toEqual({ prompts: 1, injections: 1 })
    await says(hooks, 'And now the other thing.')
    expect(await injections()).toBe(0)
    await tell(hooks, 'session.idle')
    await host.prompted(2)
  })
})

test('a session is sent on once, however many plugins of ours are loaded', async () => {
  const { host, hooks, cwd } = await started({ countdownSeconds: 1 })
  await tell(hooks, 'session.idle')
  await host.logged(SESSION, 'counting down')
  const other = await loaded(host, cwd)
  for (const one of [hooks, other]) await tell(one, 'session.idle')
  await host.logged(SESSION, 'sent on')
  await host.logged(SESSION, 'left alone', 'nothing_open')
  expect(host.prompts).toHaveLength(1)
  const args = {}
  await hooks['tool.execute.before']({ tool: 'punchlist_list_todo', sessionID: SESSION }, { args })
  expect(args).toEqual({})
})

test('what is told about a session is told in order, and about another one meanwhile', async () => {
  const heard: string[] = []
  let finish = () => {}
  const slow = new Promise<void>(done => (finish = done))
  const talk = talkThrough(async told => {
    const { session, event } = JSON.parse(told) as { session: string; event: { type: string } }
    if (event.type === 'spoke') await slow
    heard.push(`${session} ${event.type}`)
    return ''
  }, '/')
  const all = [
    talk.tell('a', { type: 'spoke', text: '' }),
    talk.tell('a', { type: 'ended' }),
    talk.tell('b', { type: 'ended' }),
  ]
  await all[2]
  finish()
  await talk.settled()
  expect(heard).toEqual(['b ended', 'a spoke', 'a ended'])
})

describe('a subagent', () => {
  const child = { title: 'Look around', metadata: { sessionId: 'ses_child' }, output: 'I looked.' }

  test('is not sent on by itself: whoever started it is told what it left open', async () => {
    const { host, hooks, run } = await started()
    host.parents.set('ses_child', SESSION)
    await run('plan', 'add', 'Look under the "bed"', 'Look up', '--conversation', 'ses_child')
    await tell(hooks, 'session.idle', { sessionID: 'ses_child' })
    await host.logged('ses_child', 'left alone', 'nothing_open')
    const output = { ...child }
    await hooks['tool.execute.after']({ tool: 'task', sessionID: SESSION, args: {} }, output)
    expect(host.prompts).toEqual([])
    expect(output.output).toMatch(/^I looked\.\n\n\[punchlist: .* 2 of 2 items of its plan open/)
    expect(output.output).toContain('"Look under the \\"bed\\"", "Look up"')
    expect(output.output).toContain('task_id "ses_child"')
  })

  test('that left nothing open is answered for as it was', async () => {
    const { hooks } = await started()
    const output = { ...child }
    await hooks['tool.execute.after']({ tool: 'task', sessionID: SESSION, args: {} }, output)
    expect(output).toEqual(child)
  })
})

describe('the plan', () => {
  test('is put below the summary of a compaction, and told to whoever sums up', async () => {
    const { hooks } = await started()
    const compacting = { context: [] as string[] }
    await hooks['experimental.session.compacting']({ sessionID: SESSION }, compacting)
    expect(compacting.context.join('\n')).toContain('"Write it"')
    const summary = { text: 'We did things.' }
    await hooks['experimental.text.complete']({ sessionID: SESSION }, summary)
    expect(summary.text).toBe(`We did things.\n\n${compacting.context[0]}`)
    const later = { text: 'Next.' }
    await hooks['experimental.text.complete']({ sessionID: SESSION }, later)
    expect(later.text).toBe('Next.')
  })

  test('follows the list that OpenCode keeps itself', async () => {
    const { host, hooks, run } = await started({ items: [] })
    const todo = (content: string, status: string) => ({ content, status, priority: 'high' })
    await tell(hooks, 'todo.updated', { todos: [todo('Dig', 'in_progress'), todo('Plant', 'pending')] })
    await tell(hooks, 'todo.updated', { todos: [todo('Dig', 'completed'), todo('Plant', 'in_progress')] })
    // Judged after what was told before: nothing that was just changed is overlooked.
    await tell(hooks, 'session.idle')
    await host.prompted(1)
    expect(host.prompts[0]!.body.parts[0]!.text).toContain('[Status: 1/2 completed, 1 remaining]')
    const { items } = await run<{ items: { title: string; status: string }[] }>('plan', 'list', '--status', 'all')
    expect(items.map(({ title, status }) => [title, status])).toEqual([
      ['Dig', 'completed'],
      ['Plant', 'in_progress'],
    ])
  })

  test('gets a turn of its own for what the user asks, under the name of the message', async () => {
    const { hooks, run } = await started({ items: ['Old'] })
    await run('plan', 'complete', '1', 'done')
    await says(hooks, 'Build it.')
    const { turn } = await run<{ turn: { turnId: string } }>('plan', 'turn')
    expect(turn.turnId).toBe('msg_9')
  })
})

describe('a call of our own server', () => {
  const server = { type: 'local', command: ['punchlist', 'mcp'], environment: { LANG: 'C' } }
  const keyIn = (config: unknown) =>
    (config as { mcp: { punchlist: { environment: Record<string, string> } } }).mcp.punchlist.environment

  test('is sealed with the session it belongs to, whatever the model sent', async () => {
    const { hooks } = await started()
    const config = { mcp: { punchlist: { ...server } } }
    await hooks.config(config)
    const { LANG, PUNCHLIST_SCOPE_KEY: key } = keyIn(config)
    const args = { items: [], punchlist_scope: 'ses_other.forged' }
    await hooks['tool.execute.before']({ tool: 'punchlist_create_todo', sessionID: SESSION }, { args })
    expect(LANG).toBe('C')
    expect(args.punchlist_scope).toBe(scopeOf(SESSION, key!))
    // As openssl does it.
    expect(scopeOf('ses_1', 'a key')).toBe('ses_1.IQ6mfIYxzrl_WVMoQrkqYTavIvRsoZpbfApXxDp5MSo')
  })

  test('of another server is left as it is', async () => {
    const { hooks } = await started()
    const config = { mcp: { other: { ...server }, punchlist: { type: 'remote', url: 'https://example.com' } } }
    await hooks.config(config)
    await hooks.config({})
    const args = { command: 'ls' }
    await hooks['tool.execute.before']({ tool: 'bash', sessionID: SESSION }, { args })
    expect(args).toEqual({ command: 'ls' })
    expect(JSON.stringify(config)).not.toContain('PUNCHLIST_SCOPE_KEY')
  })

  test('is shown to the model without the seal', async () => {
    const { hooks } = await started()
    const call = (tool: string) => ({ tool, state: { input: { todoId: '1', punchlist_scope: 'sealed' } } })
    const messages = [{ parts: [call('punchlist_start_todo'), call('other'), { type: 'text', text: 'x' }] }, {}]
    await hooks['experimental.chat.messages.transform']({}, { messages })
    expect(messages[0]!.parts!.map(part => 'state' in part && part.state.input)).toEqual([
      { todoId: '1' },
      { todoId: '1', punchlist_scope: 'sealed' },
      false,
    ])
  })

  test('typed in a shell belongs to the session, too', async () => {
    const { hooks } = await started()
    const env: Record<string, string> = {}
    await hooks['shell.env']({ cwd: '/', sessionID: SESSION }, { env })
    await hooks['shell.env']({ cwd: '/' }, { env: {} })
    expect(env).toEqual({ PUNCHLIST_CONVERSATION: SESSION })
  })
})

describe('OpenCode goes on', () => {
  test('where our own program cannot be found', async () => {
    const { host, cwd } = await started()
    const hooks = await loaded(host, cwd, ['/nowhere/punchlist'])
    await says(hooks, 'Build it.')
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone', 'ENOENT')
    const compacting = { context: [] }
    await hooks['experimental.session.compacting']({ sessionID: SESSION }, compacting)
    expect({ prompts: host.prompts, compacting }).toEqual({ prompts: [], compacting: { context: [] } })
  })

  test.each([
    ['what it prints is none of ours', 'console.log("hello")'],
    ['it fails', 'process.exit(3)'],
    ['it replies something else', 'console.log(JSON.stringify({ type: "answer" }))'],
  ])('where %s', async (_, code) => {
    const { host, cwd } = await started()
    const hooks = await loaded(host, cwd, [process.execPath, '-e', code])
    await says(hooks, 'Build it.')
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone')
    expect(host.prompts).toEqual([])
  })

  test('whatever its events look like', async () => {
    const { hooks } = await started()
    for (const event of [null, 1, {}, { type: 'session.idle' }, { type: 'toString', properties: { sessionID: 'x' } }])
      await hooks.event({ event })
    await hooks['chat.message']({}, {})
    await hooks['tool.execute.before']({}, {})
    await hooks['tool.execute.after']({}, {})
    await hooks['experimental.session.compacting']({}, {})
    await hooks['experimental.chat.messages.transform']({}, {})
    await says(hooks, MARK)
  })
})
