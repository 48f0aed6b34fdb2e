import { describe, expect, test } from 'vitest'
import { type Signal, UNTOUCHED } from '../../src/continuation/index.ts'
import { Desk, desk, ON_THE_WAY, OPEN } from './desk.ts'

/** Whatever was under way settles now, in good order, but under the number that it was begun with. */
function settle(one: Desk, generation: number): string[] {
  const told: Signal[] = [
    { type: 'woken', at: 2_100, generation },
    { type: 'answered', at: 2_200, generation, answers: OPEN },
    { type: 'woken', at: 4_200, generation },
    { type: 'saved', at: 4_300, generation, ok: true },
  ]
  return told.flatMap(signal => one.tell(signal))
}

describe('an idle session with open items', () => {
  test('is asked about, counted down, asked about again, written down, and sent on', () => {
    const one = new Desk()
    expect(one.idle(100)).toEqual(['ask'])
    expect(one.answer(110)).toEqual(['toast', 'wake'])
    expect(one.wake(1110)).toEqual(['toast', 'wake'])
    expect(one.wake(2110)).toEqual(['ask'])
    expect(one.answer(2120)).toEqual(['save'])
    expect(one.saved(2130)).toEqual(['inject'])
  })

  test('is sent on at once where there is no countdown', () => {
    const one = new Desk({ countdownSeconds: 0 })
    one.idle(100)
    expect(one.answer(110)).toEqual(['save'])
    expect(one.saved(110)).toEqual(['inject'])
  })

  test('whose items were finished during the countdown is let go', () => {
    const one = ON_THE_WAY['while the facts are gathered again']!()
    expect(one.answer(2100, { work: { open: 0, waiting: 0, completed: 3, total: 3 } })).toEqual([])
    expect(one.why).toBe('nothing_open')
  })

  test('is not sent on before the countdown is over, though the timer rings early', () => {
    const one = ON_THE_WAY['during the countdown']!()
    expect(one.wake(2099)).toEqual(['wake'])
    expect(one.wake(2100)).toEqual(['ask'])
  })
})

describe('whoever steps in is heard', () => {
  const activities: Readonly<Record<string, Signal>> = {
    'a message of the user': { type: 'user_message', at: 2050, createdAt: 2050 },
    'a message of the user that does not say when': { type: 'user_message', at: 2050 },
    'a message of the assistant': { type: 'assistant_message', at: 2050, createdAt: 2050 },
    'a message of the assistant that does not say when': { type: 'assistant_message', at: 2050 },
    'a tool': { type: 'tool', at: 2050 },
    'an abort': { type: 'failed', at: 2050, ended: 'aborted' },
    'an error': { type: 'failed', at: 2050, ended: 'error' },
    'the beginning of a recovery': { type: 'recovering', at: 2050 },
    'the end of the session': { type: 'deleted', at: 2050 },
  }
  for (const [when, prepared] of Object.entries(ON_THE_WAY)) {
    test.each(Object.entries(activities))(`${when}: %s calls it off`, (_, signal) => {
      const one = prepared()
      const { generation } = one.state
      one.tell(signal)
      expect(settle(one, generation)).toEqual([])
      expect(['working', 'resting', 'deleted']).toContain(one.state.mode)
    })
  }

  test('and answers to what was asked before are of no use, though it is idle again', () => {
    const one = ON_THE_WAY['while the facts are gathered again']!()
    const { generation } = one.state
    one.tell({ type: 'tool', at: 2150 })
    one.idle(2200)
    expect(one.tell({ type: 'answered', at: 2300, generation, answers: OPEN })).toEqual([])
    expect(one.answer(2400)).toEqual(['toast', 'wake'])
  })

  test('and what was written down before does not send it on, though it is about to be again', () => {
    const one = ON_THE_WAY['while the budget is written down']!()
    const { generation } = one.state
    one.tell({ type: 'tool', at: 2150 })
    one.idle(2200)
    one.answer(2200)
    one.wake(4200)
    one.answer(4200)
    expect(one.state.mode).toBe('saving')
    expect(one.tell({ type: 'saved', at: 4300, generation, ok: true })).toEqual([])
    expect(one.saved(4400)).toEqual(['inject'])
  })

  test('also where the same stop was told again before the news of them came', () => {
    const one = ON_THE_WAY['while the facts are gathered']!()
    one.idle(200)
    one.answer(210)
    expect(one.tell({ type: 'user_message', at: 250, createdAt: 150 })).toEqual(['cancel'])
  })

  test('during the countdown, the alarm is taken back', () => {
    const one = ON_THE_WAY['during the countdown']!()
    expect(one.tell({ type: 'tool', at: 1500 })).toEqual(['cancel'])
  })

  test('and what was not sent does not count', () => {
    const one = ON_THE_WAY['while the budget is written down']!()
    expect(one.tell({ type: 'tool', at: 2150 })).toEqual(['save'])
    expect(one.state.standing).toEqual(UNTOUCHED)
  })
})

describe('a session that has been deleted', () => {
  test('stays dead, whatever comes under its name', () => {
    const one = new Desk()
    one.tell({ type: 'deleted', at: 50 })
    one.tell({ type: 'user_message', at: 60, createdAt: 60 })
    one.tell({ type: 'recovering', at: 61 })
    one.tell({ type: 'recovered', at: 62 })
    expect(one.run(100)).toEqual([])
    expect(one.state.mode).toBe('deleted')
  })

  test('while an injection is in flight is not judged when that settles', () => {
    const one = desk(it => it.run(100))
    const generation = one.state.inFlight!
    one.idle(3000)
    one.tell({ type: 'deleted', at: 3500 })
    expect(one.tell({ type: 'sent', at: 4000, generation, ok: true })).toEqual([])
  })
})

describe('one at a time', () => {
  test('the same stop told many times is one injection', () => {
    const one = new Desk()
    one.idle(100)
    one.answer(110)
    for (let at = 200; at < 1000; at += 100) expect(one.idle(at)).toEqual([])
    expect(one.wake(1110)).toEqual(['toast', 'wake'])
    one.wake(2110)
    one.answer(2120)
    expect(one.idle(2125)).toEqual([])
    expect(one.saved(2130)).toEqual(['inject'])
  })

  test('a stop while an injection is in flight is judged when that has settled', () => {
    const one = desk(it => it.run(100))
    expect(one.idle(3000)).toEqual([])
    expect(one.sent(3100)).toEqual(['ask'])
    expect(one.answer(3100)).toEqual(['wake'])
    expect(one.why).toBe('cooling')
  })

  test('a session that went on meanwhile is not judged when it settles', () => {
    const one = desk(it => it.run(100))
    one.idle(3000)
    one.tell({ type: 'tool', at: 3050 })
    expect(one.sent(3100)).toEqual([])
    expect(one.idle(3200)).toEqual(['ask'])
  })

  test('an injection that fails is a fruitless one, and the session is judged again', () => {
    const one = desk(it => it.run(100))
    expect(one.sent(2300, false)).toEqual(['ask'])
    one.answer(2300)
    expect([one.why, one.alarm]).toEqual(['cooling', 2100 + 5000])
  })

  test('an injection that somebody ends is an abort', () => {
    const one = desk(it => it.run(100))
    one.tell({ type: 'sent', at: 2300, generation: one.state.inFlight!, ok: false, aborted: true })
    expect(one.state.standing.hush).toBe('aborted')
    expect(one.run(2400)).toEqual([])
  })

  test('what could not be written down is not sent', () => {
    const one = ON_THE_WAY['while the budget is written down']!()
    expect(one.saved(2150, false)).toEqual(['save'])
    expect(one.state.mode).toBe('resting')
    expect(one.state.standing.injections).toBe(0)
  })
})
