import { trimmed } from '../core/markdown.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { lastAttempt, type Rewriting, rewrite, type Told } from './accounts.ts'
import { accountOf } from './file/account.ts'
import { withOutcome, withSection } from './file/editing.ts'
import type { Account, TaskSection, Worklog } from './record.ts'
import { taskKey } from './task-key.ts'
import { whyVerified } from './verified-tasks.ts'

/** What a program that gives out tasks knows of one of them, whatever its worker wrote. */
export interface Settlement {
  readonly number: number
  readonly subject: string
  /** ISO times. */
  readonly claimed: string
  readonly ended: string
  /** Why it failed; undefined for a task that was completed. */
  readonly failure?: string | undefined
  /** What wards said that punchlist ran, and that passed. */
  readonly ward?: string | undefined
}

/** Writes down what became of tasks, in one write. What the worklog says already stays as it is. */
export async function settleTasks(caller: Caller, item: Worklog, settled: readonly Settlement[]): Promise<Told> {
  const change: Rewriting = (body, account) => {
    const missing = settled.filter(one => !attemptAt(account, one))
    const changed = settled
      .filter(one => !missing.includes(one))
      .reduce((text, one) => settledIn(text, accountOf(text), one), body)
    return missing.length === 0 ? changed : withAll(changed, missing)
  }
  return await rewrite(caller, item, change, whySettled(settled))
}

function whySettled(settled: readonly Settlement[]): string {
  const verified = settled.filter(({ ward }) => ward !== undefined)
  if (verified.length === settled.length) return whyVerified(verified.map(({ number }) => number))
  const [first] = settled
  if (settled.length > 1 || !first) return `${settled.length} tasks settled`
  return `Task #${first.number} ${first.failure === undefined ? 'completed' : `failed: ${first.failure}`}`
}

function attemptAt({ sections }: Account, wanted: Settlement): TaskSection | undefined {
  const section = lastAttempt(sections, wanted.number)
  return section && taskKey(section) === taskKey(wanted) ? section : undefined
}

function settledIn(body: string, account: Account, wanted: Settlement): string {
  const { status, ward } = attemptAt(account, wanted)!
  const outcome = outcomeOf(wanted)
  if (status === outcome.status) {
    // Its worker was first, and its words stay; what we saw of the wards comes before them.
    if (outcome.ward === undefined || ward?.startsWith(outcome.ward)) return body
    const both = ward === null ? outcome.ward : `${outcome.ward} (reported: ${ward})`
    return withOutcome(body, wanted.number, { status, ward: both })
  }
  const isOver = status === 'completed' || status === 'failed'
  const begun = isOver ? withSection(body, { ...wanted, subtasks: [] }) : body
  return withOutcome(begun, wanted.number, outcome)
}

function outcomeOf({ ended, failure, ward }: Settlement) {
  return failure === undefined
    ? ({ status: 'completed', completed: ended, ward } as const)
    : ({ status: 'failed', failure } as const)
}

/** The text with a section for each at its end: made one by one, as each editing reads the whole text. */
function withAll(body: string, settled: readonly Settlement[]): string {
  const before = accountOf(body)
  const sections = settled.map(one =>
    withOutcome(withSection('', { ...one, subtasks: [] }), one.number, outcomeOf(one)),
  )
  const kept = body.slice(0, trimmed(body, 0, body.length).end)
  const after = [...(kept === '' ? [] : [kept]), ...sections].join('\n\n')
  if (accountOf(after).sections.length === before.sections.length + settled.length) return after
  throw new Problem(
    'unreadable_file',
    'the worklog cannot be added to: its end would be taken for something else',
    'Look in it for a code fence or a comment that is never closed, and close it by hand.',
  )
}
