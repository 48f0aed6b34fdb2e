import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Budget, budgetOf, extended, LIMITS } from '../../src/plans/budget.ts'

/** What a call of the model leaves behind: whether the plan has changed, and how much of it can be worked on. */
const calls = fc.array(fc.record({ changed: fc.boolean(), open: fc.nat({ max: 3 }) }), { maxLength: 120 })
const limits = fc.record({ base: fc.integer({ min: 1, max: 30 }), withPlan: fc.integer({ min: 1, max: 80 }) })

test('a turn without a plan has 10 calls, and one that is worked off never more than 50', () => {
  expect(LIMITS).toEqual({ base: 10, withPlan: 50 })
  expect(allowed(LIMITS, [])).toBe(10)
  expect(allowed(LIMITS, many({ changed: true, open: 1 }))).toBe(50)
})

test('a change buys calls counted from when it was made, and only while something can be worked on', () => {
  const quiet = { changed: false, open: 1 }
  expect(allowed(LIMITS, [quiet, quiet, { changed: true, open: 1 }, quiet])).toBe(13)
  expect(allowed(LIMITS, [quiet, quiet, { changed: true, open: 0 }])).toBe(10)
  expect(allowed(LIMITS, many(quiet))).toBe(10)
})

test('a cap below the base takes nothing away', () => {
  expect(allowed({ base: 10, withPlan: 3 }, many({ changed: true, open: 1 }))).toBe(10)
})

test('a plan that is carried on buys nothing before it is touched', () => {
  const budget = budgetOf(LIMITS, 'as it was left')
  expect(extended(budget, 7, { open: 2, state: 'as it was left' }).max).toBe(10)
  expect(extended(budget, 7, { open: 2, state: 'touched' }).max).toBe(17)
})

test('what is allowed is what the rule says, whatever the model does', () => {
  fc.assert(
    fc.property(limits, calls, (given, made) => {
      expect(allowed(given, made)).toBe(byTheRule(given, made))
    }),
  )
})

function many<T>(call: T): T[] {
  return Array.from({ length: 200 }, () => call)
}

/** How many calls are made in a turn whose model never answers. */
function allowed(given: { base: number; withPlan: number }, made: readonly { changed: boolean; open: number }[]) {
  let version = 0
  let budget: Budget = budgetOf(given, 'state 0')
  for (let call = 1; ; call++) {
    const { changed, open } = made[call - 1] ?? { changed: false, open: 0 }
    if (changed) version += 1
    budget = extended(budget, call, { open, state: `state ${version}` })
    if (call >= budget.max) return call
  }
}

/**
 * The same in other words: the turn ends `base` calls after the last change that
 * counts, or at the cap. A change that was made while nothing could be worked on
 * counts as soon as something can.
 */
function byTheRule(given: { base: number; withPlan: number }, made: readonly { changed: boolean; open: number }[]) {
  const cap = given.withPlan < given.base ? given.base : given.withPlan
  let counted = 0
  let owed = false
  for (let call = 1; call <= Math.min(counted + given.base, cap); call++) {
    owed ||= made[call - 1]?.changed ?? false
    if (!owed || !made[call - 1]?.open) continue
    counted = call
    owed = false
  }
  return Math.min(counted + given.base, cap)
}
