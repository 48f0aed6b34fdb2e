import { describe, expect, test } from 'vitest'
import { buildContinuationPrompt, createTodoContinuationHook } from '../../src/continuation/index.ts'
import { SESSION, staged, todos } from './stage.ts'

test('it is a hook like others, for the events it names', () => {
  const { name, description, priority, events } = createTodoContinuationHook()
  expect({ name, priority, events }).toEqual({
    name: 'todo-continuation-enforcer',
    priority: 40,
    events: [
      'session.idle',
      'session.error',
      'session.deleted',
      'message.updated',
      'message.after',
      'tool.before',
      'tool.after',
    ],
  })
  expect(description).not.toBe('')
})

describe('a session that goes idle with open items', () => {
  test('is counted down, a toast each second, the first at once', async () => {
    const { toasts, goesIdle, clock } = staged()
    await goesIdle()
    const toast = { title: 'Todo Continuation', variant: 'warning', duration: 900 }
    expect(toasts).toEqual([{ ...toast, message: 'Resuming in 2s... (2 tasks remaining)' }])
    await clock.pass(1000)
    expect(toasts[1]).toEqual({ ...toast, message: 'Resuming in 1s... (2 tasks remaining)' })
    await clock.pass(10_000)
    expect(toasts).toHaveLength(2)
  })

  test('is sent on when the countdown is over, and not before', async () => {
    const { injected, goesIdle, clock } = staged()
    await goesIdle()
    await clock.pass(1999)
    expect(injected).toEqual([])
    await clock.pass(1)
    expect(injected).toMatchObject([{ session: SESSION, prompt: buildContinuationPrompt(1, 3, 2) }])
  })

  test('is sent on with the agent that was at work', async () => {
    const stage = staged({ getAgentInfo: () => ({ agent: 'build', hasWritePermission: true }) })
    await stage.rests()
    expect(stage.injected[0]!.agent).toBe('build')
  })

  test('is sent on though nobody says who the agent is, or what it may do', async () => {
    for (const info of [undefined, null, {}, { agent: 'build' }]) {
      const stage = staged({ getAgentInfo: () => info })
      await stage.rests()
      expect(stage.injected).toHaveLength(1)
    }
  })

  test('is let go where the agent may not write', async () => {
    const stage = staged({ getAgentInfo: () => ({ hasWritePermission: false }) })
    await stage.rests()
    expect(stage.injected).toEqual([])
  })

  test('is counted down as long as it is told to, also where the seconds are not whole', async () => {
    const stage = staged({ config: { countdownSeconds: 2.5, toastDuration: 100 } })
    await stage.rests(2499)
    expect(stage.toasts.map(({ message }) => message.slice(0, 16))).toEqual([
      'Resuming in 2.5s',
      'Resuming in 1.5s',
      'Resuming in 0.5s',
    ])
    expect(stage.injected).toEqual([])
    await stage.clock.pass(1)
    expect(stage.injected).toHaveLength(1)
  })

  test('a key of the configuration that is set to nothing counts as not set', async () => {
    const stage = staged({ config: { enabled: undefined, countdownSeconds: undefined } })
    await stage.rests()
    expect(stage.injected).toHaveLength(1)
  })
})

describe('the countdown is called off', () => {
  test.each([
    ['message.updated', { info: { role: 'user' } }],
    ['message.after', { info: { role: 'user' } }],
    ['message.updated', { info: { role: 'assistant' } }],
    ['message.after', { info: { role: 'assistant' } }],
    ['tool.before', undefined],
    ['tool.after', {}],
    ['session.error', { error: { name: 'UnknownError' } }],
    ['session.error', undefined],
    ['session.deleted', undefined],
  ])('by %s %j, and so are the toasts', async (event, data) => {
    const stage = staged()
    await stage.rests(600)
    await stage.happens(event, data)
    await stage.clock.pass(60_000)
    expect(stage.injected).toEqual([])
    expect(stage.toasts).toHaveLength(1)
    expect(stage.clock.waiting).toBe(0)
  })

  test('by nothing that happens in another session', async () => {
    const stage = staged()
    await stage.rests(600)
    await stage.happens('tool.before', {}, 'ses_2')
    await stage.happens('session.deleted', {}, 'ses_2')
    await stage.clock.pass(1400)
    expect(stage.injected).toHaveLength(1)
  })

  test('by no event that means nothing, whatever comes along', async () => {
    const stage = staged()
    await stage.rests(600)
    for (const data of [undefined, null, 7, 'x', {}, { info: null }, { info: { role: 'system' } }]) {
      await stage.happens('message.updated', data)
      await stage.happens('file.edited', data)
    }
    await stage.clock.pass(1400)
    expect(stage.injected).toHaveLength(1)
  })
})

describe('when a message was created', () => {
  const created: Readonly<Record<string, (at: number) => object>> = {
    'time.created in milliseconds': at => ({ time: { created: at } }),
    'createdAt in milliseconds': at => ({ createdAt: at }),
    'createdAt as a date': at => ({ createdAt: new Date(at) }),
    'createdAt as text': at => ({ createdAt: new Date(at).toISOString() }),
  }
  test.each(Object.entries(created))('is known by %s', async (_, fields) => {
    const stage = staged()
    await stage.goesIdle()
    const idleAt = stage.clock.now()
    await stage.clock.pass(1900)
    await stage.speaks({ time: undefined, ...fields(idleAt) })
    await stage.clock.pass(100)
    expect(stage.injected).toHaveLength(1)
    await stage.rests(10)
    await stage.speaks({ time: undefined, ...fields(stage.clock.now()) })
    await stage.clock.pass(60_000)
    expect(stage.injected).toHaveLength(1)
  })

  test('is not known where it makes no sense: then the grace period decides', async () => {
    const stage = staged({ config: { gracePeriod: 700 } })
    await stage.rests(699)
    await stage.speaks({ time: { created: 'yesterday' } })
    await stage.clock.pass(1)
    expect(stage.clock.waiting).toBe(1)
    await stage.speaks({ time: { created: Number.NaN } })
    expect(stage.clock.waiting).toBe(0)
  })
})

describe('a message in the name of the user', () => {
  const text = `Stop hook feedback:\n${buildContinuationPrompt(1, 3, 2)}`
  const part = { type: 'text', text: 'go on', synthetic: true }
  test.each([
    ['text', { info: { role: 'user', text } }],
    ['content', { info: { role: 'user', content: text } }],
    ['parts of its content', { info: { role: 'user', content: [{ type: 'text', text }] } }],
    ['parts', { info: { role: 'user' }, parts: [{ type: 'text', text }] }],
    ['parts of its own', { info: { role: 'user', parts: [{ type: 'text', text }] } }],
    ['synthetic parts', { info: { role: 'user' }, parts: [part, part] }],
    ['being synthetic', { info: { role: 'user', synthetic: true } }],
  ])('is known as ours by its %s', async (_, data) => {
    const stage = staged()
    await stage.rests(1000)
    await stage.happens('message.updated', data)
    await stage.clock.pass(1000)
    expect(stage.injected).toHaveLength(1)
  })

  test('is the user’s where only a part of it is synthetic', async () => {
    const stage = staged()
    await stage.rests(1000)
    await stage.happens('message.updated', { info: { role: 'user' }, parts: [part, { type: 'text', text: 'wait' }] })
    await stage.clock.pass(60_000)
    expect(stage.injected).toEqual([])
  })

  test.each([['msg_1'], [{ id: 'msg_1' }]])('is ours by its name, where injecting answered %j', async answer => {
    let injections = 0
    const stage = staged({ config: { maxInjections: 1 }, injectPrompt: () => (injections++, answer) })
    await stage.rests()
    await stage.speaks({ id: 'msg_1' })
    await stage.rests(60_000)
    expect(injections).toBe(1)
    await stage.speaks({ id: 'msg_2' })
    await stage.rests(60_000)
    expect(injections).toBe(2)
  })
})

describe('whose session it is', () => {
  const cases: readonly [string, string | undefined, boolean, number][] = [
    ['the main one', SESSION, false, 1],
    ['a subagent', 'ses_main', true, 1],
    ['neither the main one nor a subagent', 'ses_main', false, 0],
    ['any, where no main one is known', undefined, false, 1],
  ]
  test.each(cases)('%s', async (_, main, subagent, expected) => {
    const stage = staged({ getMainSessionId: () => main, isSubagentSession: () => subagent })
    await stage.rests()
    expect(stage.injected).toHaveLength(expected)
  })
})

describe('items that do not trigger', () => {
  test.each(['completed', 'cancelled', 'blocked', 'awaiting_input'])('%s', async status => {
    const stage = staged({ getTodos: () => todos(status, status) })
    await stage.rests()
    expect([...stage.toasts, ...stage.injected]).toEqual([])
  })

  test.each(['pending', 'in_progress', 'reviewing'])('not so %s, be there but one', async status => {
    const stage = staged({ getTodos: () => todos('completed', 'blocked', 'cancelled', status) })
    await stage.rests()
    expect(stage.injected[0]!.prompt).toContain('[Status: 2/4 completed, 2 remaining]')
  })

  test.each([[[]], [null], [undefined]])('a list that is %j', async list => {
    const stage = staged({ getTodos: () => list })
    await stage.rests()
    expect(stage.injected).toEqual([])
  })
})

describe('what the last message of the assistant ended with', () => {
  const ended = (error: unknown) => ({ getMessages: () => [{ role: 'user' }, { role: 'assistant', error }] })
  test.each([[{ name: 'MessageAbortedError' }], [{ name: 'AbortError' }], [{ name: 'ContextOverflowError' }], ['x']])(
    '%j keeps it from being sent on',
    async error => {
      const stage = staged(ended(error))
      await stage.rests()
      expect(stage.injected).toEqual([])
    },
  )

  test.each([[undefined], [null]])('%j does not', async error => {
    const stage = staged(ended(error))
    await stage.rests()
    expect(stage.injected).toHaveLength(1)
  })

  test('is found where a host keeps it one level down', async () => {
    const info = { role: 'assistant', error: { name: 'MessageAbortedError' } }
    const stage = staged({ getMessages: () => [{ info }] })
    await stage.rests()
    expect(stage.injected).toEqual([])
  })

  test('counts only for the last', async () => {
    const first = { role: 'assistant', error: { name: 'AbortError' } }
    const stage = staged({ getMessages: () => [first, { role: 'assistant' }] })
    await stage.rests()
    expect(stage.injected).toHaveLength(1)
  })
})

describe('it waits', () => {
  test('while background tasks run or wait, and goes on by itself when they are done', async () => {
    let running = 2
    const stage = staged({ getBackgroundTaskCount: () => running })
    await stage.rests(600_000)
    expect(stage.injected).toEqual([])
    running = 0
    await stage.clock.pass(5000 + 2000)
    expect(stage.injected).toHaveLength(1)
  })

  test('and need not look again where somebody says that they are done', async () => {
    let running = 1
    const stage = staged({ getBackgroundTaskCount: () => running })
    await stage.rests(1)
    running = 0
    stage.hook.markBackgroundSettled(SESSION)
    await stage.clock.pass(2000)
    expect(stage.injected).toHaveLength(1)
  })

  test('while the session is recovering, and goes on when that is complete', async () => {
    const stage = staged()
    stage.hook.markRecovering(SESSION)
    await stage.rests(200_000)
    expect(stage.injected).toEqual([])
    stage.hook.markRecoveryComplete(SESSION)
    await stage.clock.pass(2000)
    expect(stage.injected).toHaveLength(1)
  })

  test('no longer than five minutes for a recovery', async () => {
    const stage = staged()
    stage.hook.markRecovering(SESSION)
    await stage.rests(299_998)
    expect(stage.toasts).toEqual([])
    await stage.clock.pass(2001)
    expect(stage.injected).toHaveLength(1)
  })

  test('while the user has not answered a question', async () => {
    const stage = staged({ isAwaitingAnswer: async () => true })
    await stage.rests(600_000)
    expect(stage.injected).toEqual([])
  })
})
