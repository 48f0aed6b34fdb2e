import { describe, expect, test } from 'vitest'
import { type Standing, UNTOUCHED } from '../../src/continuation/index.ts'
import { Desk, desk } from './desk.ts'

describe('a session that makes no progress', () => {
  test('is sent on after 5 s, then after 10 s, then no more until the user speaks', () => {
    const one = desk(it => it.run(0))
    one.sent(2000)
    one.idle(3000)
    one.answer(3000)
    expect([one.why, one.alarm]).toEqual(['cooling', 2000 + 5000])
    expect(one.run(7000)).toContain('inject')
    one.sent(9000)
    one.idle(10_000)
    one.answer(10_000)
    expect([one.why, one.alarm]).toEqual(['cooling', 9000 + 10_000])
    expect(one.run(19_000)).toContain('inject')
    one.sent(21_000)
    expect(one.run(100_000)).toEqual(['ask', 'save'])
    expect(one.state.standing.hush).toBe('fruitless')
    one.tell({ type: 'assistant_message', at: 100_500, createdAt: 100_500 })
    expect(one.run(1_000_000)).toEqual([])
    one.tell({ type: 'user_message', at: 2_000_000, createdAt: 2_000_000 })
    expect(one.run(2_000_100)).toContain('inject')
  })

  test('is judged again when the waiting is over', () => {
    const one = desk(it => (it.run(0), it.sent(2000), it.idle(3000), it.answer(3000)))
    expect(one.wake(7000)).toEqual(['ask'])
    expect(one.answer(7000)).toEqual(['toast', 'wake'])
  })

  test('is not made to wait until a clock that was put back is there again', () => {
    const one = desk(it => (it.run(3_600_000), it.sent(3_600_100)))
    expect(one.run(5_000)).toContain('inject')
    expect(one.state.standing.fruitless).toBe(1)
  })

  test('gets no further by using tools, rewording its items or moving them about', () => {
    const one = desk(it => it.run(0))
    one.sent(2000)
    one.tell({ type: 'tool', at: 2500 })
    one.idle(3000)
    one.answer(3000, { work: { open: 2, waiting: 0, completed: 1, total: 3 } })
    expect(one.why).toBe('cooling')
  })

  test.each([
    ['finished one', { open: 1, waiting: 0, completed: 2, total: 3 }],
    ['finished one and found another', { open: 2, waiting: 0, completed: 2, total: 4 }],
    ['dropped one', { open: 1, waiting: 0, completed: 1, total: 3 }],
  ])('is not one that %s', (_, work) => {
    const one = desk(it => it.run(0))
    one.sent(2000)
    expect(one.run(3000, { work })).toContain('inject')
  })

  test('and one that always makes some is sent on as often as the budget allows', () => {
    const one = new Desk({ maxInjections: 4, countdownSeconds: 0 })
    const seen = Array.from({ length: 10 }, (_, round) => {
      const effects = one.run(round * 1000, { work: { open: 2, waiting: 0, completed: round, total: round + 2 } })
      if (one.state.inFlight !== null) one.sent(round * 1000 + 500)
      return effects.includes('inject')
    })
    expect(seen.filter(Boolean)).toHaveLength(4)
    expect(one.state.standing.hush).toBe('budget')
  })
})

describe('what is remembered from before a restart', () => {
  const spent: Standing = {
    injections: 3,
    fruitless: 2,
    unshortened: 2,
    before: { open: 2, completed: 1 },
    injectedAt: 0,
    hush: 'fruitless',
  }

  test('is asked for once, and holds', () => {
    const one = new Desk()
    one.idle(100_000)
    expect(one.effects).toContainEqual(expect.objectContaining({ type: 'ask', recall: true }))
    expect(one.answer(100_000, { standing: spent })).toEqual([])
    expect(one.why).toBe('fruitless')
    one.tell({ type: 'user_message', at: 100_500, createdAt: 100_500 })
    one.idle(200_000)
    expect(one.effects).toContainEqual(expect.objectContaining({ type: 'ask', recall: false }))
  })

  test('is forgotten when the user speaks, in the memory too', () => {
    const one = new Desk()
    one.tell({ type: 'user_message', at: 50, createdAt: 50 })
    one.idle(100)
    one.answer(100, { standing: spent })
    expect(one.effects).toContainEqual(expect.objectContaining({ type: 'save', standing: UNTOUCHED }))
    expect(one.state.mode).toBe('counting')
    const other = new Desk()
    other.tell({ type: 'user_message', at: 50 })
    expect(other.effects).toContainEqual(expect.objectContaining({ type: 'save', standing: UNTOUCHED }))
  })

  test('is not forgotten because of what the user said then, told again', () => {
    const one = new Desk()
    one.tell({ type: 'user_message', at: 50_000, createdAt: 1000 })
    expect(one.run(100_000, { standing: { ...spent, injectedAt: 1000 } })).toEqual(['ask'])
    expect(one.why).toBe('fruitless')
  })

  test('is not overwritten by an error that came before it was asked for, but has it added', () => {
    const one = new Desk()
    expect(one.tell({ type: 'failed', at: 50, ended: 'aborted' })).toEqual([])
    one.tell({ type: 'assistant_message', at: 60, createdAt: 60 })
    expect(one.tell({ type: 'failed', at: 70, ended: 'error' })).toEqual([])
    expect(one.run(100, { standing: { ...spent, hush: null } })).toEqual(['ask', 'save'])
    expect(one.state.standing).toEqual({ ...spent, hush: 'error' })
    one.tell({ type: 'user_message', at: 200, createdAt: 200 })
    expect(one.run(300)).toContain('inject')
  })

  test('an abort is, until the assistant speaks', () => {
    const aborted = { ...UNTOUCHED, injections: 1, hush: 'aborted' } as const
    const one = new Desk()
    expect(one.run(100, { standing: aborted })).toEqual(['ask'])
    expect(one.why).toBe('aborted')
    const other = new Desk()
    other.tell({ type: 'assistant_message', at: 50, createdAt: 50 })
    expect(other.run(100, { standing: aborted })).toContain('inject')
    expect(other.state.standing.injections).toBe(2)
  })
})

describe('an abort', () => {
  test('is remembered until the user speaks', () => {
    const one = new Desk()
    one.tell({ type: 'failed', at: 50, ended: 'aborted' })
    expect(one.run(100)).not.toContain('inject')
    one.tell({ type: 'user_message', at: 200, createdAt: 200 })
    expect(one.run(300)).toContain('inject')
  })

  test('is remembered until the assistant speaks anew', () => {
    const one = new Desk()
    one.tell({ type: 'failed', at: 50, ended: 'aborted' })
    one.idle(100)
    one.tell({ type: 'assistant_message', at: 110, createdAt: 40 })
    expect(one.run(120)).not.toContain('inject')
    one.tell({ type: 'assistant_message', at: 200, createdAt: 200 })
    expect(one.run(300)).toContain('inject')
  })

  test('is not lifted by what was said before it, told again before the session is idle', () => {
    const one = new Desk()
    one.tell({ type: 'failed', at: 50, ended: 'aborted' })
    one.tell({ type: 'assistant_message', at: 60, createdAt: 40 })
    one.tell({ type: 'user_message', at: 70, createdAt: 30 })
    expect(one.run(100)).not.toContain('inject')
  })

  test('that a new message tells of is later than that message', () => {
    const one = desk(it => (it.idle(100), it.answer(100)))
    one.tell({ type: 'assistant_message', at: 900, createdAt: 800, ended: 'aborted' })
    one.tell({ type: 'assistant_message', at: 950, createdAt: 800 })
    expect(one.run(1000)).not.toContain('inject')
  })

  test('shows in the last message of the assistant too', () => {
    const one = new Desk()
    expect(one.run(100, { ended: 'aborted' })).toEqual(['ask', 'save'])
    expect(one.why).toBe('aborted')
  })
})

describe('an error of the model', () => {
  test.each([
    ['as an event', (one: Desk) => one.tell({ type: 'failed', at: 50, ended: 'error' })],
    ['on a message', (one: Desk) => one.tell({ type: 'assistant_message', at: 50, createdAt: 40, ended: 'error' })],
    ['in what was said last', (one: Desk) => one.run(60, { ended: 'error' })],
  ])('%s keeps the session from being sent on until the user speaks', (_, happens) => {
    const one = new Desk()
    happens(one)
    one.tell({ type: 'assistant_message', at: 80, createdAt: 80 })
    expect(one.run(100)).not.toContain('inject')
    one.tell({ type: 'user_message', at: 200, createdAt: 200 })
    expect(one.run(300)).toContain('inject')
  })

  test('is not taken for an abort that came later', () => {
    const one = new Desk()
    one.tell({ type: 'failed', at: 50, ended: 'error' })
    one.tell({ type: 'failed', at: 51, ended: 'aborted' })
    one.tell({ type: 'assistant_message', at: 80, createdAt: 80 })
    expect(one.run(100)).not.toContain('inject')
  })
})
