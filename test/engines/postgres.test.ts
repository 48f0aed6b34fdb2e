import { inject } from 'vitest'
import { openPostgresStore } from '../../src/engines/postgres/store.ts'
import { conformance } from '../conformance.ts'
import { backlogConformance } from '../conformance-backlog.ts'
import { freshSchema } from '../support/postgres.ts'

const open = async () => {
  const url = freshSchema(inject('postgres'))
  const again = () => openPostgresStore(url)
  return { store: await again(), again }
}

conformance('postgres', open)
backlogConformance('postgres', open)
