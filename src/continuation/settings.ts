import type { ContinuationSettings } from '../core/operation.ts'

/** How a session that stopped early is sent on. The keys of `continuation` in punchlist.json. */
export interface TodoContinuationConfig {
  readonly enabled: boolean
  /** How long somebody can step in before an idle session is sent on. */
  readonly countdownSeconds: number
  /** Milliseconds that each message of the countdown is shown. */
  readonly toastDuration: number
  /** Milliseconds after the idle in which a message that does not say when it was created is taken for an echo. */
  readonly gracePeriod: number
  /** Injections in a row that brought no progress, before we give up. */
  readonly maxFruitless: number
  /** Injections in a row after which as much was open as before, before we give up. */
  readonly maxUnshortened: number
  /** Injections at most until the user speaks again, progress or not. */
  readonly maxInjections: number
  /** Agents that plan and do not work; whatever the case of the letters. */
  readonly skipAgents: readonly string[]
}

export const DEFAULT_CONFIG: TodoContinuationConfig = {
  enabled: true,
  countdownSeconds: 2,
  toastDuration: 900,
  gracePeriod: 500,
  maxFruitless: 3,
  maxUnshortened: 8,
  maxInjections: 50,
  skipAgents: ['plan', 'planner'],
}

/** The defaults with what is set; a key that is set to nothing counts as not set. */
export function configFrom(set: ContinuationSettings = {}): TodoContinuationConfig {
  const given = Object.entries(set).filter(([, value]) => value !== undefined)
  return { ...DEFAULT_CONFIG, ...Object.fromEntries(given) }
}

/** How long to wait after the first injection that brought no progress; twice as long after each further one. */
export const COOLDOWN_MS = 5_000

/** A recovery that nobody ends is over after this. */
export const RECOVERY_MS = 5 * 60_000
