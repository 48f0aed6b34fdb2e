import { inject } from 'vitest'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { conformance } from '../conformance.ts'
import { freshSchema } from '../support/postgres.ts'

conformance('postgres', async () => {
  const url = freshSchema(inject('postgres'))
  const again = () => openPostgresStore(url)
  return { store: await again(), again }
})
