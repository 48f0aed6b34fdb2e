import { conformance } from '../conformance.ts'
import { queueConformance } from '../conformance-queue.ts'
import { filesOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

const open = async () => {
  const root = scratch()
  const again = () => filesOf(root)
  return { store: await again(), again }
}

queueConformance('directories', open)
// What is not kept in directories goes through to the tables beside them.
conformance('directories', open)
