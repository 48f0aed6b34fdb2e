import { expect, test } from 'vitest'
import { scratch } from '../support/scratch.ts'
import { walk } from '../walk/walk.ts'

const seed = Number(process.env['WALK_SEED'] ?? 2026)
const STEPS = 10_000

test('ten thousand steps of people, scripts, runs and killed processes leave every list as the rules say', async () => {
  const tally = await walk(scratch(), { seed, steps: STEPS, typed: 10, killed: 10, runsEvery: 1000 })
  process.stdout.write(`${JSON.stringify(tally)}\n`)
  expect(tally.steps).toBe(STEPS)
}, 7_200_000)
