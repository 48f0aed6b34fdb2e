// PLACEHOLDER by the lead until the real one is here: replace all of it.
import type { Worklog } from '../record.ts'

export function remarksOn(_: Worklog): string[] {
  throw new Error('not yet')
}
