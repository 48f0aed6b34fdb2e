import { counted, counting } from './countdown.ts'
import { isEcho, isOurOwn, mayBeOurOwn } from './echoes.ts'
import { type Facts, injected, judge, judged, spoken } from './judging.ts'
import { againAt, isRecovering, resting } from './resting.ts'
import { DEFAULT_CONFIG, type TodoContinuationConfig } from './settings.ts'
import { type Effect, NEW_SESSION, type Reaction, type SessionState, type Signal, type Stumble } from './signals.ts'
import { isSame, lifted, recalledOver, struck } from './standing.ts'

/** What to do about one signal of one session. Pure: clock, timers, prompts and memory belong to whoever calls it. */
export function react(state: SessionState, signal: Signal, config: TodoContinuationConfig = DEFAULT_CONFIG): Reaction {
  // For ever: a name that comes again is not a new session.
  if (state.mode === 'deleted') return stay(state)
  const reaction = reactionTo(state, signal, config)
  const { standing, generation, recalled } = reaction.state
  const remembered = state.recalled ? state.standing : signal.type === 'answered' ? signal.answers.standing : undefined
  if (!recalled || (remembered && isSame(remembered, standing))) return reaction
  return { state: reaction.state, effects: [...reaction.effects, { type: 'save', standing, generation }] }
}

function reactionTo(state: SessionState, signal: Signal, config: TodoContinuationConfig): Reaction {
  const { at } = signal
  switch (signal.type) {
    case 'idle':
      return wentIdle(state, at, config)
    case 'user_message':
      return userSpoke(state, signal, config)
    case 'assistant_message':
      return assistantSpoke(state, signal)
    case 'tool':
      return atWork(state)
    case 'failed':
      return stumbled(state, signal.ended, at)
    case 'compacted':
      return judgedAgain({ ...state, cut: true, agent: undefined }, at, config)
    case 'recovering':
      return judgedAgain({ ...state, recoveringSince: at }, at, config)
    case 'recovered':
      return recovered(state, at, config)
    case 'background_settled':
      return state.mode === 'resting' ? judgedAgain(state, at, config) : stay(state)
    case 'answered':
      return answered(state, signal, config)
    case 'unanswered':
      return awaits(state, signal.generation) ? resting(state, signal.why) : stay(state)
    case 'saved':
      return saved(state, signal)
    case 'sent':
      return sent(state, signal, config)
    case 'woken':
      return woken(state, signal, config)
    case 'deleted':
  }
  return { state: DELETED, effects: left(state).effects }
}

const DELETED: SessionState = { ...NEW_SESSION, mode: 'deleted' }

function wentIdle(state: SessionState, at: number, config: TodoContinuationConfig): Reaction {
  // The same stop, told twice.
  if (state.mode === 'counting' || state.mode === 'saving') return stay(state)
  const restedAt = hasRested(state) ? state.restedAt : at
  const idle = { ...state, restedAt, expecting: false }
  // Some hosts settle an injection only when all that came of it is over.
  if (state.inFlight !== null) return stay({ ...idle, idleMeanwhile: true, generation: state.generation + 1 })
  return ask(idle, 'asking', at, config)
}

function userSpoke(
  state: SessionState,
  message: Of<'user_message'>,
  { gracePeriod }: TodoContinuationConfig,
): Reaction {
  const expected = { ...state, expecting: false, sentId: message.id ?? state.sentId }
  if (isOurOwn(state, message)) return stay(expected)
  // Not to be told from ours: it does not count, but what it might have called off is.
  if (mayBeOurOwn(state, message)) return atWork(expected)
  if (isEcho(state, message, gracePeriod)) return stay(state)
  const { state: next, effects } = atWork(withAgent(state, message.agent))
  const heard = { ...next, standing: spoken(), expecting: false }
  // Only what is remembered can tell whether this was counted before a restart.
  const { createdAt } = message
  const known = next.recalled || createdAt === undefined ? { recalled: true } : { spokenAt: createdAt }
  return { state: { ...heard, ...known }, effects }
}

function assistantSpoke(state: SessionState, message: Of<'assistant_message'>): Reaction {
  const { at, agent, ended } = message
  // An echo may be the first to tell how it ended.
  if (isEcho(state, message, 0)) return ended ? stumbled(state, ended, at) : stay(state)
  const { state: next, effects } = atWork(withAgent(state, agent))
  if (ended) {
    const { state: after, effects: told } = stumbled(next, ended, at)
    return { state: after, effects: [...effects, ...told] }
  }
  return { state: { ...next, standing: lifted(next.standing, 'aborted'), lifted: !next.recalled }, effects }
}

function atWork(state: SessionState): Reaction {
  const { state: next, effects } = left(state)
  return { state: { ...next, mode: 'working', idleMeanwhile: false }, effects }
}

/** After an abort or an error there is nothing to wait for, so it rests until somebody speaks. */
function stumbled(state: SessionState, ended: Stumble, at: number): Reaction {
  const { state: next, effects } = left(state)
  const mode = isIdle(state) ? 'resting' : state.mode
  const restedAt = hasRested(state) ? state.restedAt : at
  const told: Effect = { type: 'log', what: 'left alone', why: ended }
  return { state: { ...next, mode, restedAt, standing: struck(next.standing, ended) }, effects: [...effects, told] }
}

/** Who has got over an error has got over that error; what an abort meant remains. */
function recovered(state: SessionState, at: number, config: TodoContinuationConfig): Reaction {
  if (state.recoveringSince === null) return stay(state)
  return judgedAgain({ ...state, recoveringSince: null, standing: lifted(state.standing, 'error') }, at, config)
}

/** Something other than work has changed: where the session is idle, everything is asked anew. */
function judgedAgain(state: SessionState, at: number, config: TodoContinuationConfig): Reaction {
  return isIdle(state) ? ask(state, 'asking', at, config) : stay(state)
}

function ask(state: SessionState, mode: 'asking' | 'confirming', at: number, config: TodoContinuationConfig): Reaction {
  const { state: next, effects } = left(state)
  const atBest = judge(next.standing, { ...BEST, recovering: isRecovering(next, at) }, config, at)
  // An abort or error that is not yet written with what is remembered from before still has to be.
  if (!atBest.go && (next.recalled || atBest.why !== next.standing.hush)) {
    const standing = judged(next.standing, atBest)
    return resting({ ...next, standing }, atBest.why, againAt(next, atBest, at), effects)
  }
  const { generation, recalled } = next
  return { state: { ...next, mode }, effects: [...effects, { type: 'ask', generation, recall: !recalled }] }
}

/** What no answer could better: where even this is refused, nothing needs to be asked. */
const BEST: Facts = {
  work: { open: 1, waiting: 0, completed: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER },
  off: null,
  background: 0,
  recovering: false,
  asked: false,
  agent: undefined,
  mayWrite: true,
  planning: false,
  cut: false,
}

function answered(state: SessionState, signal: Of<'answered'>, config: TodoContinuationConfig): Reaction {
  if (!awaits(state, signal.generation)) return stay(state)
  const { at } = signal
  const { ended, standing: remembered, ...answers } = signal.answers
  const agent = answers.agent ?? state.agent
  const facts: Facts = { ...answers, agent, recovering: isRecovering(state, at), cut: state.cut }
  const recalled = state.recalled || !remembered ? state.standing : recalledOver(remembered, state)
  const standing = ended ? struck(recalled, ended) : recalled
  const judgement = judge(standing, facts, config, at)
  const next: SessionState = {
    ...state,
    standing: judged(standing, judgement),
    recalled: state.recalled || remembered !== undefined || judgement.go,
    cut: state.cut && agent === undefined,
  }
  if (!judgement.go) return resting(next, judgement.why, againAt(next, judgement, at))
  if (state.mode === 'asking' && config.countdownSeconds > 0) return counting(next, facts.work.open, at, config)
  const after = injected(next.standing, facts.work, judgement, at)
  const pending = { work: facts.work, agent, before: next.standing }
  return stay({ ...next, mode: 'saving', generation: state.generation + 1, standing: after, pending })
}

function woken(state: SessionState, { at, generation }: Of<'woken'>, config: TodoContinuationConfig): Reaction {
  if (generation !== state.generation) return stay(state)
  const rung = { ...state, wakeAt: null }
  if (state.mode === 'resting') return ask(rung, 'asking', at, config)
  if (state.mode !== 'counting') return stay(state)
  // Seconds are long enough for the world to change: everything is asked again.
  return at >= state.countdown!.overAt ? ask(rung, 'confirming', at, config) : counted(rung, at, config)
}

function saved(state: SessionState, { generation, ok, why }: Of<'saved'>): Reaction {
  if (state.mode !== 'saving' || generation !== state.generation) return stay(state)
  // A budget that cannot be kept is none.
  if (!ok) return resting(left(state).state, `it could not be written down: ${why}`)
  const { work, agent } = state.pending!
  return {
    state: { ...state, mode: 'working', pending: null, inFlight: generation, expecting: true },
    effects: [
      // First: whoever is told by the log could already step in.
      { type: 'inject', work, agent, generation },
      { type: 'log', what: 'sending on' },
    ],
  }
}

function sent(state: SessionState, signal: Of<'sent'>, config: TodoContinuationConfig): Reaction {
  if (state.inFlight !== signal.generation) return stay(state)
  const { at, ok, aborted, why } = signal
  const untouched = state.generation === signal.generation
  const settled = { ...state, inFlight: null, idleMeanwhile: false, sentId: signal.id ?? state.sentId }
  const over = state.idleMeanwhile || (!ok && untouched)
  const next: SessionState = over ? { ...settled, mode: 'resting' } : settled
  if (aborted) return stumbled({ ...next, expecting: false }, 'aborted', at)
  const { state: after, effects } = over ? ask({ ...next, expecting: false }, 'asking', at, config) : stay(next)
  return { state: after, effects: [{ type: 'log', what: ok ? 'sent on' : 'could not be sent on', why }, ...effects] }
}

/** Out of whatever it was in: no alarm rings any more, no answer is of use, and what was not sent is not counted. */
function left(state: SessionState): Reaction {
  const { generation, wakeAt, countdown, pending } = state
  const effects: Effect[] = []
  if (wakeAt !== null) effects.push({ type: 'cancel' })
  if (countdown && wakeAt !== null) effects.push({ type: 'log', what: 'called off' })
  return {
    state: {
      ...state,
      generation: generation + 1,
      wakeAt: null,
      countdown: null,
      pending: null,
      standing: pending ? pending.before : state.standing,
    },
    effects,
  }
}

type Of<T extends Signal['type']> = Extract<Signal, { readonly type: T }>

function stay(state: SessionState): Reaction {
  return { state, effects: [] }
}

function isIdle({ mode }: SessionState): boolean {
  return mode !== 'working' && mode !== 'deleted'
}

function hasRested(state: SessionState): boolean {
  return isIdle(state) || state.idleMeanwhile
}

function awaits({ mode, generation }: SessionState, asked: number): boolean {
  return (mode === 'asking' || mode === 'confirming') && generation === asked
}

function withAgent(state: SessionState, agent: string | undefined): SessionState {
  return agent === undefined ? state : { ...state, agent, cut: false }
}
