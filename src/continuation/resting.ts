import type { Judgement } from './judging.ts'
import { RECOVERY_MS } from './settings.ts'
import type { Effect, Reaction, SessionState } from './signals.ts'

/** Idle and left alone: until something happens, or until `wakeAt`. */
export function resting(
  state: SessionState,
  why: string,
  wakeAt: number | null = null,
  effects: readonly Effect[] = [],
): Reaction {
  const { generation } = state
  const alarm: Effect[] = wakeAt === null ? [] : [{ type: 'wake', at: wakeAt, generation }]
  const told: Effect = { type: 'log', what: 'left alone', why }
  return { state: { ...state, mode: 'resting', wakeAt }, effects: [...effects, told, ...alarm] }
}

/** How long background work is left alone before we look again, where nobody says that it has settled. */
const BACKGROUND_MS = 5_000

/** When to judge again, where time may change it. */
export function againAt(state: SessionState, judgement: Judgement, at: number): number | null {
  if (judgement.go) return null
  if (judgement.why === 'background') return at + BACKGROUND_MS
  if (judgement.why === 'recovering') return state.recoveringSince! + RECOVERY_MS
  return judgement.until ?? null
}

export function isRecovering({ recoveringSince }: SessionState, at: number): boolean {
  return recoveringSince !== null && at < recoveringSince + RECOVERY_MS
}
