import { describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { worklogStorm } from '../support/worklog-storm.ts'

/** How much each of them writes: more where there is time. */
const CHANGES = process.env['STORM'] ? 20 : 8
const nothingWrong = { failures: '', lost: [], twice: [], torn: [], unreadable: [], unsound: [], left: [] }

describe.each(ENGINES)('processes that write worklogs at once, on %s', (_engine, environment) => {
  test('lose nothing: sixteen, each in its own and all in one', { timeout: 120_000 }, async () => {
    const { lines, ...wrong } = await worklogStorm({ processes: 16, changes: CHANGES, kills: 0, env: environment() })
    expect(wrong).toEqual(nothingWrong)
    expect(lines).toBe(16 * CHANGES * 2)
  })

  test('lose nothing that was answered when they are killed', { timeout: 120_000 }, async () => {
    const { lines, ...wrong } = await worklogStorm({ processes: 4, changes: CHANGES, kills: 8, env: environment() })
    expect(wrong).toEqual(nothingWrong)
    expect(lines).toBeGreaterThanOrEqual(4 * CHANGES * 2)
  })
})
