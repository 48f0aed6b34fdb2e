import { describe, expect, test } from 'vitest'
import type { DrivenHost } from './driven/host.ts'
import { Bench, type HostRan } from './driven/run.ts'
import type { Step } from './script.ts'
import { blocks, completes, following, makesPlan, sentOn, TITLES } from './scripts.ts'

const FRUITLESS = 3

/** What a session in every host can rely on. */
export function keepsGoing(host: DrivenHost): void {
  const { limit = FRUITLESS } = host

  describe(`in ${host.name}, a session`, () => {
    sendsOn(host)

    test('whose items all wait for a person is let go at once', async () => {
      const bench = new Bench(host)
      const steps = following(makesPlan, blocks(1), blocks(2), { say: 'I need you.' })
      const { session, asked } = await bench.run('Build it.', steps)
      expect({ requests: asked.length, sentOn: sentOn(asked) }).toEqual({ requests: 4, sentOn: [] })
      expect((await bench.plan(session)).map(({ needs }) => needs)).toEqual(TITLES.map(() => 'the owner decides'))
    })

    test('that gets nothing done is let go in the end', async () => {
      const bench = new Bench(host)
      const { session, asked } = await bench.run('Build it.', following(makesPlan))
      expect(sentOn(asked)).toEqual(Array.from({ length: limit }, (_, nth) => nth + 3))
      expect(asked).toHaveLength(2 + limit)
      expect(await bench.statuses(session)).toEqual(TITLES.map(title => [title, 'pending']))
    })

    test('is let go at once while that is switched off', async () => {
      const bench = new Bench(host)
      await bench.punchlist('stop')
      const { session, asked } = await bench.run('Build it.', following(makesPlan))
      expect({ requests: asked.length, sentOn: sentOn(asked) }).toEqual({ requests: 2, sentOn: [] })
      expect(await bench.statuses(session)).toEqual(TITLES.map(title => [title, 'pending']))
    })
  })
}

/** The one that all others are about. */
export function sendsOn(host: DrivenHost): void {
  test('that stops with items open is sent on, and let go when none is', async () => {
    const bench = new Bench(host)
    const steps = following(makesPlan, { say: 'A plan.' }, completes(1), completes(2), { say: 'All done.' })
    const { session, asked } = await bench.run('Build it.', steps)
    expect({ requests: asked.length, sentOn: sentOn(asked) }).toEqual({ requests: 5, sentOn: [3] })
    expect(asked[2]!.texts.join('\n')).toContain('0/2 completed, 2 remaining')
    expect(await bench.statuses(session)).toEqual(TITLES.map(title => [title, 'completed']))
  })
}

/** A host that is wired in a project whose present user does not have punchlist. */
export function doesWithout(host: DrivenHost): void {
  test(`in ${host.name}, somebody who does not have punchlist is not held up`, async () => {
    const { asked } = await new Bench(host).without().run('Hello.', following({ say: 'Hello.' }))
    expect(asked).toHaveLength(1)
    expect(asked[0]!.tools.filter(name => name.endsWith('create_todo'))).toEqual([])
  })
}

/** A host that tells a session its plan when it is resumed. */
export function remembersPlan(host: DrivenHost): void {
  test(`in ${host.name}, a session that is resumed is told its plan as it stands`, async () => {
    const bench = new Bench(host)
    const { session } = await bench.run('Hello.', following({ say: 'Hello.' }))
    await bench.punchlist('plan', 'add', 'Sharpen the saw', '--conversation', session)
    const finishes: Step = { call: 'complete_todo', input: { todoId: '1', outcome: 'it is sharp' } }
    const again = await bench.run('Where were we?', following(finishes, { say: 'Done.' }), session)
    expect(again.asked[0]!.texts.join('\n')).toContain('Sharpen the saw')
    expect({ requests: again.asked.length, session: again.session }).toEqual({ requests: 2, session })
    expect(await bench.statuses(session)).toEqual([['Sharpen the saw', 'completed']])
  })
}

/** A host that tells a session its plan anew when its context has been cut, which happens in the course of `run`. */
export function remembersWhenCut(host: DrivenHost, run: (bench: Bench) => Promise<HostRan>): void {
  test(`in ${host.name}, a session whose context was cut is told its plan anew`, async () => {
    const bench = new Bench(host)
    // A reminder would name the items, too.
    await bench.punchlist('stop')
    const { asked } = await run(bench)
    expect(asked[0]!.texts.join('\n')).not.toContain(TITLES[0])
    expect(asked.at(-1)!.texts.join('\n')).toContain(TITLES[0])
    expect(asked.at(-1)!.results).toEqual([])
  })
}

/** A host whose own list counts like the plan. `opens` and `ends` are what the model does to put two entries there, and to finish them. */
export function mirrorsList(host: DrivenHost, opens: readonly Step[], ends: readonly Step[], env = {}): void {
  test(`in ${host.name}, entries of its own list are items of the plan, and keep a session going`, async () => {
    const bench = new Bench(host).with(env)
    const { session, asked } = await bench.run('Build it.', following(...opens, { say: 'A list.' }, ...ends))
    expect({ requests: asked.length, sentOn: sentOn(asked) }).toEqual({
      requests: opens.length + ends.length + 2,
      sentOn: [opens.length + 2],
    })
    expect(await bench.statuses(session)).toEqual(TITLES.map(title => [title, 'completed']))
  })
}
