import type { DirectoryForm } from '../core/kind.ts'
import { directoryName, numbersIn, parentOf, readDirectoryName } from './names.ts'

/** The text that defines a task, which lies in a file named after the directory. */
export const DEFINITION = 'task.md'

/** A task as a directory. */
export const taskDirectory: DirectoryForm = {
  folders: ['staged', 'to_execute', 'in_progress', 'completed', 'error'],
  definition: DEFINITION,
  name: item => directoryName(item as { id: string; slug: string }),
  named(name) {
    const read = readDirectoryName(name)
    if (!read) return { line: 1, message: 'must be named req_ with at least 4 digits, and a slug: req_0001_yaml_migration' }
    const { id, slug } = read
    return { id, fields: { slug, parent: parentOf(id), ...numbersIn(id) } }
  },
  read: () => ({ fields: {} }),
  evidence: () => ({ fields: {}, complaints: [], claims: [] }),
  flag: () => undefined,
  verdict: () => undefined,
}
