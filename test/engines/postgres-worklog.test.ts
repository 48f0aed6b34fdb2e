import { inject } from 'vitest'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { worklogConformance } from '../conformance-worklog.ts'
import { freshSchema } from '../support/postgres.ts'

worklogConformance('postgres', async () => {
  const url = freshSchema(inject('postgres'))
  const again = () => openPostgresStore(url)
  return { store: await again(), again }
})
