import { describe, expect, test } from 'vitest'
import type { TodoContinuationOptions } from '../../src/continuation/index.ts'
import { settled } from './clock.ts'
import { SESSION, staged, todos } from './stage.ts'

/** What each option answers in a session that is to be sent on. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  getMainSessionId: 'ses_main',
  isSubagentSession: true,
  getBackgroundTaskCount: 0,
  getTodos: todos('completed', 'pending'),
  getMessages: [{ role: 'assistant' }],
  getAgentInfo: { agent: 'build', hasWritePermission: true },
  isAwaitingAnswer: false,
  isStopped: null,
  load: undefined,
  save: undefined,
  injectPrompt: undefined,
}

/** A stage on which every answer takes as long as it is made to take. `held`: which of them, counted from the idle. */
function slow(held: number) {
  const calls: string[] = []
  let release = () => {}
  const asked = (name: string) => () => {
    calls.push(name)
    if (calls.length - 1 !== held) return Promise.resolve(ANSWERS[name])
    return new Promise(done => (release = () => done(ANSWERS[name])))
  }
  const { load, save, ...options } = Object.fromEntries(Object.keys(ANSWERS).map(name => [name, asked(name)]))
  const stage = staged({ ...options, memory: { load, save } } as TodoContinuationOptions)
  return { ...stage, calls, release: () => release() }
}

const undisturbed = slow(-1)
await undisturbed.rests()
const { calls } = undisturbed

test('a session that is sent on is asked about everything twice, and remembered in between', () => {
  expect(calls.filter(name => name === 'injectPrompt')).toHaveLength(1)
  for (const name of Object.keys(ANSWERS).filter(one => !['load', 'save', 'injectPrompt'].includes(one)))
    expect(calls.filter(one => one === name)).toHaveLength(2)
  expect(calls.slice(-2)).toEqual(['save', 'injectPrompt'])
})

const INTERRUPTIONS: Readonly<Record<string, (stage: ReturnType<typeof staged>) => Promise<void>>> = {
  'the user writes': stage => stage.speaks(),
  'the assistant writes': stage => stage.answers(),
  'a tool runs': stage => stage.happens('tool.before'),
  'the user aborts': stage => stage.happens('session.error', { error: { name: 'MessageAbortedError' } }),
  'the model fails': stage => stage.happens('session.error', { error: { name: 'ContextOverflowError' } }),
  'the session is deleted': stage => stage.happens('session.deleted'),
  'it begins to recover': async stage => stage.hook.markRecovering(SESSION),
}

describe.each(Object.entries(INTERRUPTIONS))('%s', (_, interrupt) => {
  const awaits = calls.map((name, held) => [held, name] as const).filter(([, name]) => name !== 'injectPrompt')
  test.each(awaits)('while answer %i, of %s, is awaited: nothing is injected', async held => {
    const stage = slow(held)
    await stage.rests()
    await stage.clock.pass(1)
    expect(stage.calls).not.toContain('injectPrompt')
    await interrupt(stage)
    stage.release()
    await stage.clock.pass(240_000)
    expect(stage.calls).not.toContain('injectPrompt')
  })

  test.each([0, 1, 999, 1000, 1001, 1999])('%i ms into the countdown: nothing is injected', async passed => {
    const stage = slow(-1)
    await stage.rests(passed)
    if (passed === 0) await stage.clock.pass(1)
    await interrupt(stage)
    await stage.clock.pass(240_000)
    expect(stage.calls).not.toContain('injectPrompt')
  })

  test('while an injection is under way: none follows it', async () => {
    const stage = slow(calls.indexOf('injectPrompt'))
    await stage.rests()
    await interrupt(stage)
    stage.release()
    await settled()
    await stage.clock.pass(240_000)
    expect(stage.calls.filter(name => name === 'injectPrompt')).toHaveLength(1)
  })
})
