import { Problem } from '../../core/problem.ts'

export interface Warning {
  readonly path: string
  readonly message: string
}

/** What a caller has to know of what was done, or could not be done for others: kept until it is asked for. */
export class Warnings {
  private readonly kept = new Map<string, Warning>()

  add(path: string, message: string): void {
    if (this.kept.size < MOST) this.kept.set(`${path}\n${message}`, { path, message })
  }

  /**
   * Does what comes after the point from which something has happened: a problem is a warning then, and the answer is
   * `otherwise`. A bug of our own is thrown all the same.
   */
  unlessHindered<T>(path: string, what: string, work: () => T, otherwise: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      this.add(path, `${what}: ${error.message}`)
      return otherwise()
    }
  }

  take(): Warning[] {
    const all = [...this.kept.values()]
    this.kept.clear()
    return all
  }
}

/** Nobody reads more of them at once. */
const MOST = 20
