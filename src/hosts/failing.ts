import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { stateFile } from '../core/state-file.ts'
import { redacted } from '../core/text.ts'

const LARGEST = 256 * 1024

/** One line about a hook that went wrong, where the user can read it; the host was let go. */
export function noteFailure(host: string, event: string | undefined, error: unknown): void {
  try {
    const file = stateFile('hook.log')
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LARGEST) renameSync(file, `${file}.old`)
    const { code, message } = error as { code?: string; message?: string }
    const what = [code, redacted(String(message ?? error)).slice(0, 300)].filter(Boolean).join(': ')
    const line = JSON.stringify({ at: new Date().toISOString(), host: host.slice(0, 40), event, error: what })
    appendFileSync(file, `${line}\n`, { mode: 0o600 })
  } catch {
    // A home that cannot be written to must not keep a host from going on.
  }
}
