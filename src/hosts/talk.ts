import type { Standing, Work } from '../continuation/judging.ts'
import type { TodoContinuationConfig } from '../continuation/settings.ts'
import type { HostEvent, Reply } from './event.ts'
import { shared } from './sharing.ts'

/** What is known of a session. */
export interface Recalled {
  readonly config: TodoContinuationConfig
  readonly standing: Standing
  readonly off: 'session' | 'all' | null
  readonly work: Work
  /** Titles of the next open items. */
  readonly next: readonly string[]
  /** The plan as text for a model; empty where nothing is open. */
  readonly plan: string
}

/** The lists, as a plugin of ours in a host sees them: through our own program, one thing after the other for each session. */
export interface Talk {
  tell(session: string, event: HostEvent): Promise<Reply>
  /** Rejects where that cannot be known. */
  recall(session: string): Promise<Recalled>
  /** When everything that was told has been heard. */
  settled(): Promise<void>
}

export function talkThrough(hook: (told: string) => Promise<string>, cwd: string): Talk {
  const last = new Map<string, Promise<unknown>>()
  const known = shared(async session => recalledFrom(await say(session, { type: 'recall' })))

  async function say(session: string, event: HostEvent): Promise<Reply> {
    const before = last.get(session) ?? Promise.resolve()
    const now = before.then(async () => replyFrom(await hook(JSON.stringify({ session, cwd, event }))))
    const over = now.then(
      () => {},
      () => {},
    )
    last.set(session, over)
    try {
      return await now
    } finally {
      if (last.get(session) === over) last.delete(session)
    }
  }

  return {
    async tell(session, event) {
      known.forget(session)
      return await say(session, event)
    },

    recall: known.ask,

    async settled() {
      await Promise.all(last.values())
    },
  }
}

function replyFrom(stdout: string): Reply {
  return stdout.trim() === '' ? { type: 'nothing' } : (JSON.parse(stdout) as Reply)
}

function recalledFrom(reply: Reply): Recalled {
  if (reply.type !== 'answer') throw new Error('punchlist does not say how the plan stands: see its hook.log')
  return reply.value as Recalled
}
