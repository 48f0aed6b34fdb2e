import { once } from 'node:events'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { planItem } from '../../src/plans/record.ts'
import { draft, note } from './drafts.ts'

// Adds and claims items of its own for some milliseconds from when it is told to begin, and prints how many it got done.
const [path, name, ms] = process.argv.slice(2)
const store = openSqliteStore(path!)
const fields = { turnId: name! }
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
let done = 0
for (const end = Date.now() + Number(ms); Date.now() < end; done++) {
  await store.insert(planItem, [draft('x', { fields })], note)
  const query = { where: { conversationId: 'c1', ...fields }, status: ['pending'] }
  await store.take(planItem, query, { owner: name!, fields: { status: 'in_progress' } }, note)
}
process.stdout.write(`${done}\n`)
