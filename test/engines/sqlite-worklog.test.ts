import { join } from 'node:path'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { worklogConformance } from '../conformance-worklog.ts'
import { scratch } from '../support/scratch.ts'

worklogConformance('sqlite', async () => {
  const path = join(scratch(), 'list.db')
  const again = async () => openSqliteStore(path)
  return { store: await again(), again }
})
