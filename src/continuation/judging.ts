import { COOLDOWN_MS, type TodoContinuationConfig } from './settings.ts'

/** How a list stands. */
export interface Work {
  /** Items that can be worked on now: neither finished nor waiting for a person. */
  readonly open: number
  /** Items that wait for a person. */
  readonly waiting: number
  readonly completed: number
  /** All of them, whatever became of them. */
  readonly total: number
}

/** Why a session is left alone until somebody speaks. */
export type Hush = 'aborted' | 'error' | 'fruitless' | 'no_shorter' | 'budget'

/** What is remembered of a session, in the store too: it survives restarts. */
export interface Standing {
  /** Injections since the user last spoke. */
  readonly injections: number
  /** Injections in a row that brought no progress. */
  readonly fruitless: number
  /** Injections in a row after which as much was open as before, progress or not. */
  readonly unshortened: number
  /** How the list stood at the last injection. */
  readonly before: Pick<Work, 'open' | 'completed'> | null
  /** When that was, in milliseconds. */
  readonly injectedAt: number | null
  readonly hush: Hush | null
}

export const UNTOUCHED: Standing = {
  injections: 0,
  fruitless: 0,
  unshortened: 0,
  before: null,
  injectedAt: null,
  hush: null,
}

/** Everything a decision depends on. */
export interface Facts {
  readonly work: Work
  /** Switched off by a person: for this session, or for all. */
  readonly off: 'session' | 'all' | null
  /** Background tasks that run, or wait to. */
  readonly background: number
  /** Whether it is getting over an error by itself. */
  readonly recovering: boolean
  /** Whether it waits for the user's answer to a question that it asked by a tool made for that. */
  readonly asked: boolean
  /** The agent that was last at work; undefined where that is not known. */
  readonly agent: string | undefined
  /** False only where it is known that it may not write. */
  readonly mayWrite: boolean
  /** Whether it plans only: nothing is carried out in that mode. */
  readonly planning: boolean
  /** Whether the context was cut since an agent was last seen. */
  readonly cut: boolean
  /** Whether the host takes an answer now or never: then there is no waiting between injections. */
  readonly atOnce?: boolean
}

export type Why =
  | 'disabled'
  | 'off'
  | 'off_for_all'
  | 'aborted'
  | 'error'
  | 'fruitless'
  | 'no_shorter'
  | 'budget'
  | 'recovering'
  | 'background'
  | 'asked'
  | 'nothing_open'
  | 'waiting_on_person'
  | 'agent_unknown'
  | 'read_only'
  | 'planning'
  | 'cooling'

export type Judgement =
  | { readonly go: true; readonly fruitless: number; readonly unshortened: number }
  /** `until`: when to judge again, where time alone will change it. */
  | { readonly go: false; readonly why: Why; readonly until?: number }

/** Whether a session that has stopped is sent on. The one judge: hooks, plugins and `punchlist status` ask here. */
export function judge(standing: Standing, facts: Facts, config: TodoContinuationConfig, at: number): Judgement {
  const why = hindrance(standing, facts, config)
  if (why) return { go: false, why }
  const { before, injections, injectedAt } = standing
  const fruitless = before && !hasProgressed(before, facts.work) ? standing.fruitless + 1 : 0
  // Who finds a new item for each that is finished gets on, but nowhere.
  const unshortened = before && facts.work.open >= before.open ? standing.unshortened + 1 : 0
  if (fruitless >= config.maxFruitless && fruitless > 0) return { go: false, why: 'fruitless' }
  const most = Math.max(config.maxUnshortened, config.maxFruitless)
  if (unshortened >= most && unshortened > 0) return { go: false, why: 'no_shorter' }
  if (injections >= config.maxInjections) return { go: false, why: 'budget' }
  // Later than now: the clock has gone back, and would have it wait until it is there again.
  const unhurried = fruitless === 0 || injectedAt === null || injectedAt > at || facts.atOnce
  const until = unhurried ? at : injectedAt + COOLDOWN_MS * 2 ** (fruitless - 1)
  return until > at ? { go: false, why: 'cooling', until } : { go: true, fruitless, unshortened }
}

function hindrance({ hush }: Standing, facts: Facts, { enabled, skipAgents, maxFruitless }: TodoContinuationConfig) {
  if (!enabled) return 'disabled'
  if (facts.off) return facts.off === 'all' ? 'off_for_all' : 'off'
  if (hush) return hush
  if (facts.recovering) return 'recovering'
  if (facts.background > 0) return 'background'
  if (facts.work.open === 0) return facts.work.waiting > 0 ? 'waiting_on_person' : 'nothing_open'
  if (facts.asked) return 'asked'
  if (!facts.mayWrite) return 'read_only'
  const agent = facts.agent?.toLowerCase()
  if (facts.planning || skipAgents.some(name => name.toLowerCase() === agent)) return 'planning'
  if (facts.cut && agent === undefined) return 'agent_unknown'
  return maxFruitless === 0 ? 'fruitless' : undefined
}

/** Words, statuses and tools used are no progress: only what is finished is. */
function hasProgressed(before: Pick<Work, 'open' | 'completed'>, now: Work): boolean {
  return now.completed > before.completed || now.open < before.open
}

/** How a session stands after an injection, whether or not it arrived: one that fails is one that brings no progress. */
export function injected(
  standing: Standing,
  { open, completed }: Work,
  { fruitless, unshortened }: Pick<Standing, 'fruitless' | 'unshortened'>,
  at: number,
): Standing {
  const counts = { injections: standing.injections + 1, fruitless, unshortened }
  return { ...standing, ...counts, before: { open, completed }, injectedAt: at }
}

/** How a session stands once a judgement is known: what only the user can lift is remembered. */
export function judged(standing: Standing, judgement: Judgement): Standing {
  if (judgement.go) return standing
  const { why } = judgement
  return why === 'fruitless' || why === 'no_shorter' || why === 'budget' ? { ...standing, hush: why } : standing
}

/** The user spoke: everything begins anew. */
export function spoken(): Standing {
  return UNTOUCHED
}
