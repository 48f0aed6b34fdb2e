import type { Caller } from '../core/operation.ts'
import { outlook } from '../plans/outlook.ts'
import { type Host, NOTHING, type Reply, type Told } from './event.ts'

/** What we say to what a host tells. Most turns end with nothing open: only what answers that is loaded for it. */
export async function replyTo(
  host: Host,
  { session, event }: Told,
  callerFor: (conversationId: string) => Caller,
): Promise<Reply> {
  if (event.type !== 'stopping') {
    const { ANSWERS } = await import('./replies.ts')
    return await ANSWERS[event.type](event as never, { host, caller: callerFor(session) })
  }
  const caller = callerFor(event.subagent === undefined ? session : `${session}/${event.subagent}`)
  const { of, work } = await outlook(caller)
  if (!of || work.open === 0) return NOTHING
  const { replyToStop } = await import('./replies.ts')
  return await replyToStop(event, { host, caller }, of, work)
}
