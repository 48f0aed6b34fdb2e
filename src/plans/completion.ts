import { move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { itemsOf } from './current-turn.ts'
import { evidenceIn } from './evidence.ts'
import { type PlanItem, planItem, type Turn } from './record.ts'

/** What a completion rests on in a turn that does not take it on word, as fields for the judge to look at. */
export async function grounds(
  caller: Caller,
  of: Turn,
  item: PlanItem,
  outcome: string,
): Promise<Record<string, unknown>> {
  const { completionMode } = of
  const evidence = evidenceIn(outcome)
  const named = { completionMode, evidence: evidence.length > 0 ? evidence : null }
  const checkCommand = item.checkCommand ?? of.checkCommand
  if (completionMode === 'evidence' || !checkCommand) return named
  if (!(await caller.checks.mayRun(checkCommand))) {
    throw new Problem(
      'move_refused',
      `The check of ${item.id} came with this folder or an import and was not run: ${checkCommand.join(' ')}`,
      'If you know the command and want it to be run here, accept it: punchlist trust',
      { id: item.id, checkCommand },
    )
  }
  const { runCheck } = await import('../core/check.ts')
  const verification = await runCheck(checkCommand, { cwd: caller.here, now: caller.now })
  if (verification.exit === 0) return { ...named, checkCommand, verification, verifiedAt: verification.at }
  const how = verification.exit === null ? (verification.signal ?? 'could not be started') : `exit ${verification.exit}`
  const last = verification.output.trim().split('\n').slice(-10).join('\n').slice(-800)
  // The failed check is kept with the item: that somebody claimed completion is a fact, too.
  await move(caller.store, planItem, {
    id: item.id,
    where: itemsOf(of),
    to: item.status,
    fields: { verification },
    by: caller.by,
    at: verification.at,
    why: `claimed as completed, but its check failed: ${how}`,
  })
  throw new Problem(
    'move_refused',
    `The check of ${item.id} failed (${how}): ${checkCommand.join(' ')}`,
    `Mend what it complains of and complete the item again.${last ? ` It said last:\n${last}` : ''}`,
    { id: item.id, verification },
  )
}
