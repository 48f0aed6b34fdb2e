import type { TodoContinuationConfig } from '../continuation/settings.ts'
import type { Accepted } from '../core/git.ts'
import type { Caller } from '../core/operation.ts'
import type { Agent } from './agents/agent.ts'
import type { Diary } from './diary.ts'
import type { Guard } from './guard.ts'
import type { Logbook } from './logbook.ts'
import type { Rest } from './marked.ts'
import type { RunState } from './state.ts'

/** The tasks that the user of a run did not add here. */
interface Arrivals {
  /** Those that are open, or the one with this id, as far as the user was not shown them before. */
  unseen(id?: string): Promise<readonly { readonly id: string; readonly title: string }[]>
}

/** Everything that the workers of a run share. */
export interface Run {
  /** On whose behalf the queue is asked. */
  readonly caller: Caller
  readonly agent: () => Agent
  readonly leaseMs: number
  /** How often an agent is begun for a task before it has failed. */
  readonly maxAttempts: number
  /** How long an attempt at a task may take, whatever its agent is sent on for; undefined for as long as it takes. */
  readonly timeoutMs: number | undefined
  /** What a task may cost in US dollars, as far as its agent tells. */
  readonly budgetUsd: number | undefined
  readonly worktree: boolean
  /** Whether the user has accepted a program that the repository has git run on checkout. */
  readonly accepted: Accepted
  readonly continuation: TodoContinuationConfig
  /** The environment that agents get, ours aside. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The store that whoever started the run has named, by flag or environment: its agents have the same. */
  readonly store: string | undefined
  /** What runs remember. */
  readonly state: RunState
  readonly diary: Diary
  readonly guard: Guard
  readonly logbook: Logbook
  readonly rest: Rest
  readonly arrivals: Arrivals
  /** Told what an agent says, as it says it. */
  readonly onSaid: (task: string, text: string) => void
  /** Aborted when whoever started the run wants it to stop. */
  readonly signal: AbortSignal
}
