import type { Caller } from '../core/operation.ts'
import { Problem, type ProblemCode } from '../core/problem.ts'
import { checkedSession, type Whereabouts, type Workflow } from '../core/session.ts'
import type { Unreadable } from '../core/store.ts'
import { folderOf } from './names.ts'

/** The place where it is kept is in the way, and not the one who writes. */
const IN_THE_WAY: ReadonlySet<ProblemCode> = new Set([
  'store_full',
  'store_read_only',
  'store_busy',
  'store_unreachable',
])

/**
 * Does something about a worklog. What keeps it from being written must not
 * keep its worker from working: that is a warning, and the work goes on. A
 * worklog that is missing because it could not be written before is no mistake
 * of the worker's either.
 */
export async function regardless<T>(
  caller: Caller,
  flow: Workflow | undefined,
  work: () => Promise<T>,
  otherwise = 'the worklog was not written',
): Promise<T | { readonly hindered: Unreadable }> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const hindrance = IN_THE_WAY.has(error.code) ? error : await behind(caller, flow, error)
    if (!hindrance) throw error
    const { message, details } = hindrance
    const file = typeof details['file'] === 'string' ? details['file'] : caller.work
    return { hindered: { file, line: 1, message: `${otherwise}: ${message}` } }
  }
}

/** Which session is meant, as far as that can be told without asking the store. */
export function meant({ scope: { session = 'default' } }: Caller, workflow: Workflow = 'work'): Whereabouts {
  return { workflow, session: checkedSession(session) }
}

async function behind(caller: Caller, flow: Workflow | undefined, { code }: Problem): Promise<Problem | undefined> {
  return code === 'not_found' ? await caller.documents.hindrance(folderOf(meant(caller, flow))) : undefined
}
