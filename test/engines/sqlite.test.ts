import { join } from 'node:path'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { conformance } from '../conformance.ts'
import { backlogConformance } from '../conformance-backlog.ts'
import { scratch } from '../support/scratch.ts'

const open = async () => {
  const path = join(scratch(), 'list.db')
  const again = async () => openSqliteStore(path)
  return { store: await again(), again }
}

conformance('sqlite', open)
backlogConformance('sqlite', open)
