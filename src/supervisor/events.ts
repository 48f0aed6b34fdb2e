import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { LanguageModelUsage, ModelMessage } from 'ai'
import type { Counts } from '../plans/outlook.ts'

/** Something that is left in the plan at the end of a turn. */
export interface Left {
  readonly id: string
  readonly title: string
  readonly status: string
  /** What it waits for from a person; null where it could be worked on. */
  readonly needs: string | null
}

/** What came of a turn. */
export interface TurnResult {
  readonly conversationId: string
  readonly turnId: string
  /** The answer to the user. Where something is left in the plan, it is named at its end. */
  readonly text: string
  /** What is left, the first of it; `remaining` counts all of it. */
  readonly left: readonly Left[]
  readonly remaining: number
  /** What has become of the plan. */
  readonly counts: Counts
  /** How often the model was called, workers' calls aside. */
  readonly calls: number
  readonly usage: LanguageModelUsage
  /** `answered`: the plan was drained, or there was none. `budget`: the calls were used up. `unanswered`: a tool call waits for an approval. */
  readonly end: 'answered' | 'budget' | 'unanswered'
  /** What was said in this turn, for the history of the next: the user's message first. */
  readonly messages: readonly ModelMessage[]
}

export type SupervisorEvent =
  | { readonly type: 'turn_started'; readonly conversationId: string; readonly turnId: string }
  | { readonly type: 'call_started'; readonly call: number; readonly allowed: number; readonly remaining: number }
  /** `answer`: part of the answer to the user; otherwise what the model says while the plan is open. */
  | { readonly type: 'text'; readonly call: number; readonly text: string; readonly answer: boolean }
  | {
      readonly type: 'tool_called'
      readonly call: number
      readonly tool: string
      readonly id: string
      readonly input: unknown
    }
  | {
      readonly type: 'tool_answered'
      readonly call: number
      readonly tool: string
      readonly id: string
      readonly output: unknown
    }
  | {
      readonly type: 'tool_failed'
      readonly call: number
      readonly tool: string
      readonly id: string
      readonly error: string
    }
  | { readonly type: 'delegated'; readonly agentType: string; readonly todoId: string | null; readonly task: string }
  | {
      readonly type: 'worker_answered'
      readonly agentType: string
      readonly todoId: string | null
      readonly text: string
    }
  /** The item, if there was one, has gone back to the plan. */
  | {
      readonly type: 'worker_failed'
      readonly agentType: string
      readonly todoId: string | null
      readonly error: string
    }
  /** The model answered while something could still be done, or said nothing. */
  | { readonly type: 'sent_back'; readonly call: number; readonly remaining: number }
  | {
      readonly type: 'call_ended'
      readonly call: number
      readonly usage: LanguageModelUsage
      readonly finishReason: string
    }
  | { readonly type: 'turn_ended'; readonly result: TurnResult }
  | {
      readonly type: 'turn_failed'
      readonly error: unknown
      readonly remaining: number
      readonly counts: Counts
      readonly left: readonly Left[]
    }

/** What subscribers of the channels are handed: the same object from the start of a thing to its end. */
interface Trace {
  /** What went wrong, if anything did. */
  error?: unknown
  /** Set by a subscriber when something starts: it is then done inside this, for a context of the subscriber's own. */
  within?: <T>(work: () => T) => T
}

export interface TurnTrace extends Trace {
  readonly agent: string
  readonly conversationId: string
  readonly turnId: string
  readonly model: ModelName
  result?: TurnResult
}

/** `parent`, here and below: the trace of the turn it belongs to. */
export interface CallTrace extends Trace {
  readonly parent: object
  readonly agent: string
  readonly conversationId: string
  readonly call: number
  readonly model: ModelName
  result?: {
    readonly finishReason: string
    readonly usage: LanguageModelUsage
    readonly id?: string | undefined
    readonly model?: string | undefined
  }
}

export interface ToolTrace extends Trace {
  readonly parent: object
  readonly tool: string
  readonly id: string
  readonly input: unknown
  result?: unknown
}

export interface DelegationTrace extends Trace {
  readonly parent: object
  readonly agent: string
  readonly conversationId: string
  readonly todoId: string | null
  readonly task: string
  /** null where the worker is not a model. */
  readonly model: ModelName | null
  result?: string
}

export interface ModelName {
  readonly provider: string
  readonly id: string
}

/** The names of the channels: a tracing channel each, with start, end, asyncStart, asyncEnd and error. */
export const CHANNELS = {
  turn: 'punchlist:turn',
  call: 'punchlist:call',
  tool: 'punchlist:tool',
  delegation: 'punchlist:delegation',
} as const

const channels = {
  turn: tracingChannel<unknown, TurnTrace>(CHANNELS.turn),
  call: tracingChannel<unknown, CallTrace>(CHANNELS.call),
  tool: tracingChannel<unknown, ToolTrace>(CHANNELS.tool),
  delegation: tracingChannel<unknown, DelegationTrace>(CHANNELS.delegation),
}

export function traced<T>(name: 'turn', trace: TurnTrace, work: () => Promise<T>): Promise<T>
export function traced<T>(name: 'call', trace: CallTrace, work: () => Promise<T>): Promise<T>
export function traced<T>(name: 'tool', trace: ToolTrace, work: () => Promise<T>): Promise<T>
export function traced<T>(name: 'delegation', trace: DelegationTrace, work: () => Promise<T>): Promise<T>
/** Does a piece of work, and lets those know who listen to its channel. Costs nothing where nobody does. */
export function traced<T>(
  name: keyof typeof channels,
  trace: Trace & { result?: unknown },
  work: () => Promise<T>,
): Promise<T> {
  const channel = channels[name] as unknown as TracingChannel<unknown, object>
  return channel.hasSubscribers ? told(channel, trace, work) : work()
}

async function told<T>(
  channel: TracingChannel<unknown, object>,
  trace: Trace & { result?: unknown },
  work: () => Promise<T>,
): Promise<T> {
  let made: T
  const done = async () => {
    made = await (trace.within ? trace.within(work) : work())
    // The channel puts what this resolves to into the trace. Work that has put something there itself goes on with more than it tells.
    return trace.result ?? made
  }
  await channel.tracePromise(done, trace)
  return made!
}
