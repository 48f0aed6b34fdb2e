import type { SessionState, Signal } from './signals.ts'

/**
 * Whether a message is only told again: hosts go on updating messages after a
 * session has come to rest. One that does not say when it was created is taken
 * for that within `grace` milliseconds of the rest.
 */
export function isEcho(
  { restedAt }: SessionState,
  { at, createdAt }: { readonly at: number; readonly createdAt?: number | undefined },
  grace: number,
): boolean {
  if (restedAt === null) return false
  return createdAt === undefined ? at - restedAt < grace : createdAt <= restedAt
}

/** Whether a message in the user's name is the one that we sent. */
export function isOurOwn(state: SessionState, message: Extract<Signal, { type: 'user_message' }>): boolean {
  const { ours, id, createdAt } = message
  if (ours || (id !== undefined && id === state.sentId)) return true
  if (ours === false || !state.expecting) return false
  // Some hosts tell of a message without its text: the first one after an injection is ours.
  return createdAt === undefined || createdAt >= (state.standing.injectedAt ?? createdAt)
}
