import { realpathSync } from 'node:fs'

/** A folder under one name, whichever way it was reached. */
export function realRoot(root: string): string {
  try {
    return realpathSync(root)
  } catch {
    return root
  }
}
