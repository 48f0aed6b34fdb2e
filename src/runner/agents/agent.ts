import { Problem } from '../../core/problem.ts'

/** A program to be started, word by word: no shell sees any of it. */
export interface Invocation {
  readonly program: string
  readonly args: readonly string[]
  /** What it gets on standard input. */
  readonly input?: string
}

/** What an agent tells while it works. */
export interface Heard {
  /** Its own name for the session, by which it can be carried on. */
  readonly session?: string
  /** What the session has cost so far, in US dollars. */
  readonly costUsd?: number
  /** The last thing it said. */
  readonly said?: string
}

/** A program that does tasks: how it is started, carried on and listened to. */
export interface Agent {
  readonly name: string
  /** What brings its program, in npm's registry. */
  readonly package?: string
  begin(prompt: string): Invocation
  /** Carries a session on; absent where it can only be begun anew, with another prompt. */
  resume?(session: string, prompt: string): Invocation
  /** One line that it printed. */
  hear(line: string): Heard
  /** Whether it has ended in good order, by its exit status; only 0 says so if absent. */
  isEnd?(exit: number): boolean
}

/** What is printed in lines of JSON; other lines tell nothing. */
export function jsonIn(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Whether this can name a session: it becomes a word of a command, and must never be taken for an option. */
export function isSession(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 200 && /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(value)
}

/** The name of a session as an agent tells it, if it can be one. */
export function session(value: unknown): string | undefined {
  return isSession(value) ? value : undefined
}

/** The same, where it is about to become a word of a command. */
export function sessionWord(value: string): string {
  const word: unknown = value
  if (isSession(word)) return word
  throw new Problem('bad_input', 'This cannot be the name of a session', 'Begin the task anew.', {
    session: String(word).slice(0, 60),
  })
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

/** Without the fields that are undefined. */
export function heard(fields: { [K in keyof Heard]?: Heard[K] | undefined }): Heard {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
