import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { DEFAULT_CONFIG } from '../../src/continuation/settings.ts'
import { open } from '../../src/index.ts'
import { callerOf } from '../../src/library.ts'
import { command } from '../../src/runner/agents/command.ts'
import { Diary } from '../../src/runner/diary.ts'
import { Guard } from '../../src/runner/guard.ts'
import { Logbook } from '../../src/runner/logbook.ts'
import { Rest } from '../../src/runner/marked.ts'
import { drain } from '../../src/runner/runner.ts'
import { scratch } from '../support/scratch.ts'

const TASKS = 6000
const TWO_HOURS_MS = 2 * 3_600_000

test('a run of two hours by the clock holds no more memory at its end than near its beginning', async () => {
  const root = scratch()
  const list = await open({ root, store: `sqlite:${join(root, 'soak.db')}` })
  for (let n = 0; n < TASKS; n += 1000) {
    const items = Array.from({ length: 1000 }, (_, k) => ({ title: `task ${n + k}`, description: 'x', expect: 'y' }))
    await list.queue.add({ items })
  }
  let ended = 0
  const began = Date.now()
  const now = () => new Date(began + (ended / TASKS) * TWO_HOURS_MS)
  const caller = { ...callerOf(list), now }
  const folder = join(root, '.punchlist', 'runs')
  const heaps: number[] = []
  const diary = new Diary(folder, 'soak', now, ({ what }) => {
    if (what === 'ended' && ++ended % 500 === 0) heaps.push(heapInUse())
  })
  const guard = new Guard()
  const logbook = new Logbook(caller)
  const rest = new Rest()
  const counts = await drain(
    {
      caller,
      agent: () => command(['true']),
      leaseMs: 900_000,
      maxAttempts: 1,
      timeoutMs: 600_000,
      budgetUsd: undefined,
      worktree: false,
      continuation: DEFAULT_CONFIG,
      env: process.env,
      store: undefined,
      folder,
      diary,
      guard,
      logbook,
      rest,
      onSaid: () => undefined,
      signal: new AbortController().signal,
    },
    { names: Array.from({ length: 8 }, (_, n) => `soak-${n}`), mode: 'drain', name: 'soak' },
  )
  guard.end()
  rest.end()
  await logbook.settled()
  await list.close()
  expect(counts.completed).toBe(TASKS)
  const [first, last] = [Math.max(...heaps.slice(1, 4)), Math.min(...heaps.slice(-3))]
  expect(last, heaps.map(bytes => `${(bytes / 1e6).toFixed(1)} MB`).join(', ')).toBeLessThan(first + 4e6)
})

setFlagsFromString('--expose_gc')
const gc = runInNewContext('gc') as () => void

function heapInUse(): number {
  gc()
  return process.memoryUsage().heapUsed
}
