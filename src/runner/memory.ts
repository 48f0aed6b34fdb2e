import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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

export function recall(folder: string, id: string): Memory {
  const path = join(folder, `${id}.json`)
  if (!existsSync(path)) return NEW
  try {
    return { ...NEW, ...(JSON.parse(readFileSync(path, 'utf8')) as Partial<Memory>) }
  } catch {
    return NEW
  }
}

/** On a disk that is full nothing is remembered, which stops no work. */
export function remember(folder: string, id: string, memory: Memory): void {
  const path = join(folder, `${id}.json`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(`${path}.new`, JSON.stringify(memory), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch {
    // The next attempt begins anew.
  }
}

/** Nobody will try it again. */
export function forget(folder: string, id: string): void {
  rmSync(join(folder, `${id}.json`), { force: true })
}
