import type { LanguageModel, ModelMessage, ToolSet, UIMessage } from 'ai'
import type { CompletionMode } from '../core/completion.ts'
import type { Punchlist } from '../library.ts'
import type { Limits } from '../plans/budget.ts'
import type { SupervisorEvent } from './events.ts'

/** What a worker is told. */
export interface Assignment {
  readonly task: string
  /** The item of the plan that it is about, if it is about one. */
  readonly todo?: { readonly title: string; readonly context: string; readonly completionCriteria: string }
  /** The same as one text. */
  readonly prompt: string
}

interface AnyWorker {
  /** What it is good at: the supervisor's model chooses by this. */
  readonly description: string
  /** After so many milliseconds it has failed; 10 minutes if absent. */
  readonly timeoutMs?: number
}

/** A worker that is a model with tools of its own. */
export interface ModelWorker extends AnyWorker {
  /** The supervisor's if absent. */
  readonly model?: LanguageModel
  readonly instructions?: string
  readonly tools?: ToolSet
  /** Calls of the model at most; 20 if absent. */
  readonly maxSteps?: number
}

/** A worker that is anything else. What it returns is its answer; a worker that returns nothing has failed. */
export interface OwnWorker extends AnyWorker {
  run(assignment: Assignment, options: { readonly signal: AbortSignal }): Promise<string>
}

export type Worker = ModelWorker | OwnWorker

export interface SupervisorOptions {
  readonly model: LanguageModel
  /** Where the plan is kept: what `open()` gave. */
  readonly store: Punchlist
  /** Specialists by name, the `agentType` of an item. They never see the plan. */
  readonly workers?: Readonly<Record<string, Worker>>
  /** Tools of your own. */
  readonly tools?: ToolSet
  /** Whether the model can plan; it can if absent. Without, there is nothing to drain either. */
  readonly planning?: boolean
  /** What the model is told first; the planning section follows. */
  readonly instructions?: string
  /** Under which name it acts, in the log and as owner; `supervisor` if absent. */
  readonly name?: string
  /** How completions are believed: `self`, `evidence` or `verified`; what the workspace says if absent. */
  readonly completion?: CompletionMode
  /** The command that must exit 0 for an item to be completed, word by word; makes `completion` `verified` if absent. */
  readonly check?: readonly string[]
  /** Calls of the model in a turn: 10, and 50 with a plan that is being worked off. */
  readonly limits?: Partial<Limits>
  /** Messages of earlier turns that are sent along; 10 if absent. */
  readonly historyLimit?: number
  /** Messages of this turn that are sent along; when there are more, the older half goes. 100 if absent. */
  readonly turnLimit?: number
  /** Options for the provider that belong to the last message that stays as it is: where its cache may begin. */
  readonly cachePoint?: ProviderOptions
  readonly settings?: ModelSettings
  readonly onEvent?: (event: SupervisorEvent) => void
}

export type ProviderOptions = NonNullable<ModelMessage['providerOptions']>

/** Handed on to the model as they are. */
export interface ModelSettings {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly seed?: number
  readonly maxRetries?: number
  readonly headers?: Record<string, string>
  readonly providerOptions?: ProviderOptions
}

/** What the user said. Its turn is `metadata.turnId`, or its id. */
export type Message =
  | { readonly id: string; readonly content: string; readonly metadata?: unknown }
  | Pick<UIMessage, 'id' | 'parts' | 'metadata'>

export interface HandleOptions {
  /** Which conversation it is said in; `metadata.conversationId` of the message, or `default`, if absent. */
  readonly conversationId?: string
  /** What was said before, the oldest first. */
  readonly history?: readonly ModelMessage[]
  /** Brings what is open in an earlier turn along: that turn, or with true the newest that has something open. */
  readonly carry?: string | true
  readonly signal?: AbortSignal
}
