import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { planItem } from '../../src/plans/record.ts'
import { note } from './drafts.ts'

// One of several processes on one store: claims until nothing is left and prints what it got.
const [url = '', owner = ''] = process.argv.slice(2)
const store = await openPostgresStore(url)
const titles: string[] = []
for (;;) {
  const item = await store.take(
    planItem,
    { where: { conversationId: 'c1', turnId: 't1' }, status: ['pending'] },
    { owner, fields: { status: 'in_progress', startedAt: note.at } },
    note,
  )
  if (!item) break
  titles.push(item.title)
}
await store.close()
process.stdout.write(JSON.stringify(titles))
