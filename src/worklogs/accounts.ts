import type { Texts } from '../core/kind.ts'
import { amend } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Unreadable } from '../core/store.ts'
import { accountOf } from './file/account.ts'
import { worklog } from './kind.ts'
import type { Account, TaskSection, Worklog } from './record.ts'

/** A worklog, and what its text tells. */
export interface Told {
  readonly item: Worklog
  readonly account: Account
  /** What whoever asked should know beside it. */
  readonly warning?: Unreadable | undefined
}

/** In bytes: files of more than a mebibyte are not read any more. */
const LONGEST = 960 * 1024

/** Worklogs with what their texts tell, in the same order; `brief` where that is only counted. */
export async function toldBy(caller: Caller, items: readonly Worklog[], brief = false): Promise<Told[]> {
  const texts = await caller.store.texts(
    worklog,
    items.map(({ id }) => id),
  )
  return items.map(item => ({ item, account: accountOf(texts.get(item.id)?.['body'] ?? '', brief) }))
}

/** What becomes of a worklog's text, given what it tells. */
export type Rewriting = (body: string, account: Account) => string

/** Changes the text of a worklog. */
export async function rewrite(caller: Caller, item: Worklog, change: Rewriting, why: string): Promise<Told> {
  let body = ''
  const texts = (kept: Texts) => {
    const before = kept['body'] ?? ''
    body = change(before, accountOf(before))
    if (Buffer.byteLength(body) > LONGEST) throw full(item)
    return { body }
  }
  const wanted = { id: item.id, known: item, by: caller.by, at: caller.now().toISOString(), why, texts }
  return { item: await amend(caller.store, worklog, wanted), account: accountOf(body) }
}

/** A worker's last attempt at a task. */
export function attemptAt({ worker }: Worklog, { sections }: Account, number: number): TaskSection {
  const section = lastAttempt(sections, number)
  if (section) return section
  const known = [...new Set(sections.map(one => one.number))]
  throw new Problem(
    'not_found',
    `Task #${number} is not in the worklog of ${worker}`,
    known.length > 0
      ? `There are: ${known.join(', ')}. Begin it first: punchlist worklog task ${worker} ${number} SUBJECT`
      : `Begin it first: punchlist worklog task ${worker} ${number} SUBJECT`,
    { name: worker, task: number, known },
  )
}

export function lastAttempt(sections: readonly TaskSection[], number: number): TaskSection | undefined {
  return sections.findLast(section => section.number === number)
}

function full({ worker }: Worklog): Problem {
  return new Problem(
    'store_full',
    `the worklog of ${worker} would be longer than ${LONGEST / 1024} KiB`,
    'Close it, and open one under another name.',
    { name: worker },
  )
}
