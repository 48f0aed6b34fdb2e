import { type Facts, type Standing, UNTOUCHED, type Work } from './judging.ts'

/** How one session is doing, as far as sending it on goes. */
export interface SessionState {
  /**
   * working: at work, or thought to be. asking: the facts are being gathered.
   * counting: somebody can still step in. confirming: the facts are gathered
   * once more. saving: the injection is being written down. resting: idle and
   * left alone. deleted: for ever.
   */
  readonly mode: 'working' | 'asking' | 'counting' | 'confirming' | 'saving' | 'resting' | 'deleted'
  /** Raised by everything that happens: an answer that was asked for under another number is out of date. */
  readonly generation: number
  /** When it last came to rest. What was created until then is an echo. */
  readonly restedAt: number | null
  readonly standing: Standing
  /** Whether `standing` takes into account what was remembered from before. */
  readonly recalled: boolean
  /** Until it does: whether an abort that is remembered no longer counts. */
  readonly lifted: boolean
  /** Until it does: when the user last wrote something. */
  readonly spokenAt: number | null
  /** The injection that has not settled yet. */
  readonly inFlight: number | null
  /** Whether it went idle meanwhile. */
  readonly idleMeanwhile: boolean
  /** Whether our message is still to be seen among the others. */
  readonly expecting: boolean
  /** What the host called the message that we sent last. */
  readonly sentId: string | null
  readonly recoveringSince: number | null
  /** Whether its context was cut, and no agent has been seen since. */
  readonly cut: boolean
  readonly agent: string | undefined
  /** When it is woken next. */
  readonly wakeAt: number | null
  readonly countdown: { readonly overAt: number; readonly open: number } | null
  /** What is sent once it has been written down, and how the session stood before. */
  readonly pending: { readonly work: Work; readonly agent: string | undefined; readonly before: Standing } | null
}

export const NEW_SESSION: SessionState = {
  mode: 'working',
  generation: 0,
  restedAt: null,
  standing: UNTOUCHED,
  recalled: false,
  lifted: false,
  spokenAt: null,
  inFlight: null,
  idleMeanwhile: false,
  expecting: false,
  sentId: null,
  recoveringSince: null,
  cut: false,
  agent: undefined,
  wakeAt: null,
  countdown: null,
  pending: null,
}

/** The facts that are asked for; the rest is known here. */
export interface Answers extends Omit<Facts, 'recovering' | 'cut' | 'atOnce'> {
  /** What the last message of the assistant ended with. */
  readonly ended: Stumble | null
  /** What is remembered from before, where that was asked for. */
  readonly standing?: Standing | undefined
}

/** How a run can end badly. */
export type Stumble = 'aborted' | 'error'

interface Message {
  readonly at: number
  /** Undefined where the message does not say. */
  readonly createdAt?: number | undefined
  readonly agent?: string | undefined
}

interface Outcome {
  readonly at: number
  readonly generation: number
  readonly ok: boolean
  readonly why?: string | undefined
}

/** What happened, and when, in milliseconds. */
export type Signal =
  | { readonly type: 'idle'; readonly at: number }
  /** `ours`: whether we sent it; undefined where it does not show. */
  | (Message & { readonly type: 'user_message'; readonly id?: string | undefined; readonly ours?: boolean | undefined })
  | (Message & { readonly type: 'assistant_message'; readonly ended?: Stumble | undefined })
  | { readonly type: 'tool'; readonly at: number }
  | { readonly type: 'failed'; readonly at: number; readonly ended: Stumble }
  | { readonly type: 'compacted'; readonly at: number }
  | { readonly type: 'recovering'; readonly at: number }
  | { readonly type: 'recovered'; readonly at: number }
  | { readonly type: 'background_settled'; readonly at: number }
  | { readonly type: 'deleted'; readonly at: number }
  /** What effects lead to. */
  | { readonly type: 'answered'; readonly at: number; readonly generation: number; readonly answers: Answers }
  /** It is not for us to judge, or what is needed for it is not to be had. */
  | { readonly type: 'unanswered'; readonly at: number; readonly generation: number; readonly why: string }
  | (Outcome & { readonly type: 'saved' })
  /** `id`: what the host calls the message. `aborted`: it did not fail by itself, somebody ended it. */
  | (Outcome & { readonly type: 'sent'; readonly id?: string | undefined; readonly aborted?: boolean | undefined })
  | { readonly type: 'woken'; readonly at: number; readonly generation: number }

/** What is to be done about it. */
export type Effect =
  /** Gather the facts; `recall`: also what is remembered from before. Leads to `answered` or `unanswered`. */
  | { readonly type: 'ask'; readonly generation: number; readonly recall: boolean }
  | { readonly type: 'toast'; readonly seconds: number; readonly open: number }
  /** There is one alarm for a session: a new one takes the place of the old. Leads to `woken`. */
  | { readonly type: 'wake'; readonly at: number; readonly generation: number }
  | { readonly type: 'cancel' }
  /** In the order in which they come. Leads to `saved`. */
  | { readonly type: 'save'; readonly standing: Standing; readonly generation: number }
  /** At once: nothing may come between the signal and this. Leads to `sent`. */
  | { readonly type: 'inject'; readonly work: Work; readonly agent: string | undefined; readonly generation: number }
  | { readonly type: 'log'; readonly what: Told; readonly why?: string | undefined }

type Told = 'counting down' | 'left alone' | 'called off' | 'sending on' | 'sent on' | 'could not be sent on'

export interface Reaction {
  readonly state: SessionState
  readonly effects: readonly Effect[]
}
