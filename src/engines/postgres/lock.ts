import { createHash } from 'node:crypto'

/**
 * The number of an advisory lock. Programs of different versions meet at these
 * numbers: what goes into one is never changed.
 */
export function lockNumber(...names: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(names)).digest().readBigInt64BE().toString()
}

/** The same as it is written in a statement. */
export function lockFor(...names: readonly string[]): string {
  return `'${lockNumber(...names)}'::bigint`
}

/** Held by whoever gives out places in a list. */
export function listLock(schema: string, kind: string, list: string): string[] {
  return ['list', schema, kind, list]
}
