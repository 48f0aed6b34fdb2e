import type { Facts, Standing } from './judging.ts'
import type { TodoContinuationConfig } from './settings.ts'
import type { Todo } from './todos.ts'

/**
 * What the hook asks of whoever uses it. All of it may be absent, may answer at
 * once or later, and may fail: what cannot be asked is a reason not to inject.
 */
export interface TodoContinuationOptions {
  readonly config?:
    | { readonly [Key in keyof TodoContinuationConfig]?: TodoContinuationConfig[Key] | undefined }
    | undefined
  readonly getTodos?: ((sessionId: string) => Later<readonly Todo[] | null | undefined>) | undefined
  /** In order; only the last one of the assistant is looked at. */
  readonly getMessages?: ((sessionId: string) => Later<readonly SessionMessage[]>) | undefined
  /** May answer with what the host calls the message, or with an object that has it as `id`. */
  readonly injectPrompt?: ((sessionId: string, prompt: string, agent?: string) => unknown) | undefined
  readonly showToast?: ((toast: Toast) => unknown) | undefined
  /** Those that run, and those that wait to. */
  readonly getBackgroundTaskCount?: ((sessionId: string) => Later<number>) | undefined
  readonly getMainSessionId?: (() => Later<string | null | undefined>) | undefined
  readonly isSubagentSession?: ((sessionId: string) => Later<boolean>) | undefined
  readonly getAgentInfo?: ((sessionId: string) => Later<AgentInfo | null | undefined>) | undefined
  /** Whether it waits for the user's answer to a question that it asked by a tool made for that. */
  readonly isAwaitingAnswer?: ((sessionId: string) => Later<boolean>) | undefined
  /** Whether a person has switched it off, for this session or for all. */
  readonly isStopped?: ((sessionId: string) => Later<Facts['off']>) | undefined
  /** Keeps the budget over restarts. Read once for each session, then only written. */
  readonly memory?: Memory | undefined
  readonly clock?: Clock | undefined
  readonly log?: ((message: string, details: LogDetails) => unknown) | undefined
}

export interface LogDetails {
  readonly hook: string
  readonly sessionId: string
  readonly why?: string | undefined
}

export type Later<T> = T | PromiseLike<T>

export interface SessionMessage {
  readonly role?: string | undefined
  readonly error?: unknown
  /** Where a host keeps both of them one level down. */
  readonly info?: { readonly role?: string | undefined; readonly error?: unknown } | undefined
}

export interface Toast {
  readonly title: string
  readonly message: string
  readonly variant: string
  readonly duration?: number
}

export interface AgentInfo {
  readonly agent?: string | undefined
  /** Only a plain `false` keeps it from being sent on. */
  readonly hasWritePermission?: boolean | undefined
  /** Whether it plans only, whatever its name. */
  readonly planning?: boolean | undefined
}

export interface Memory {
  load(sessionId: string): Later<Standing | null | undefined>
  save(sessionId: string, standing: Standing): Later<unknown>
}

/** Milliseconds, and one alarm at a time for each session. */
export interface Clock {
  now(): number
  setTimeout(run: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
}
