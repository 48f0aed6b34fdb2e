import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ModelServer, Script } from '../script.ts'

/** A real program, and how it is run with nobody at the keyboard. */
export interface DrivenHost {
  /** As `punchlist hook` and `punchlist init` call it. */
  readonly name: string
  readonly model: (script: Script) => Promise<ModelServer>
  /** What `punchlist init` is told besides, to wire this host. */
  readonly init?: readonly string[]
  /** What is run to install it otherwise. */
  readonly installing?: readonly (readonly string[])[]
  /** Writes what the host needs to find the model, as its user would have. */
  prepare(place: Place, model: string): void
  /** What is run for one prompt, in a new session or in one that has been. */
  command(prompt: string, resumed?: string): readonly string[]
  env(model: string): Readonly<Record<string, string>>
  /** The id of the session, in what it printed. */
  readonly session: RegExp
  /** How several prompts are given to one process, where it takes them. */
  readonly talk?: {
    readonly command: readonly string[]
    readonly line: (prompt: string) => string
    /** What it prints when it has answered one. */
    readonly answered: string
  }
  /** How often it may be sent on in one turn, where the host has a limit below ours. */
  readonly limit?: number
}

/** A home and a project that nobody else uses. */
export interface Place {
  readonly home: string
  readonly project: string
}

/** Where the programs are installed. */
export const PROGRAMS = join(import.meta.dirname, '../programs/node_modules')

/** How hosts start our own program. */
export const PUNCHLIST = [process.execPath, join(import.meta.dirname, '../../../bin/punchlist.js')] as const

/** The package that holds the program for this machine. */
export function native(name: string): string {
  return join(PROGRAMS, `${name}-${process.platform}-${process.arch}`)
}

export function put(folder: string, file: string, content: unknown): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
}
