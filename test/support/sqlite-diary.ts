import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { planItem } from '../../src/plans/record.ts'
import { draft, note } from './drafts.ts'

// Adds and completes items without end, and says what was answered, one line each.
const [path, name] = process.argv.slice(2)
const store = openSqliteStore(path!)
for (let n = 0; ; n++) {
  const title = `${name}-${n}`
  const [added] = await store.insert(planItem, [draft(title, { fields: { turnId: name! } })], note)
  process.stdout.write(`${title} pending\n`)
  const { id } = added!.item
  await store.save(planItem, { id, revision: 1, from: 'pending', fields: { status: 'completed', outcome: 'x' } }, note)
  process.stdout.write(`${title} completed\n`)
}
