import { createTodoContinuationHook } from '../../continuation/hook.ts'
import { continuationPrompt } from '../../continuation/prompt.ts'
import { configFrom } from '../../continuation/settings.ts'
import type { Todo } from '../../continuation/todos.ts'
import type { Recalled, Talk } from '../talk.ts'
import type { AtWork, OpenCode } from './client.ts'

interface With {
  readonly host: OpenCode
  readonly talk: Talk
  readonly isNewest: () => boolean
  readonly toast: (toast: unknown) => void
  readonly log: (message: string) => void
}

export interface Continuing {
  heard(event: string, session: string, data: unknown): Promise<void>
  /** The user said no to what it asked for. */
  refused(session: string): void
  spoken(session: string): void
  /** Nothing is sent any more. */
  dispose(): Promise<void>
}

type ContinuationHook = ReturnType<typeof createTodoContinuationHook>

/** The hook that sends sessions on, asking OpenCode and our own lists. */
export function continuing(using: With): Continuing {
  const { host, talk } = using
  const refusals = new Set<string>()
  const sessions = new Set<string>()
  let made: Promise<ContinuationHook> | undefined

  return {
    async heard(event, session, data) {
      sessions.add(session)
      const hook = await (made ??= hookFor(session, using, refusals))
      await hook.handler({ event, sessionId: session, data })
      if (event === 'session.deleted') refusals.delete(session)
      if (event !== 'session.idle') return
      const parent = await host.parentOf(session)
      if (parent !== undefined) hook.markBackgroundSettled(parent)
    },

    refused: session => void refusals.add(session),
    spoken: session => void refusals.delete(session),

    async dispose() {
      const hook = await made
      for (const session of sessions) void hook?.handler({ event: 'session.deleted', sessionId: session })
      await talk.settled()
    },
  }
}

async function hookFor(first: string, using: With, refusals: ReadonlySet<string>): Promise<ContinuationHook> {
  const { host, talk, isNewest, toast, log } = using
  const plans = new Map<string, Recalled>()
  const workers = new Map<string, AtWork>()

  return createTodoContinuationHook({
    config: await configOf(talk, first),
    log: (what, { sessionId, why }) => log([`${sessionId} ${what}`, why].filter(Boolean).join(': ')),
    showToast: toast,
    getMessages: session => host.messages(session),
    getBackgroundTaskCount: session => host.busyBelow(session),
    isAwaitingAnswer: session => refusals.has(session),

    async getTodos(session) {
      // The answer of a subagent is its parent's already: it is the parent who may let it go on.
      if ((await host.parentOf(session)) !== undefined || !isNewest()) return []
      const known = await talk.recall(session)
      plans.set(session, known)
      return todosFrom(known)
    },

    async getAgentInfo(session) {
      const by = await host.atWork(session)
      workers.set(session, by)
      return { agent: by.agent, hasWritePermission: by.agent === undefined || (await host.mayWrite(by.agent)) }
    },

    async isStopped(session) {
      const { off, config } = await talk.recall(session)
      return config.enabled ? off : 'all'
    },

    memory: {
      load: async session => (await talk.recall(session)).standing,
      async save(session, standing) {
        const { type } = await talk.tell(session, { type: 'remember', standing })
        // A hook that goes wrong says nothing, and a budget that is not kept is none.
        if (type !== 'answer') throw new Error('not written')
      },
    },

    async injectPrompt(session, prompt) {
      const { work, next } = plans.get(session) ?? {}
      // Everything is at hand: what is asked for here would leave time for somebody to step in.
      const said = work ? continuationPrompt(work, next) : prompt
      await host.prompt(session, said, workers.get(session) ?? {})
    },
  })
}

/** Read once: what is changed later holds from the next start on, but for `enabled`. */
async function configOf(talk: Talk, session: string) {
  try {
    return (await talk.recall(session)).config
  } catch {
    return configFrom()
  }
}

/** The counts as a list: which item is which makes no difference to whether a session is sent on. */
function todosFrom({ work, next }: Recalled): Todo[] {
  const { open, waiting, completed, total } = work
  const some = (count: number, status: string, contents: readonly string[] = []) =>
    Array.from({ length: count }, (_, index) => ({ status, content: contents[index] ?? '' }))
  return [
    ...some(open, 'pending', next),
    ...some(waiting, 'blocked'),
    ...some(completed, 'completed'),
    ...some(total - open - waiting - completed, 'cancelled'),
  ]
}
