import { join } from 'node:path'
import { acceptQueue } from '../../src/trust/queue-folder.ts'
import { acceptStore } from '../../src/trust/store-file.ts'

/** Marks the database and the queue of a copied folder as `punchlist trust --yes` does, without what a test of a thousand copies does not need. */
export function acceptFolder(root: string): void {
  acceptStore(join(root, '.punchlist/punchlist.db'))
  acceptQueue(join(root, 'coordination'))
}
