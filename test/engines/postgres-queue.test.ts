import { inject } from 'vitest'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { queueConformance } from '../conformance-queue.ts'
import { waitsConformance } from '../conformance-waits.ts'
import { freshSchema } from '../support/postgres.ts'

const open = async () => {
  const url = freshSchema(inject('postgres'))
  const again = () => openPostgresStore(url)
  return { store: await again(), again }
}

queueConformance('postgres', open)
waitsConformance('postgres', open)
