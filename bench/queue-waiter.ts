import { openSqliteStore } from '../src/engines/sqlite/store.ts'
import { claimWaiting } from '../src/queue/claiming.ts'

// Waits for work, claims it as soon as it comes, and prints when that was.
const store = openSqliteStore(process.argv[2]!, { durability: 'normal' })
const caller = {
  store,
  by: 'waiter',
  scope: { conversationId: 'bench' },
  now: () => new Date(),
  root: '.',
  work: 'tmp',
  queue: null,
  mayRun: async () => false,
  completion: 'self' as const,
}
process.stdout.write('ready\n')
for (;;) {
  await claimWaiting(caller, {}, 1, Infinity)
  process.stdout.write(`${process.hrtime.bigint()}\n`)
}
