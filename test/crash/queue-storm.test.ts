import { describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { storm } from '../support/queue-storm.ts'

describe.each(ENGINES)('workers of a queue that are killed and frozen at random, on %s', (_engine, environment) => {
  test('complete every task once, and what was answered is so', { timeout: 120_000 }, async () => {
    const after = await storm({ workers: 6, tasks: 60, env: environment() })
    const { done, lost, ...wrong } = after
    expect(wrong).toEqual({ failures: '', open: [], notOnce: [], broken: [], denied: [], left: [], warnings: [] })
    expect(done).toBeGreaterThan(0)
    expect(lost).toBeGreaterThan(0)
  })
})
