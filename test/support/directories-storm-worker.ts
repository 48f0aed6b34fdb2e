import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../src/core/problem.ts'
import { StoreDoor } from '../../src/open.ts'
import { task } from '../../src/queue/kind.ts'
import { findWorkspace } from '../../src/workspace.ts'
import { claimTask, endTask, stamp } from './directory-queue.ts'

// Claims tasks with a short lease, works on each for longer or shorter than it holds, and reports. Says what was answered.
const [root, name, lease] = process.argv.slice(2)
const store = await new StoreDoor(await findWorkspace({ cwd: root!, root, store: 'files' })).store(true)
const leaseMs = Number(lease)

for (;;) {
  await trying(async () => {
    if ((await store.lapsed(task, 1)).length > 0) await store.recover(task, stamp(name))
  })
  const item = await claimTask(store, name!, leaseMs)
  if (!item) {
    const { to_execute = 0, in_progress = 0 } = await store.count(task, {})
    if (to_execute + in_progress === 0) break
    await sleep(leaseMs / 4)
    continue
  }
  await trying(async () => {
    const { id, token } = item
    await sleep(Math.random() * leaseMs * 0.4)
    if (Math.random() < 0.5) await store.renew(task, id, token, leaseMs)
    await sleep(Math.random() * leaseMs * 0.7)
    await endTask(store, item, 'completed', name)
    process.stdout.write(`done ${id} ${name} ${token}\n`)
  })
}
await store.close()

async function trying(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Problem) || !['lease_lost', 'move_refused', 'changed_meanwhile'].includes(error.code))
      throw error
    process.stdout.write(`lost ${error.code}\n`)
  }
}
