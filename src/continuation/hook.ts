import { redacted } from '../core/text.ts'
import { gather } from './asking.ts'
import { endingOf, type HookContext, signalFrom } from './events.ts'
import { reasonOf } from './failing.ts'
import type { Clock, Toast, TodoContinuationOptions } from './options.ts'
import { continuationPrompt } from './prompt.ts'
import { react } from './reducer.ts'
import { configFrom } from './settings.ts'
import { type Effect, NEW_SESSION, type SessionState, type Signal } from './signals.ts'

/** A hook as hosts take it. */
export interface Hook {
  readonly name: string
  readonly description: string
  readonly priority: number
  readonly events: readonly string[]
  /** Settles once what the event made us ask has been answered. Never rejects. */
  readonly handler: (context: HookContext) => Promise<void>
}

export interface TodoContinuationHook {
  /** The session is getting over an error by itself: until it is said to be over, five minutes at most. */
  readonly markRecovering: (sessionId: string) => void
  readonly markRecoveryComplete: (sessionId: string) => void
  /** Its background work is done: an idle session is judged at once, and not when we next look. */
  readonly markBackgroundSettled: (sessionId: string) => void
}

const NAME = 'todo-continuation-enforcer'

/** Sends a session on that has gone idle with open items left, after a countdown in which anybody can step in. */
export function createTodoContinuationHook(options: TodoContinuationOptions = {}): Hook & TodoContinuationHook {
  const config = configFrom(options.config)
  const clock = options.clock ?? REAL_CLOCK
  const sessions = new Map<string, Session>()
  const mark = (type: 'recovering' | 'recovered' | 'background_settled') => (sessionId: string) =>
    void tell(sessionId, { type, at: clock.now() })

  return {
    name: NAME,
    description: 'Sends an idle session on while its list has open items, unless somebody steps in',
    priority: 40,
    events: [
      'session.idle',
      'session.error',
      'session.deleted',
      'message.updated',
      'message.after',
      'tool.before',
      'tool.after',
    ],
    async handler(context) {
      await attempt(async () => {
        const signal = signalFrom(context, clock.now())
        if (signal && context.sessionId) await tell(context.sessionId, signal)
      })
    },
    markRecovering: mark('recovering'),
    markRecoveryComplete: mark('recovered'),
    markBackgroundSettled: mark('background_settled'),
  }

  async function tell(sessionId: string, signal: Signal): Promise<void> {
    const outcome = await attempt(() => told(sessionId, signal))
    if ('error' in outcome) logged('left alone', sessionId, reasonOf(outcome.error))
  }

  async function told(sessionId: string, signal: Signal): Promise<void> {
    const session = sessions.get(sessionId) ?? { state: NEW_SESSION, alarm: undefined, written: Promise.resolve() }
    sessions.set(sessionId, session)
    const { state, effects } = react(session.state, signal, config)
    session.state = state
    for (const effect of effects) carryOut(sessionId, session, effect)
    const question = effects.find(({ type }) => type === 'ask') as Of<'ask'> | undefined
    if (question) await ask(sessionId, question)
  }

  /** All of it but questions: only these are waited for. */
  function carryOut(sessionId: string, session: Session, effect: Effect): void {
    switch (effect.type) {
      case 'toast':
        void attempt(() => options.showToast?.(toast(effect, config.toastDuration)))
        break
      case 'wake':
        clock.clearTimeout(session.alarm)
        session.alarm = clock.setTimeout(
          () => void tell(sessionId, { type: 'woken', at: clock.now(), generation: effect.generation }),
          Math.min(Math.max(effect.at - clock.now(), 0), LONGEST_MS),
        )
        break
      case 'cancel':
        clock.clearTimeout(session.alarm)
        break
      case 'save':
        void save(sessionId, session, effect)
        break
      case 'inject':
        void inject(sessionId, effect)
        break
      case 'log':
        logged(effect.what, sessionId, effect.why)
        break
      case 'ask':
    }
  }

  function logged(what: string, sessionId: string, why: string | undefined): void {
    void attempt(() => options.log?.(what, { hook: NAME, sessionId, why: why && redacted(why) }))
  }

  async function ask(sessionId: string, { generation, recall }: Of<'ask'>): Promise<void> {
    const gathered = await gather(options, sessionId, recall)
    await tell(sessionId, { ...gathered, at: clock.now(), generation })
  }

  async function save(sessionId: string, session: Session, { standing, generation }: Of<'save'>): Promise<void> {
    const { memory } = options
    let why: string | undefined
    if (memory) {
      // One after the other, so that what is written last is what was decided last.
      const writing = session.written.then(() => attempt(() => memory.save(sessionId, standing)))
      session.written = writing
      why = failureIn(await writing)
    }
    await tell(sessionId, { type: 'saved', at: clock.now(), generation, ok: why === undefined, why })
  }

  async function inject(sessionId: string, { work, agent, generation }: Of<'inject'>): Promise<void> {
    const prompt = continuationPrompt(work)
    // Called before anything is waited for: whoever has stepped in by now has been heard.
    const outcome = await attempt(() => options.injectPrompt?.(sessionId, prompt, agent))
    const aborted = 'error' in outcome && endingOf(outcome.error) === 'aborted'
    const fields = { type: 'sent', at: clock.now(), generation, aborted } as const
    const why = failureIn(outcome)
    await tell(
      sessionId,
      why === undefined ? { ...fields, ok: true, id: idIn(outcome) } : { ...fields, ok: false, why },
    )
  }
}

/** One that is longer would ring at once. Whoever is woken too early waits again. */
const LONGEST_MS = 2 ** 31 - 1

interface Session {
  state: SessionState
  alarm: unknown
  /** Settles when everything decided so far has been written down, or could not be. */
  written: Promise<unknown>
}

type Of<T extends Effect['type']> = Extract<Effect, { readonly type: T }>

function toast({ seconds, open }: Of<'toast'>, duration: number): Toast {
  const message = `Resuming in ${seconds}s... (${open} tasks remaining)`
  return { title: 'Todo Continuation', message, variant: 'warning', duration }
}

type Outcome = { readonly value: unknown } | { readonly error: unknown }

/** Calls it at once; what it throws, now or later, is told and goes no further. */
async function attempt(run: () => unknown): Promise<Outcome> {
  try {
    return { value: await run() }
  } catch (error) {
    return { error }
  }
}

function failureIn(outcome: Outcome): string | undefined {
  return 'error' in outcome ? reasonOf(outcome.error) : undefined
}

function idIn(outcome: Outcome): string | undefined {
  const value = 'value' in outcome ? outcome.value : undefined
  const id: unknown = typeof value === 'object' && value !== null && 'id' in value ? value.id : value
  return typeof id === 'string' ? id : undefined
}

/** Keeps no process alive, and asks for the timers anew each time: somebody may have replaced them. */
const REAL_CLOCK: Clock = {
  now: () => Date.now(),
  setTimeout(run, milliseconds) {
    const timer: unknown = setTimeout(run, milliseconds)
    // Only Node and Bun have it: in browsers a timer is a number.
    if (typeof timer === 'object') (timer as { unref?: () => void }).unref?.()
    return timer
  },
  clearTimeout: timer => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
}
