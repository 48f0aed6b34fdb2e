import { DEFAULT_CONFIG } from '../../src/continuation/settings.ts'
import type { Caller } from '../../src/core/operation.ts'
import { command } from '../../src/runner/agents/command.ts'
import { Diary, type Entry } from '../../src/runner/diary.ts'
import { Guard } from '../../src/runner/guard.ts'
import { Logbook } from '../../src/runner/logbook.ts'
import { Rest } from '../../src/runner/marked.ts'
import { type Counts, drain } from '../../src/runner/runner.ts'
import { RunState } from '../../src/runner/state.ts'

export interface RunIn {
  readonly caller: Caller
  readonly command: readonly string[]
  readonly workers: number
  readonly onEntry: (entry: Entry) => void
}

/** Drains a queue in this process, where the store and the clock can be anything. */
export async function runIn(root: string, { caller, command: words, workers, onEntry }: RunIn): Promise<Counts> {
  const state = new RunState(root, caller.seal())
  const diary = new Diary(state, 'here', caller.now, onEntry)
  const [guard, logbook, rest] = [new Guard(), new Logbook(caller, state), new Rest()]
  const run = {
    caller,
    agent: () => command(words),
    leaseMs: 900_000,
    maxAttempts: 1,
    timeoutMs: 600_000,
    budgetUsd: undefined,
    worktree: false,
    accepted: async () => false,
    continuation: DEFAULT_CONFIG,
    env: process.env,
    store: undefined,
    state,
    diary,
    guard,
    logbook,
    rest,
    arrivals: { unseen: async () => [] },
    onSaid: () => undefined,
    signal: new AbortController().signal,
  }
  const names = Array.from({ length: workers }, (_, n) => `here-${n + 1}`)
  try {
    return await drain(run, { names, mode: 'drain', name: 'here' })
  } finally {
    guard.end()
    rest.end()
    await logbook.settled()
  }
}
