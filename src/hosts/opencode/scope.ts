import { createHmac, randomBytes } from 'node:crypto'

/** What the server is given it with: a secret of the plugin, so that no model can name a session that is not its own. */
export const SCOPE_KEY = 'PUNCHLIST_SCOPE_KEY'

export function newScopeKey(): string {
  return randomBytes(32).toString('base64url')
}

export function scopeOf(session: string, key: string): string {
  return `${session}.${createHmac('sha256', key).update(session).digest('base64url')}`
}
