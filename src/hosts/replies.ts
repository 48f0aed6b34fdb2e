import { UNTOUCHED } from '../continuation/judging.ts'
import { judgeStop, noted, recalled, remember } from '../continuation/keeping.ts'
import { continuationPrompt, isOurs } from '../continuation/prompt.ts'
import { configFrom } from '../continuation/settings.ts'
import { struck } from '../continuation/standing.ts'
import type { Caller } from '../core/operation.ts'
import { withoutInvisible } from '../core/text.ts'
import { coming, type Outlook, outlook, planText } from '../plans/outlook.ts'
import type { Turn } from '../plans/record.ts'
import { openTurn } from '../plans/turns.ts'
import { type Host, type HostEvent, NOTHING, type Reply } from './event.ts'

interface Hearing {
  readonly host: Host
  readonly caller: Caller
}

type Event<Type extends HostEvent['type']> = Extract<HostEvent, { type: Type }>

/** To an agent that wants to stop while items are open. */
export async function replyToStop(
  { background = 0, planning = false, asked = false, mayWrite = true, agent }: Event<'stopping'>,
  { host, caller }: Hearing,
  of: Turn,
  work: Outlook,
): Promise<Reply> {
  const facts = { work, background, planning, asked, mayWrite, agent, recovering: false, cut: false, atOnce: true }
  const config = configFrom(caller.continuation)
  const { go } = await judgeStop(caller.store, sessionOf(host, caller), facts, config, caller)
  if (!go) return NOTHING
  const titles = (await coming(caller, of, 3)).map(({ title }) => title)
  return { type: 'go_on', text: continuationPrompt(work, titles) }
}

type Answers = {
  readonly [Type in Exclude<HostEvent['type'], 'stopping'>]: (event: Event<Type>, hearing: Hearing) => Promise<Reply>
}

/** To everything else. */
export const ANSWERS: Answers = {
  async spoke({ text, turn }, { host, caller }) {
    if (isOurs(text)) return NOTHING
    await remember(caller.store, sessionOf(host, caller), UNTOUCHED, caller)
    const { of, work } = await outlook(caller)
    // What the user says while items are open is about those: the turn goes on.
    if (work.open + work.waiting === 0 && (!of || work.total > 0))
      await openTurn(caller, { turnId: turn ?? named(caller) })
    else if (of) await (await import('../plans/user-spoke.ts')).noteUserSpoke(caller, of)
    return contextOf(host.retells ? await planText(caller) : '')
  },

  async started({ how }, { host, caller }) {
    await noted(caller.store, sessionOf(host, caller), 'begun', caller)
    return contextOf(how === 'new' ? '' : await planText(caller))
  },

  async listed({ tasks, whole, asking = false }, { host, caller }) {
    const { mirror } = await import('./mirroring.ts')
    const refused = await mirror(caller, host, tasks, whole)
    return asking && refused ? { type: 'refuse', text: `${refused.message}\n${refused.hint}` } : NOTHING
  },

  // What is in the store needs no saving; but whoever sums up should know of it.
  cutting: async (_, { caller }) => contextOf(await planText(caller)),

  async failed({ aborted }, { host, caller }) {
    const session = sessionOf(host, caller)
    const { standing } = await recalled(caller.store, session)
    await remember(caller.store, session, struck(standing, aborted ? 'aborted' : 'error'), caller)
    return NOTHING
  },

  async ended(_, { host, caller }) {
    await noted(caller.store, sessionOf(host, caller), 'ended', caller)
    return NOTHING
  },

  async recall(_, { host, caller }) {
    const { standing, off } = await recalled(caller.store, sessionOf(host, caller))
    const { of, work } = await outlook(caller)
    const next = of ? (await coming(caller, of, 3)).map(({ title }) => withoutInvisible(title)) : []
    const config = configFrom(caller.continuation)
    return { type: 'answer', value: { config, standing, off, work, next, plan: await planText(caller) } }
  },

  async remember({ standing }, { host, caller }) {
    await remember(caller.store, sessionOf(host, caller), standing, caller)
    // Said aloud: who hears nothing cannot tell whether it was written.
    return { type: 'answer', value: 'remembered' }
  },
}

function contextOf(text: string): Reply {
  return text === '' ? NOTHING : { type: 'context', text }
}

function sessionOf(host: Host, { scope }: Caller) {
  return { conversationId: scope.conversationId, host: host.name }
}

/** A name for a turn whose host has none for it. */
function named(caller: Caller): string {
  return caller.now().toISOString()
}
