import { accessSync, constants, statSync } from 'node:fs'

/** Whether a file can be started. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
