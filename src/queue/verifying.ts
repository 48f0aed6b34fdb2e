import { requireToken } from '../core/authority.ts'
import { amend } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { runWards, wardLine } from '../core/wards.ts'
import { namedToken } from './acting.ts'
import { task } from './kind.ts'
import { locate } from './locating.ts'
import { logging } from './logging.ts'
import type { Verified } from './verified.ts'

/** Runs the wards for a task that somebody calls done; refuses where one fails. Undefined where there are none, or they may not be run. */
export async function verifiedBy(
  caller: Caller,
  name: string,
  token: number | undefined,
): Promise<Verified | undefined> {
  const item = await locate(caller, name)
  if (item.status !== 'in_progress') return undefined
  await requireToken(caller, task, item, namedToken(caller, item.id, token))
  const wards = await runWards(caller)
  if (!wards || wards.verdict === 'unknown') return undefined
  if (wards.verdict === 'passed') {
    return { at: caller.now().toISOString(), commands: caller.wards.commands.map(wardLine) }
  }
  await noteWardFailed(caller, item.id, wards.text)
  const last = wards.failed?.output.trim().split('\n').slice(-10).join('\n').slice(-800)
  throw new Problem(
    'move_refused',
    `${item.id} is not done: ${wards.text}`,
    `Mend what it complains of and complete the task again.${last ? ` It said last:\n${last}` : ''}`,
    { id: item.id, verification: wards.failed ?? null },
  )
}

/** That somebody called a task done is kept with it, and what a ward said of that. */
export async function noteWardFailed(caller: Caller, id: string, text: string, token?: number): Promise<void> {
  const at = caller.now().toISOString()
  await amend(caller.store, task, {
    id,
    token,
    fields: () => ({}),
    texts: logging({ at, by: caller.by, what: 'claimed as completed', note: text }),
    by: caller.by,
    at,
    why: `claimed as completed, but a ward ${text}`.slice(0, 200),
  })
}
