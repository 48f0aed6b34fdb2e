import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A program of others that we measure ourselves against, in the version that is written down beside this file. */
export async function peer<T>(name: string): Promise<T> {
  if (!existsSync(join(import.meta.dirname, 'node_modules', name))) install()
  const path = createRequire(join(import.meta.dirname, 'package.json')).resolve(name)
  return (await import(pathToFileURL(path).href)) as T
}

function install(): void {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status, stderr, error } = spawnSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  if (status === 0) return
  const why = error?.message ?? stderr.trim().split('\n').slice(-3).join('\n')
  throw new Error(
    `What this part is measured against cannot be installed:\n${why}\nRun "npm ci --ignore-scripts" in bench/peers where the registry can be reached, or name other parts.`,
  )
}
