import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { callerOf } from '../../src/library.ts'
import { runIn } from '../support/run-in.ts'
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
  const heaps: number[] = []
  const counts = await runIn(root, {
    caller,
    command: ['true'],
    workers: 8,
    onEntry: ({ what }) => {
      if (what === 'ended' && ++ended % 500 === 0) heaps.push(heapInUse())
    },
  })
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
