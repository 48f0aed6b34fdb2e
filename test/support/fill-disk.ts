import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../src/core/problem.ts'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { planItem } from '../../src/plans/record.ts'
import { draft, note } from './drafts.ts'

// Adds and claims until the disk is full; then looks what is there, frees some space and goes on.
const folder = process.argv[2]!
const ballast = join(folder, 'ballast')
writeFileSync(ballast, Buffer.alloc(256 * 1024))
const store = openSqliteStore(join(folder, 'list.db'))
const refusals: string[] = []
let answered = 0
try {
  for (let n = 0; n < 100_000; n++) {
    await store.insert(planItem, [draft(`item ${n}`, { fields: { context: 'x'.repeat(500) } })], note)
    answered++
    const claim = { owner: 'w', fields: { status: 'in_progress' } }
    if (await store.take(planItem, { status: ['pending'] }, claim, note)) answered++
  }
} catch (error) {
  if (!(error instanceof Problem)) throw error
  refusals.push(error.code)
}
const stored = (await store.events({})).length
rmSync(ballast)
await store.insert(planItem, [draft('afterwards')], note)
process.stdout.write(JSON.stringify({ answered, stored, refusals, afterwards: 'went on' }))
