import { codeOf } from '../core/disk.ts'
import { writeNew } from '../core/files.ts'
import type { RunState } from './state.ts'

/**
 * Gives numbers to the tasks of a session, each to one task, also where several
 * runs on this machine do so at once: a number is taken by making a file.
 */
export class TaskNumbers {
  private readonly state: RunState
  private readonly session: string
  private readonly known: Map<string, number>
  private last: number

  /** `known`: the numbers that tasks have in the session, by their keys; `last`: the highest that any has. */
  constructor(state: RunState, session: string, known: ReadonlyMap<string, number>, last: number) {
    this.state = state
    this.session = session
    this.known = new Map(known)
    this.last = last
  }

  /** The number of a task, the one that it had before if it had one; `fresh` where that has become another's. */
  of(key: string, fresh = false): number {
    const before = fresh ? undefined : this.known.get(key)
    if (before !== undefined) return before
    const taken = this.taken()
    let number = Math.max(this.last, ...taken) + 1
    while (!this.take(number)) number++
    this.last = number
    this.known.set(key, number)
    return number
  }

  private taken(): number[] {
    try {
      const numbers = this.state.names('numbers', this.session).map(name => (/^\d{1,9}$/.test(name) ? Number(name) : 0))
      // A file that came with a folder would use up all numbers there are.
      return numbers.filter(number => number < this.last + MOST_AHEAD)
    } catch {
      // A folder that leads elsewhere.
      return []
    }
  }

  /** Where nothing can be kept there is nobody to share with: a number that two runs give is told apart by its subject. */
  private take(number: number): boolean {
    if (this.state.seal === undefined) return true
    try {
      this.state.make('numbers', this.session)
      writeNew(this.state.path('numbers', this.session, String(number)), '')
      return true
    } catch (error) {
      return codeOf(error) !== 'EEXIST'
    }
  }
}

/** How far other runs may be ahead. */
const MOST_AHEAD = 100_000
