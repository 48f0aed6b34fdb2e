import { describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { worklogStorm } from '../support/worklog-storm.ts'

describe.each(ENGINES)(
  'sixteen processes that write worklogs and are killed at any moment, on %s',
  (_engine, environment) => {
    test('lose nothing that was answered, and leave nothing half written', async () => {
      for (let round = 0; round < 3; round++) {
        const { lines, ...wrong } = await worklogStorm({ processes: 16, changes: 40, kills: 100, env: environment() })
        expect(wrong).toEqual({ failures: '', lost: [], twice: [], torn: [], unreadable: [], unsound: [], left: [] })
        expect(lines).toBeGreaterThanOrEqual(16 * 40 * 2)
      }
    })
  },
)
