import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_CONFIG } from '../../src/continuation/index.ts'
import { complaint } from './oracle.ts'
import { Ordeal, type Step } from './ordeal.ts'

const when = fc.constantFrom('now' as const, 'now' as const, 'old' as const, 'unsaid' as const)
const error = fc.constantFrom('MessageAbortedError', 'AbortError', 'ContextOverflowError')
type Plain = 'idle' | 'tool' | 'compacted' | 'recovering' | 'recovered' | 'background_settled'
const plain = (...names: Plain[]) => fc.record({ do: fc.constantFrom(...names) })

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  // What leads somewhere happens more often, or most sessions would never get there.
  { weight: 14, arbitrary: plain('idle') },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      milliseconds: fc.constantFrom(1, 400, 600, 1000, 2000, 2000, 2500, 5000, 10_000, 10_000, 40_000, 300_000),
    }),
  },
  { weight: 7, arbitrary: fc.constant<Step>({ do: 'release_all' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('release' as const),
      which: fc.nat(9),
      fails: fc.constantFrom(false, false, false, true),
      kept: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('finish' as const, 'add' as const, 'reword' as const) }) },
  { weight: 3, arbitrary: plain('tool') },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('user' as const), when, text: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('assistant' as const),
      when,
      error: fc.option(error, { nil: undefined, freq: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'hold' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('error' as const), error }) },
  { weight: 1, arbitrary: plain('compacted') },
  { weight: 1, arbitrary: plain('recovering', 'recovered', 'recovered') },
  { weight: 1, arbitrary: plain('background_settled') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('background' as const), count: fc.constantFrom(0, 0, 1) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('switch' as const), off: fc.constantFrom(null, null, 'session', 'all') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('agent' as const),
      info: fc.constantFrom(
        { agent: 'build' },
        { agent: 'build' },
        null,
        { agent: 'plan' },
        { hasWritePermission: false },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('memory' as const), works: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const), kept: fc.boolean() }) },
)
/** What sessions do all the time: work, come to rest, and stay there for a while. */
const stretch: fc.Arbitrary<Step[]> = fc
  .record({
    finished: fc.boolean(),
    added: fc.boolean(),
    milliseconds: fc.constantFrom(1999, 2000, 2100, 8000, 30_000),
    /** Where in all this something else happens. */
    place: fc.nat(6),
    other: fc.option(anyStep, { nil: undefined, freq: 3 }),
  })
  .map(({ finished, added, milliseconds, place, other }) => {
    const steps: Step[] = [{ do: 'assistant', when: 'now', error: undefined }, { do: 'tool' }]
    if (added) steps.push({ do: 'add' })
    if (finished) steps.push({ do: 'finish' })
    steps.push({ do: 'idle' }, { do: 'pass', milliseconds })
    return other ? steps.toSpliced(place, 0, other) : steps
  })
const steps = fc
  .array(fc.oneof({ weight: 2, arbitrary: stretch }, { weight: 3, arbitrary: anyStep.map(step => [step]) }), {
    maxLength: 40,
    size: 'max',
  })
  .map(blocks => blocks.flat())
const rarely = fc.option(fc.constant<Step>({ do: 'deleted' }), { nil: undefined, freq: 9 })

const limits = fc.record({
  countdownSeconds: fc.constantFrom(0, 1, 2),
  maxInjections: fc.integer({ min: 1, max: 5 }),
  maxUnshortened: fc.integer({ min: 1, max: 4 }),
  maxFruitless: fc.integer({ min: 1, max: 3 }),
})

test('whatever happens, and whenever: nobody is overruled, no budget is exceeded, and a session in order is sent on', async () => {
  let injections = 0
  const sequence = fc.tuple(steps, rarely, steps)
  await fc.assert(
    fc.asyncProperty(limits, fc.boolean(), sequence, async (config, slow, [first, deleted, second]) => {
      const ordeal = new Ordeal(config, slow)
      for (const step of first) await ordeal.take(step)
      if (deleted) await ordeal.take(deleted)
      // Another process has not heard of it, nor will a host speak to it of sessions that are no more.
      for (const step of second) if (!deleted || step.do !== 'restart') await ordeal.take(step)
      for (const step of PUT_IN_ORDER) await ordeal.take(step)
      const before = count(ordeal)
      await ordeal.take({ do: 'idle' })
      await ordeal.take({ do: 'pass', milliseconds: 2000 })
      expect(complaint(ordeal.trace, { ...DEFAULT_CONFIG, ...config })).toBeUndefined()
      expect(count(ordeal) - before).toBe(deleted ? 0 : 1)
      injections += before
    }),
    { numRuns: 400 },
  )
  // Nothing would be shown by sessions in which nothing is ever sent on.
  expect(injections).toBeGreaterThan(200)
})

/** Everything that could keep a session from being sent on is taken away. */
const PUT_IN_ORDER: readonly Step[] = [
  { do: 'memory', works: true },
  { do: 'release_all' },
  { do: 'add' },
  { do: 'background', count: 0 },
  { do: 'switch', off: null },
  { do: 'agent', info: { agent: 'build' } },
  { do: 'user', when: 'now', text: true },
  { do: 'recovered' },
  { do: 'assistant', when: 'now', error: undefined },
]

function count(ordeal: Ordeal): number {
  return ordeal.trace.filter(({ do: what }) => what === 'inject').length
}
