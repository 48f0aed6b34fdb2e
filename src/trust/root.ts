import { realpathSync } from 'node:fs'

/** A folder under one name, whichever way it was reached. */
export function realRoot(root: string): string {
  try {
    return realpathSync.native(root)
  } catch {
    return root
  }
}
