import { inject } from 'vitest'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { queueConformance } from '../conformance-queue.ts'
import { freshSchema } from '../support/postgres.ts'

queueConformance('postgres', async () => {
  const url = freshSchema(inject('postgres'))
  const again = () => openPostgresStore(url)
  return { store: await again(), again }
})
