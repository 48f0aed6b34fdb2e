import { expect, test } from 'vitest'
import { scratch } from '../support/scratch.ts'
import { walk } from '../walk/walk.ts'

/** A failure names its seed: `WALK_SEED=7 npx vitest run test/crash/walk.test.ts` walks the same way. */
const seed = Number(process.env['WALK_SEED'] ?? 1)
const STEPS = 500

test('people, scripts, runs and killed processes on one workspace leave every list as the rules say', async () => {
  const tally = await walk(scratch(), { seed, steps: STEPS, typed: 8, killed: 8, runsEvery: 300 })
  expect(tally).toMatchObject({ steps: STEPS, runs: 3 })
}, 600_000)
