import type { RunState } from './state.ts'

/** What happened in a run, in order. Times are ISO. */
export type Happening =
  | { readonly what: 'run_started'; readonly agent: string; readonly workers: number; readonly name: string }
  /** A task that the user did not add here and was not shown before: each is told once, in whichever run. */
  | { readonly what: 'not_added_here'; readonly task: string; readonly title: string }
  | { readonly what: 'more_not_added_here'; readonly count: number }
  | {
      readonly what: 'claimed'
      readonly worker: string
      readonly task: string
      readonly title: string
      readonly token: number
    }
  | {
      readonly what: 'agent_started'
      readonly task: string
      readonly attempt: number
      readonly pid: number | null
      readonly session: string | null
    }
  | {
      readonly what: 'agent_ended'
      readonly task: string
      readonly attempt: number
      readonly exit: number | null
      readonly signal: string | null
      readonly ms: number
    }
  | { readonly what: 'sent_on'; readonly task: string; readonly open: number }
  /** `passed` is null where they were not run. */
  | { readonly what: 'wards'; readonly task: string; readonly passed: boolean | null; readonly text: string }
  | {
      readonly what: 'ended'
      readonly task: string
      readonly title: string
      readonly outcome: Outcome
      readonly text: string
      readonly ms: number
      readonly attempts: number
      readonly costUsd: number | null
    }
  | {
      readonly what: 'run_ended'
      readonly counts: Readonly<Record<string, number>>
      readonly ms: number
      /** Why it could not go on. */
      readonly error?: string
    }

export type Outcome = 'completed' | 'failed' | 'returned' | 'lost' | 'waiting'
export type Entry = Happening & { readonly at: string }

/**
 * A run's own account, a line for each thing that happened: readable while it
 * goes on, and when it was killed. Its first line carries the workspace's seal.
 */
export class Diary {
  private readonly state: RunState
  private readonly file: string
  private readonly now: () => Date
  private readonly onEntry: (entry: Entry) => void

  constructor(state: RunState, name: string, now: () => Date, onEntry: (entry: Entry) => void) {
    state.make()
    this.state = state
    this.file = `${name}.jsonl`
    this.now = now
    this.onEntry = onEntry
  }

  tell(happening: Happening): void {
    const entry: Entry = { at: this.now().toISOString(), ...happening }
    const sealed = happening.what === 'run_started' ? { ...entry, seal: this.state.seal } : entry
    try {
      this.state.append(`${JSON.stringify(sealed)}\n`, this.file)
    } catch {
      // An account that cannot be written, on a disk that is full say, stops no work.
    }
    this.onEntry(entry)
  }
}

/** The seal stands in the first line, which is not long. */
const FIRST_LINE = 64 * 1024
const LARGEST = 256 * 1024 * 1024

/** The names of the runs that left an account here, the newest first; an account without the seal is none of ours. */
export function runsIn(state: RunState): string[] {
  return state
    .names()
    .filter(name => name.endsWith('.jsonl') && isOurs(state, name))
    .map(name => name.slice(0, -'.jsonl'.length))
    .toSorted()
    .toReversed()
}

function isOurs(state: RunState, file: string): boolean {
  try {
    const [first = ''] = (state.beginning(FIRST_LINE, file) ?? '').split('\n')
    return state.opened(first)?.['what'] === 'run_started'
  } catch {
    // A link or a pipe, say.
    return false
  }
}

/** What a run told; a line that was cut off when it was killed is left out. Nothing, where the account is not ours. */
export function entriesOf(state: RunState, name: string): Entry[] {
  const file = `${name}.jsonl`
  if (!isOurs(state, file)) return []
  const [first = '', ...lines] = (state.text(LARGEST, file) ?? '').split('\n')
  const begun = state.opened(first)
  if (!begun) return []
  const rest = lines.flatMap(line => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Entry]
    } catch {
      return []
    }
  })
  return [begun as unknown as Entry, ...rest]
}
