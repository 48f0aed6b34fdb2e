import { worklogConformance } from '../conformance-worklog.ts'
import { filesOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

worklogConformance('files', async () => {
  const root = scratch()
  const again = () => filesOf(root)
  return { store: await again(), again }
})
