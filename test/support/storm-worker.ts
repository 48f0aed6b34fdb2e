import { setTimeout as sleep } from 'node:timers/promises'
import { claim, move, openStore, Problem, planItem } from '../../src/index.ts'

// Claims items with a short lease, works on each for longer or shorter than it holds, and reports. Says what was answered.
const [url, name, lease] = process.argv.slice(2)
const store = await openStore(url!)
const leaseMs = Number(lease)
const where = { conversationId: 'c1', turnId: 't1' }
const stamp = () => ({ by: name!, at: new Date().toISOString() })

for (;;) {
  for (const { id, token } of await store.lapsed(planItem, 10)) {
    await move(store, planItem, { id, to: 'pending', token, ...stamp() }).catch(lost)
  }
  const item = await claim(store, planItem, { where, to: 'in_progress', leaseMs, ...stamp() })
  if (!item) {
    const { pending = 0, in_progress = 0 } = await store.count(planItem, { where })
    if (pending + in_progress === 0) break
    await sleep(leaseMs / 4)
    continue
  }
  const { id, token } = item
  try {
    await sleep(Math.random() * leaseMs)
    if (Math.random() < 0.5) await store.renew(planItem, id, token, leaseMs)
    await sleep(Math.random() * leaseMs)
    await move(store, planItem, { id, to: 'completed', token, fields: { outcome: `${name} ${token}` }, ...stamp() })
    process.stdout.write(`done ${id} ${name} ${token}\n`)
  } catch (error) {
    lost(error)
  }
}
await store.close()

function lost(error: unknown): void {
  if (!(error instanceof Problem) || !['lease_lost', 'move_refused', 'changed_meanwhile'].includes(error.code))
    throw error
  process.stdout.write(`lost ${error.code}\n`)
}
