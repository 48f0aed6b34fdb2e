import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createTodoContinuationHook,
  type Standing,
  type TodoContinuationOptions,
  UNTOUCHED,
} from '../../src/continuation/index.ts'
import { settled } from './clock.ts'
import { SESSION, staged, todos } from './stage.ts'

const entry = join(import.meta.dirname, '../../src/continuation/index.ts')

describe('what a careless hook does, this one does not', () => {
  test('never act because nobody said what the agent may do', async () => {
    const stage = staged()
    await stage.rests()
    expect(stage.injected).toHaveLength(1)
  })

  test('act though it is switched off', async () => {
    let asked = 0
    const getTodos = () => (asked++, todos('pending'))
    const stage = staged({ config: { enabled: false }, getTodos, getBackgroundTaskCount: () => asked++ })
    await stage.rests(600_000)
    expect([asked, ...stage.toasts, ...stage.injected]).toEqual([0])
  })

  test('inject eight times for eight stops without progress', async () => {
    const stage = staged()
    for (let round = 0; round < 8; round++) {
      await stage.answers()
      await stage.rests(60_000)
    }
    expect(stage.injected).toHaveLength(3)
  })

  test('inject over a message that the user wrote while it was asking', async () => {
    let asking = () => {}
    const stage = staged({ getTodos: () => new Promise(done => (asking = () => done(todos('pending')))) })
    await stage.goesIdle()
    asking()
    await stage.clock.pass(2000)
    await stage.speaks()
    asking()
    await stage.clock.pass(60_000)
    expect(stage.injected).toEqual([])
  })

  test('inject into a session that was deleted while it was asking', async () => {
    let asking = () => {}
    const stage = staged({ getTodos: () => new Promise(done => (asking = () => done(todos('pending')))) })
    await stage.goesIdle()
    asking()
    await stage.clock.pass(2000)
    await stage.happens('session.deleted')
    asking()
    await stage.rests(60_000)
    expect(stage.injected).toEqual([])
  })

  test('inject twice at once', async () => {
    let injections = 0
    const stage = staged({ injectPrompt: () => new Promise(() => injections++) })
    await stage.rests()
    for (let round = 0; round < 5; round++) {
      await stage.happens('tool.after')
      await stage.rests(60_000)
    }
    expect(injections).toBe(1)
  })
})

describe('whatever fails', () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  beforeEach(() => void process.on('unhandledRejection', note))
  afterEach(() => {
    process.off('unhandledRejection', note)
    expect(unhandled.splice(0)).toEqual([])
  })

  const asked: (keyof TodoContinuationOptions)[] = [
    'getTodos',
    'getMessages',
    'getBackgroundTaskCount',
    'getMainSessionId',
    'getAgentInfo',
    'isAwaitingAnswer',
    'isStopped',
  ]
  const WORKING: Partial<Record<string, unknown>> = { getTodos: todos('pending'), getMessages: [] }
  const ways: Readonly<Record<string, () => never | Promise<never>>> = {
    throws() {
      throw new Error('no')
    },
    rejects: () => Promise.reject(new Error('no')),
    'throws nothing to speak of': () => Promise.reject(Object.create(null)),
  }
  for (const [way, fails] of Object.entries(ways)) {
    test.each(asked)(`%s that ${way}: the session is not sent on, until it can be asked`, async name => {
      let broken = true
      const stage = staged({ [name]: () => (broken ? fails() : WORKING[name]) })
      await stage.rests(60_000)
      expect(stage.injected).toEqual([])
      expect(stage.logged.at(-1)).toMatch(`left alone: ${name} failed`)
      broken = false
      await stage.answers()
      await stage.rests()
      expect(stage.injected).toHaveLength(1)
    })

    test(`isSubagentSession that ${way}: likewise`, async () => {
      const stage = staged({ getMainSessionId: () => 'ses_main', isSubagentSession: fails })
      await stage.rests(60_000)
      expect(stage.injected).toEqual([])
    })

    test.each(['showToast', 'log'])(`%s that ${way} changes nothing`, async name => {
      const stage = staged({ [name]: fails })
      await stage.rests()
      expect(stage.injected).toHaveLength(1)
    })

    test(`memory that ${way} when it is read: not sent on, until it can be`, async () => {
      let broken = true
      const stage = staged({ memory: { load: () => (broken ? fails() : undefined), save: () => {} } })
      await stage.rests(60_000)
      await stage.speaks()
      await stage.rests(60_000)
      expect(stage.injected).toEqual([])
      broken = false
      await stage.rests()
      expect(stage.injected).toHaveLength(1)
    })

    test(`memory that ${way} when it is written: not sent on, and nothing counted`, async () => {
      let broken = true
      const kept: Standing[] = []
      const save = (_: string, standing: Standing) => (broken ? fails() : void kept.push(standing))
      const stage = staged({ memory: { load: () => undefined, save } })
      await stage.rests(60_000)
      expect(stage.injected).toEqual([])
      broken = false
      await stage.rests()
      expect(stage.injected).toHaveLength(1)
      expect(kept.at(-1)!.injections).toBe(1)
    })

    test(`injectPrompt that ${way}: tried again after 5 s and 10 s, then no more`, async () => {
      const tried: number[] = []
      const stage = staged({ injectPrompt: () => (tried.push(stage.clock.now()), fails()) })
      await stage.goesIdle()
      const idleAt = stage.clock.now()
      await stage.clock.pass(3_600_000)
      expect(tried.map(at => at - idleAt)).toEqual([2000, 9000, 21_000])
    })
  }

  test('messages that are not a list are not to be had', async () => {
    const stage = staged({ getMessages: () => undefined as never })
    await stage.rests(60_000)
    expect(stage.injected).toEqual([])
  })

  test('a clock that fails takes nobody with it', async () => {
    const clock = { now: () => 0, clearTimeout() {}, setTimeout: () => ways['throws']!() }
    const stage = staged({ clock })
    await stage.hook.handler({ event: 'session.idle', sessionId: SESSION })
    expect(stage.logged.at(-1)).toBe('left alone: no')
  })

  test.each([undefined, null, {}, { event: 'session.idle' }, { event: 7, sessionId: {} }])(
    'an event that is %j is none',
    async context => {
      const { hook, injected } = staged()
      await expect(hook.handler(context as never)).resolves.toBeUndefined()
      expect(injected).toEqual([])
    },
  )

  test('with no options at all nothing happens', async () => {
    const hook = createTodoContinuationHook()
    await hook.handler({ event: 'session.idle', sessionId: SESSION })
    hook.markRecovering(SESSION)
    hook.markRecoveryComplete(SESSION)
    await settled()
  })

  test('what looks like a key is not logged', async () => {
    const stage = staged({ getTodos: () => Promise.reject(new Error('401 for sk-abcdefghijklmnopqrstuvwxyz')) })
    await stage.rests()
    expect(stage.logged.at(-1)).toMatch(/401 for \[redacted\]/)
  })
})

describe('what is remembered', () => {
  test('is written before it is acted on, in the order in which it was decided', async () => {
    const order: string[] = []
    const stage = staged({
      memory: {
        load: () => UNTOUCHED,
        async save(_, { injections }) {
          order.push(`begin ${injections}`)
          await settled()
          order.push(`end ${injections}`)
        },
      },
      injectPrompt: () => void order.push('inject'),
    })
    await stage.rests(2000)
    await settled()
    await stage.speaks()
    await settled()
    await stage.clock.pass(10)
    expect(order).toEqual(['begin 1', 'end 1', 'inject', 'begin 0', 'end 0'])
  })

  test('is not forgotten because of what the user said before the restart, told again', async () => {
    const spent: Standing = { ...UNTOUCHED, injections: 50, injectedAt: 900_000, hush: 'budget' }
    const kept: Standing[] = []
    const memory = { load: () => kept.at(-1) ?? spent, save: (_: string, standing: Standing) => kept.push(standing) }
    const stage = staged({ memory })
    await stage.speaks({ time: { created: 900_000 } })
    await stage.answers()
    await stage.rests(60_000)
    expect(stage.injected).toEqual([])
    await stage.speaks()
    await stage.rests()
    expect(stage.injected).toHaveLength(1)
    expect(kept.map(({ injections }) => injections)).toEqual([0, 1])
  })

  test('is given back where somebody stepped in before it was acted on', async () => {
    let kept = UNTOUCHED
    const writing: (() => void)[] = []
    const save = (_: string, standing: Standing) =>
      new Promise<void>(done => writing.push(() => ((kept = standing), done())))
    const stage = staged({ memory: { load: () => kept, save } })
    await stage.rests()
    await stage.happens('tool.before')
    expect(writing).toHaveLength(1)
    for (let round = 0; round < 3; round++) {
      writing.shift()?.()
      await settled()
    }
    expect(stage.injected).toEqual([])
    expect(kept).toEqual(UNTOUCHED)
  })
})

test('nothing comes between the decision and the injection, not even the news of it', async () => {
  const order: string[] = []
  const stage = staged({ log: what => order.push(what), injectPrompt: () => order.push('injected') })
  await stage.rests()
  expect(order).toEqual(['counting down', 'injected', 'sending on', 'sent on'])
})

test('no alarm is set for longer than a timer can wait, which would ring at once', async () => {
  const waits: number[] = []
  const clock = { now: () => 1_000, clearTimeout() {}, setTimeout: (_: unknown, wait: number) => waits.push(wait) }
  const before = { open: 2, completed: 1 }
  const load = () => ({ injections: 30, fruitless: 30, unshortened: 30, before, injectedAt: 500, hush: null })
  const { hook } = staged({ clock, config: { maxFruitless: 100 }, memory: { load, save() {} } })
  await hook.handler({ event: 'session.idle', sessionId: SESSION })
  expect(waits).toEqual([2 ** 31 - 1])
})

test('somebody who steps in from within a toast or a log is heard', async () => {
  for (const name of ['showToast', 'log'] as const) {
    let calls = 0
    const stage = staged({
      [name]: () => {
        if (++calls === 1) void stage.hook.handler({ event: 'tool.before', sessionId: SESSION })
      },
    })
    await stage.rests(60_000)
    expect(stage.injected).toEqual([])
  }
})

test('without a clock of its own it goes by the real one, and keeps no process alive', () => {
  const program = (seconds: number) => `
    const { createTodoContinuationHook } = await import(${JSON.stringify(entry)})
    const hook = createTodoContinuationHook({
      config: { countdownSeconds: ${seconds} },
      getTodos: () => [{ status: 'pending' }],
      injectPrompt: () => { process.stdout.write('injected'); clearInterval(alive) },
    })
    const alive = ${seconds} < 1 ? setInterval(() => {}, 1000) : undefined
    await hook.handler({ event: 'session.idle', sessionId: 's' })`
  const run = (seconds: number) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', program(seconds)], { encoding: 'utf8' })
  expect(run(0.02)).toBe('injected')
  expect(run(3600)).toBe('')
})

test('it runs wherever JavaScript does: nothing it is made of belongs to Node', async () => {
  const build = await rolldown({ input: entry, platform: 'neutral', external: /^node:/ })
  const { output } = await build.generate()
  expect(output.map(chunk => ('imports' in chunk ? chunk.imports : chunk))).toEqual([[]])
  expect(output[0].code).not.toMatch(/\bprocess\.|\bBuffer\b|\brequire\(/)
})
