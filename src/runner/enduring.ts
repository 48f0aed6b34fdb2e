import { setTimeout as sleep } from 'node:timers/promises'
import { PROBLEMS, Problem } from '../core/problem.ts'

const FIRST_MS = 500
const LONGEST_MS = 15_000
/** After so long it is told to whoever started the run. */
const GIVEN_UP_MS = 600_000

/** Asks the store again while it does not answer: an agent may have worked for hours for what is to be written. */
export async function enduring<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + GIVEN_UP_MS
  for (let wait = FIRST_MS; ; wait = Math.min(wait * 2, LONGEST_MS)) {
    try {
      return await work()
    } catch (error) {
      const passing = error instanceof Problem && PROBLEMS[error.code].exit === PROBLEMS.store_unreachable.exit
      if (!passing || !PROBLEMS[error.code].retry || signal.aborted || performance.now() > end) throw error
      await sleep(wait, undefined, { signal }).catch(() => undefined)
    }
  }
}
