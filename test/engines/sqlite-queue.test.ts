import { join } from 'node:path'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { queueConformance } from '../conformance-queue.ts'
import { waitsConformance } from '../conformance-waits.ts'
import { scratch } from '../support/scratch.ts'

const open = async () => {
  const path = join(scratch(), 'list.db')
  const again = async () => openSqliteStore(path)
  return { store: await again(), again }
}

queueConformance('sqlite', open)
waitsConformance('sqlite', open)
