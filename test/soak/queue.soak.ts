import { describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { storm } from '../support/queue-storm.ts'

describe.each(ENGINES)(
  'sixteen workers of a queue that are killed and frozen at random, on %s',
  (_engine, environment) => {
    test('complete two thousand tasks, each once', async () => {
      const { done, lost, ...wrong } = await storm({ workers: 16, tasks: 2000, env: environment() })
      expect(wrong).toEqual({ failures: '', open: [], notOnce: [], broken: [], denied: [], left: [], warnings: [] })
      expect([done > 0, lost > 0]).toEqual([true, true])
    })
  },
)
