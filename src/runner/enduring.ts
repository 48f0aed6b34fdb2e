import { setTimeout as sleep } from 'node:timers/promises'
import { PROBLEMS, Problem, type ProblemCode } from '../core/problem.ts'
import { unlessReported } from '../queue/claiming.ts'

const FIRST_MS = 500
const LONGEST_MS = 15_000
/** After so long it is told to whoever started the run. */
const GIVEN_UP_MS = 600_000

/** What is wrong with one task, its files or its worktree. Where it is the whole store, the next claim says so. */
const ITS_OWN: ReadonlySet<ProblemCode> = new Set([
  'bad_input',
  'changed_meanwhile',
  'store_read_only',
  'unreadable_file',
  'untrusted',
])

export function isItsOwn(error: unknown): error is Problem {
  return error instanceof Problem && ITS_OWN.has(error.code)
}

/** Whether something else lies where the directory of a task is to go: only a person can say which of the two counts. */
export function isInTheWay(error: unknown): boolean {
  return error instanceof Problem && error.code === 'move_refused' && typeof error.details['name'] === 'string'
}

/** Passes over what another has decided first, and what is wrong with one task. */
export function unlessItsOwn(error: unknown): undefined {
  return isItsOwn(error) ? undefined : unlessReported(error)
}

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
