// PLACEHOLDER by the lead until the real one is here: replace all of it.
import type { Account } from '../record.ts'

export function accountOf(_: string): Account {
  throw new Error('not yet')
}
