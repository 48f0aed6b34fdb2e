import { conformance } from '../conformance.ts'
import { backlogConformance } from '../conformance-backlog.ts'
import { filesOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

const open = async () => {
  const root = scratch()
  const again = () => filesOf(root)
  return { store: await again(), again }
}

backlogConformance('files', open)
// What is not kept in files goes through to the tables beside them.
conformance('files', open)
