import { openSqliteStore } from '../src/engines/sqlite/store.ts'
import { claimWaiting } from '../src/queue/claiming.ts'
import { callerOf } from '../test/support/caller.ts'

// Waits for work, claims it as soon as it comes, and prints when that was.
const store = openSqliteStore(process.argv[2]!, { durability: 'normal' })
const caller = callerOf(store)
process.stdout.write('ready\n')
for (;;) {
  await claimWaiting(caller, {}, 1, Infinity)
  process.stdout.write(`${process.hrtime.bigint()}\n`)
}
