import { isSession } from './agents/agent.ts'
import type { RunState } from './state.ts'

/** What is remembered of a task between its claims, on this machine. */
export interface Memory {
  /** How often an agent was begun for it. */
  readonly attempts: number
  /** The agent that was last at it, and its session. */
  readonly agent: string | null
  readonly session: string | null
  /** What came of the attempts that failed. */
  readonly before: readonly string[]
  /** How often an agent has given it back, for whatever reason. */
  readonly givenBack: number
}

const NEW: Memory = { attempts: 0, agent: null, session: null, before: [], givenBack: 0 }
const LARGEST = 8 * 1024 * 1024

export function recall(state: RunState, id: string): Memory {
  const memory = state.sealed(LARGEST, 'tasks', `${id}.json`) as Partial<Memory> | undefined
  if (!memory) return NEW
  // It becomes a word of a command.
  const session = isSession(memory.session) ? memory.session : null
  return { ...NEW, ...memory, session }
}

/** On a disk that is full nothing is remembered, which stops no work. */
export function remember(state: RunState, id: string, memory: Memory): void {
  try {
    state.keep(memory, 'tasks', `${id}.json`)
  } catch {
    // The next attempt begins anew.
  }
}

/** Nobody will try it again. */
export function forget(state: RunState, id: string): void {
  state.drop(LARGEST, 'tasks', `${id}.json`)
}
