import { once } from 'node:events'
import { claim, moveAll } from '../src/core/move.ts'
import { openSqliteStore } from '../src/engines/sqlite/store.ts'
import { task } from '../src/queue/kind.ts'

// Claims and completes for some milliseconds from when it is told to begin, and prints how many tasks it got done.
const [path, by, forMs] = process.argv.slice(2) as [string, string, string]
const store = openSqliteStore(path, { durability: 'normal' })
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
let done = 0
for (const end = performance.now() + Number(forMs); performance.now() < end; done++) {
  const at = new Date().toISOString()
  const where = { blockers: 0, targetWorker: ['', by] }
  const item = await claim(store, task, { where, to: 'in_progress', by, at, leaseMs: 900_000 })
  if (!item) break
  const supposing = { status: 'in_progress', blockers: 0 }
  await moveAll(store, task, [{ id: item.id, token: item.token, to: 'completed', supposing, by, at }])
}
process.stdout.write(`${done}\n`)
await store.close()
