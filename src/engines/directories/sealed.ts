import { join } from 'node:path'
import { readRegular } from '../../core/files.ts'

const LARGEST_NOTE = 8 * 1024 * 1024

/** Whether the note of how an item was added carries this seal. A note that cannot be read carries none. */
export function isSealed(top: string, id: string, seal: string): boolean {
  try {
    const text = readRegular(join(top, '.punchlist', 'tasks', id, 'added'), LARGEST_NOTE)
    return text !== undefined && (JSON.parse(text) as { seal?: unknown } | null)?.seal === seal
  } catch {
    // A link, a pipe, or half of a note: none that our own commands have finished.
    return false
  }
}
