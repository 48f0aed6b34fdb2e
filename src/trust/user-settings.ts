import { existsSync } from 'node:fs'
import { configFile } from '../core/state-file.ts'
import type { UserSettings } from '../settings.ts'

/** The user's own settings. Most have none: what reads them is loaded only when the file is there. */
export async function userSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<UserSettings> {
  return existsSync(configFile('config.json', env)) ? (await import('../settings.ts')).readUserSettings(env) : {}
}
