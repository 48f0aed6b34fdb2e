import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What happened in a run, in order. Times are ISO. */
export type Happening =
  | { readonly what: 'run_started'; readonly agent: string; readonly workers: number; readonly name: string }
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

/** A run's own account, a line for each thing that happened: readable while it goes on, and when it was killed. */
export class Diary {
  readonly path: string
  private readonly now: () => Date
  private readonly onEntry: (entry: Entry) => void

  constructor(folder: string, name: string, now: () => Date, onEntry: (entry: Entry) => void) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.path = join(folder, `${name}.jsonl`)
    this.now = now
    this.onEntry = onEntry
  }

  tell(happening: Happening): void {
    const entry: Entry = { at: this.now().toISOString(), ...happening }
    try {
      appendFileSync(this.path, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
    } catch {
      // An account that cannot be written, on a disk that is full say, stops no work.
    }
    this.onEntry(entry)
  }
}

/** The names of the runs that left an account, the newest first. */
export function runsIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => name.endsWith('.jsonl'))
    .map(name => name.slice(0, -'.jsonl'.length))
    .toSorted()
    .toReversed()
}

/** What a run told; a line that was cut off when it was killed is left out. */
export function entriesOf(folder: string, name: string): Entry[] {
  return readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .split('\n')
    .flatMap(line => {
      try {
        return line === '' ? [] : [JSON.parse(line) as Entry]
      } catch {
        return []
      }
    })
}
