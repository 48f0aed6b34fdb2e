import { describe, expect, test } from 'vitest'
import { buildContinuationPrompt, isOurs, type Signal, UNTOUCHED } from '../../src/continuation/index.ts'
import { desk, ON_THE_WAY } from './desk.ts'

describe('the echo of an old message', () => {
  const echoes: Readonly<Record<string, Signal>> = {
    'that was created before the stop, long after it': { type: 'user_message', at: 1900, createdAt: 99 },
    'that was created at the stop': { type: 'user_message', at: 1900, createdAt: 100 },
    'that does not say when, within the grace period': { type: 'user_message', at: 599 },
    'of the assistant, created before the stop': { type: 'assistant_message', at: 1900, createdAt: 99 },
  }
  test.each(Object.entries(echoes))('%s is ignored', (_, signal) => {
    const one = ON_THE_WAY['during the countdown']!()
    expect(one.tell(signal)).toEqual([])
    expect(one.wake(2100)).toEqual(['ask'])
  })

  const genuine: Readonly<Record<string, Signal>> = {
    'created after the stop, within the grace period': { type: 'user_message', at: 150, createdAt: 101 },
    'that does not say when, after the grace period': { type: 'user_message', at: 600 },
    'created after the clock was put back': { type: 'user_message', at: 51, createdAt: 50 },
    'of the assistant, created after that': { type: 'assistant_message', at: 51, createdAt: 50 },
  }
  test.each(Object.entries(genuine))('is not to be confused with one %s', (_, signal) => {
    const one = desk(it => (it.idle(100), it.answer(100)))
    expect(one.tell(signal)).toEqual(['cancel'])
  })

  test('is ignored also when the agent is at work again', () => {
    const one = desk(it => it.run(100))
    one.tell({ type: 'tool', at: 3000 })
    one.tell({ type: 'user_message', at: 3100, createdAt: 50 })
    expect(one.state.standing.injections).toBe(1)
  })

  test('tells of an abort all the same', () => {
    const one = ON_THE_WAY['during the countdown']!()
    expect(one.tell({ type: 'assistant_message', at: 1200, createdAt: 50, ended: 'aborted' })).toEqual([
      'cancel',
      'save',
    ])
    expect(one.state.standing.hush).toBe('aborted')
  })
})

describe('our own messages', () => {
  test('are marked, say that they approve nothing, and show the way out', () => {
    const prompt = buildContinuationPrompt(1, 3, 2)
    expect(isOurs(prompt)).toBe(true)
    expect(prompt).toContain('[Status: 1/3 completed, 2 remaining]')
    expect(prompt).toMatch(/approves nothing/)
    expect(prompt).toMatch(/blocked.*what is needed.*stop/)
  })

  test('are known whatever a host puts before them, and a user who quotes the mark is the user', () => {
    const prompt = buildContinuationPrompt(1, 3, 2)
    for (const before of ['', 'Stop hook feedback:\n', '<hook_prompt id="1">', `Error from "sh -c": `])
      expect(isOurs(`${before}${prompt}`), before).toBe(true)
    expect(isOurs(prompt.replaceAll('\n', '\r\n'))).toBe(true)
    const mark = prompt.split('\n')[0]!
    for (const text of [`What does ${mark} mean?`, `Stop this: ${mark}`, mark.slice(0, -1)])
      expect(isOurs(text), text).toBe(false)
  })

  const own: Readonly<Record<string, Partial<Extract<Signal, { type: 'user_message' }>>>> = {
    'by its mark': { ours: true },
    'by the name that the host gave it': { id: 'msg_7', ours: false },
    'by being the next one, where its text does not show': { id: 'msg_8' },
  }
  test.each(Object.entries(own))('are never taken for the user: %s', (_, fields) => {
    const one = desk(it => it.run(100))
    one.tell({ type: 'sent', at: 2150, generation: one.state.inFlight!, ok: true, id: 'msg_7' })
    one.tell({ type: 'user_message', at: 2200, createdAt: 2200, ...fields })
    expect(one.state.standing.injections).toBe(1)
  })

  test('that do not show their text are known again when they are told again', () => {
    const one = desk(it => it.run(100))
    for (const at of [2200, 2300, 9000]) one.tell({ type: 'user_message', at, createdAt: 2200, id: 'msg_8' })
    expect(one.state.standing.injections).toBe(1)
    one.tell({ type: 'user_message', at: 9500, createdAt: 9400, id: 'msg_9' })
    expect(one.state.standing.injections).toBe(0)
  })

  test('that may be the user’s after all call off what follows a failure', () => {
    const one = desk(it => it.run(100))
    one.tell({ type: 'user_message', at: 2200, createdAt: 2200 })
    expect(one.sent(2300, false)).toEqual([])
    expect(one.state.standing.injections).toBe(1)
  })

  test('do not hide what the user says while they are under way', () => {
    const one = desk(it => it.run(100))
    one.tell({ type: 'user_message', at: 2200, createdAt: 2200, ours: false })
    expect(one.state.standing).toEqual(UNTOUCHED)
  })

  test('that never came do not hide what the user says next', () => {
    const one = desk(it => it.run(100))
    one.sent(2200, false)
    one.tell({ type: 'user_message', at: 2300, createdAt: 2300 })
    expect(one.state.mode).toBe('working')
    expect(one.state.standing).toEqual(UNTOUCHED)
    const other = desk(it => (it.run(100), it.sent(2150)))
    other.idle(3000)
    other.answer(3000)
    other.tell({ type: 'user_message', at: 3100, createdAt: 3100 })
    expect(other.state.mode).toBe('working')
  })
})
