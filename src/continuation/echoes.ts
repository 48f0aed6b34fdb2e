import type { SessionState, Signal } from './signals.ts'

/**
 * Whether a message is only told again: hosts go on updating messages after a
 * session has come to rest. One that does not say when it was created is taken
 * for that within `grace` milliseconds of the rest. Where the clock has gone
 * back since, nothing shows what is old: nobody is passed over for that.
 */
export function isEcho(
  { restedAt }: SessionState,
  { at, createdAt }: { readonly at: number; readonly createdAt?: number | undefined },
  grace: number,
): boolean {
  if (restedAt === null || at < restedAt) return false
  return createdAt === undefined ? at - restedAt < grace : createdAt <= restedAt
}

type Message = Extract<Signal, { readonly type: 'user_message' }>

/** Whether a message in the user's name is the one that we sent. */
export function isOurOwn({ sentId }: SessionState, { ours, id }: Message): boolean {
  return ours === true || (id !== undefined && id === sentId)
}

/** Some hosts tell of a message without its text: the first one after an injection is taken for ours. */
export function mayBeOurOwn({ expecting, standing }: SessionState, { ours, createdAt }: Message): boolean {
  if (ours === false || !expecting) return false
  return createdAt === undefined || createdAt >= (standing.injectedAt ?? createdAt)
}
