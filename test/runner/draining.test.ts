import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import type { Store } from '../../src/core/store.ts'
import { open } from '../../src/index.ts'
import { callerOf } from '../../src/library.ts'
import type { Entry } from '../../src/runner/diary.ts'
import { runIn } from '../support/run-in.ts'
import { scratch } from '../support/scratch.ts'

test('a task that becomes free while it is looked for work, by the last one that was busy, is still done', async () => {
  const { caller, close, root } = await withTasks({ dependsOn: ['#1'] })
  const first = Promise.withResolvers<void>()
  let claims = 0
  const store = instead(caller.store, async lapsed => {
    // The first task was claimed, and the second one still waited for it.
    if (claims === 1) {
      await first.promise
      await sleep(50)
    }
    return await lapsed()
  })
  const onEntry = ({ what }: Entry) => {
    if (what === 'claimed') claims++
    if (what === 'ended') first.resolve()
  }
  const counts = await runIn(root, { caller: { ...caller, store }, command: ['true'], workers: 2, onEntry })
  await close()
  expect(counts.completed).toBe(2)
})

test('when nothing can be claimed any more, those who are at work are waited for, and then it is told why', async () => {
  const { caller, close, root } = await withTasks({ targetWorker: 'nobody' })
  const told: Entry[] = []
  const store = instead(caller.store, async lapsed => {
    if (!told.some(({ what }) => what === 'agent_started')) return await lapsed()
    writeFileSync(join(root, 'go'), '')
    throw new Problem('newer_schema', 'The store is newer than this program', 'Install a newer one.')
  })
  const command = ['sh', '-c', `while [ ! -f '${root}/go' ]; do sleep 0.05; done; sleep 0.2; echo done`]
  const run = runIn(root, {
    caller: { ...caller, store },
    command,
    workers: 2,
    onEntry: entry => void told.push(entry),
  })
  await expect(run).rejects.toThrow('newer than this program')
  await close()
  expect(told.slice(-2)).toMatchObject([
    { what: 'ended', outcome: 'completed' },
    { what: 'run_ended', error: 'The store is newer than this program' },
  ])
})

test('what an agent did is reported although the store does not answer for a while', async () => {
  const { caller, close, root } = await withTasks({ targetWorker: 'nobody' })
  let away = 0
  const store = new Proxy(caller.store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      if (name !== 'find' || away === 0) return value.bind(target) as unknown
      away--
      return async () => {
        throw new Problem('store_unreachable', 'The store cannot be reached', 'Try again.')
      }
    },
  })
  const onEntry = ({ what }: Entry) => {
    if (what === 'agent_ended') away = 2
  }
  const counts = await runIn(root, { caller: { ...caller, store }, command: ['true'], workers: 1, onEntry })
  await close()
  expect({ away, counts }).toMatchObject({ away: 0, counts: { completed: 1 } })
})

/** Two tasks, the second of which is not for everybody or not yet. */
async function withTasks(second: { dependsOn: string[] } | { targetWorker: string }) {
  const root = scratch()
  const list = await open({ root, store: `sqlite:${join(root, 'here.db')}` })
  const item = { title: 'x', description: 'x', expect: 'y' }
  await list.queue.add({ items: [item, { ...item, ...second }] })
  return { caller: callerOf(list), close: () => list.close(), root }
}

/** The same store, in which looking for leases that ran out takes a turn of its own. */
function instead(
  store: Store,
  lapsed: (real: () => ReturnType<Store['lapsed']>) => ReturnType<Store['lapsed']>,
): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'lapsed') return (...args: Parameters<Store['lapsed']>) => lapsed(() => target.lapsed(...args))
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
