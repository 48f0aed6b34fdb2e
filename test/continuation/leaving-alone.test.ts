import { describe, expect, test } from 'vitest'
import { Desk, desk, ON_THE_WAY } from './desk.ts'

describe('switched off', () => {
  test('by the configuration: nothing is asked and nothing happens', () => {
    const one = new Desk({ enabled: false })
    expect(one.run(100)).toEqual([])
    expect(one.why).toBe('disabled')
  })

  test.each(['session', 'all'] as const)('by a person, for the %s: it stays, whoever speaks', off => {
    const one = new Desk()
    expect(one.run(100, { off })).toEqual(['ask'])
    one.tell({ type: 'user_message', at: 300, createdAt: 300 })
    expect(one.run(400, { off })).toEqual(['ask'])
  })

  test('during the countdown, it is not sent on', () => {
    const one = ON_THE_WAY['while the facts are gathered again']!()
    expect(one.answer(2100, { off: 'session' })).toEqual([])
  })
})

describe('waiting on a person', () => {
  test('a session whose items all wait for one is let go', () => {
    const one = new Desk()
    expect(one.run(100, { work: { open: 0, waiting: 2, completed: 1, total: 3 } })).toEqual(['ask'])
    expect(one.why).toBe('waiting_on_person')
  })

  test('a session that has asked the user something is let go', () => {
    const one = new Desk()
    expect(one.run(100, { asked: true })).toEqual(['ask'])
    expect(one.why).toBe('asked')
  })
})

describe('no wake-up is lost', () => {
  test('a session with background work is looked at again, and at once when that settles', () => {
    const one = desk(it => (it.idle(100), it.answer(100, { background: 1 })))
    expect([one.why, one.alarm]).toEqual(['background', 5100])
    expect(one.wake(5100)).toEqual(['ask'])
    expect(one.answer(5100, { background: 1 })).toEqual(['wake'])
    expect(one.tell({ type: 'background_settled', at: 6000 })).toEqual(['cancel', 'ask'])
    expect(one.answer(6000)).toEqual(['toast', 'wake'])
  })

  test('background work that settles while the agent is at work changes nothing', () => {
    expect(new Desk().tell({ type: 'background_settled', at: 6000 })).toEqual([])
  })

  test('a session that is recovering is judged when that is complete', () => {
    const one = new Desk()
    one.tell({ type: 'recovering', at: 50 })
    expect(one.idle(100)).toEqual(['wake'])
    expect(one.tell({ type: 'recovered', at: 200 })).toEqual(['cancel', 'ask'])
    expect(one.answer(200)).toEqual(['toast', 'wake'])
  })

  test('a recovery that nobody ends is over after five minutes', () => {
    const one = new Desk()
    one.tell({ type: 'recovering', at: 50 })
    one.idle(100)
    expect(one.alarm).toBe(50 + 300_000)
    expect(one.wake(one.alarm! - 1)).toEqual(['wake'])
    expect(one.wake(one.alarm!)).toEqual(['ask'])
  })

  test('a recovery that is complete is the end of the error that it was for, but not of an abort', () => {
    const one = new Desk()
    one.tell({ type: 'failed', at: 40, ended: 'error' })
    one.tell({ type: 'recovering', at: 50 })
    one.tell({ type: 'recovered', at: 200 })
    expect(one.run(300)).toContain('inject')
    const other = new Desk()
    other.tell({ type: 'failed', at: 40, ended: 'aborted' })
    other.tell({ type: 'recovering', at: 50 })
    other.tell({ type: 'recovered', at: 200 })
    expect(other.run(300)).not.toContain('inject')
  })

  test('the end of a recovery that never began is the end of nothing', () => {
    const one = new Desk()
    one.tell({ type: 'failed', at: 40, ended: 'error' })
    one.tell({ type: 'recovered', at: 200 })
    expect(one.run(300)).not.toContain('inject')
  })
})

describe('after the context has been cut', () => {
  test('a session whose agent is not known is left alone until one is', () => {
    const one = desk(it => it.tell({ type: 'compacted', at: 50 }))
    expect(one.run(100, { agent: undefined })).toEqual(['ask'])
    expect(one.why).toBe('agent_unknown')
    one.tell({ type: 'assistant_message', at: 200, createdAt: 200, agent: 'build' })
    expect(one.run(300, { agent: undefined })).toContain('inject')
    expect(one.effects).toContainEqual(expect.objectContaining({ type: 'inject', agent: 'build' }))
  })

  test('a session whose agent can be asked for is sent on', () => {
    expect(desk(it => it.tell({ type: 'compacted', at: 50 })).run(100)).toContain('inject')
  })

  test('the agent from before is not known any more', () => {
    const one = desk(it => it.tell({ type: 'user_message', at: 20, createdAt: 20, agent: 'build' }))
    one.tell({ type: 'compacted', at: 50 })
    expect(one.run(100, { agent: undefined })).toEqual(['ask'])
  })

  test.each(Object.entries(ON_THE_WAY))('%s: everything is asked anew', (_, prepared) => {
    const one = prepared()
    expect(one.tell({ type: 'compacted', at: 2150 })).toContain('ask')
    one.answer(2160, { agent: undefined })
    expect(one.why).toBe('agent_unknown')
  })
})

describe('who is not sent on', () => {
  test.each(['plan', 'Planner', 'PLAN'])('the agent %s', agent => {
    const one = new Desk()
    expect(one.run(100, { agent })).toEqual(['ask'])
    expect(one.why).toBe('planning')
  })

  test('those that the configuration names, and only those', () => {
    expect(new Desk({ skipAgents: ['Oracle'] }).run(100, { agent: 'oracle' })).toEqual(['ask'])
    expect(new Desk({ skipAgents: ['Oracle'] }).run(100, { agent: 'plan' })).toContain('inject')
  })

  test('one that may not write', () => {
    const one = new Desk()
    expect(one.run(100, { mayWrite: false })).toEqual(['ask'])
    expect(one.why).toBe('read_only')
  })

  test('one that only plans, whatever its name', () => {
    expect(new Desk().run(100, { planning: true })).toEqual(['ask'])
  })
})
