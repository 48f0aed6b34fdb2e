import type { TodoContinuationConfig } from './settings.ts'
import type { Effect, Reaction, SessionState } from './signals.ts'

/** Somebody may step in now. */
export function counting(state: SessionState, open: number, at: number, config: TodoContinuationConfig): Reaction {
  const started: SessionState = {
    ...state,
    mode: 'counting',
    countdown: { overAt: at + config.countdownSeconds * 1000, open },
  }
  const { state: next, effects } = counted(started, at, config)
  return { state: next, effects: [{ type: 'log', what: 'counting down' }, ...effects] }
}

/** A second has passed, or thereabouts: timers ring a little early and, after a sleep, much too late. */
export function counted(state: SessionState, at: number, { countdownSeconds }: TodoContinuationConfig): Reaction {
  const { overAt, open } = state.countdown!
  const startedAt = overAt - countdownSeconds * 1000
  const passed = Math.round((at - startedAt) / 1000)
  const seconds = countdownSeconds - passed
  const wakeAt = Math.min(startedAt + (passed + 1) * 1000, overAt)
  const shown: Effect[] = seconds > 0 ? [{ type: 'toast', seconds, open }] : []
  return {
    state: { ...state, wakeAt },
    effects: [...shown, { type: 'wake', at: wakeAt, generation: state.generation }],
  }
}
