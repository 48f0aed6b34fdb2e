import type { Verification } from '../core/check.ts'
import { move } from '../core/move.ts'
import type { Caller, Command } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { itemsOf } from './current-turn.ts'
import { evidenceIn } from './evidence.ts'
import { leaveToPerson } from './person-wait.ts'
import { type PlanItem, planItem, type Turn } from './record.ts'

/** Failing runs of a check until its item waits for a person. */
const MOST_CHECKS = 5

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
  const check = checkFor(caller, of, item)
  if (completionMode === 'evidence' || !check) return named
  const { command: checkCommand } = check
  if (!(await check.mayRun())) {
    throw new Problem(
      'move_refused',
      `The check of ${item.id} came with this folder or an import and was not run: ${checkCommand.join(' ')}`,
      'If you know the command and want it to be run here, accept it: punchlist trust',
      { id: item.id, checkCommand },
    )
  }
  const most = caller.planSettings.maxChecks ?? MOST_CHECKS
  if (failuresOf(item) >= most) throw await leftToPerson(caller, of, item, most)
  const { runCheck } = await import('../core/check.ts')
  const verification = await runCheck(checkCommand, {
    cwd: caller.here,
    now: caller.now,
    ...(caller.signal ? { signal: caller.signal } : {}),
  })
  caller.signal?.throwIfAborted()
  if (verification.exit === 0) return { ...named, checkCommand, verification, verifiedAt: verification.at }
  const how = howItEnded(verification)
  // The failed check is kept with the item: that somebody claimed completion is a fact, too.
  const kept = await move(caller.store, planItem, {
    id: item.id,
    where: itemsOf(of),
    to: item.status,
    fields: now => ({ verification: { ...verification, failures: failuresOf(now) + 1 } }),
    by: caller.by,
    at: verification.at,
    why: `claimed as completed, but its check failed: ${how}`,
  })
  if (failuresOf(kept) >= most) throw await leftToPerson(caller, of, kept, most)
  const last = endOf(verification)
  throw new Problem(
    'move_refused',
    `The check of ${item.id} failed (${how}): ${checkCommand.join(' ')}`,
    `Mend what it complains of and complete the item again.${last ? ` It said last:\n${last}` : ''}`,
    { id: item.id, verification },
  )
}

/** The check of an item: its own, that of its turn, or that of the settings. */
function checkFor(
  caller: Caller,
  of: Turn,
  item: PlanItem,
): { readonly command: Command; readonly mayRun: () => Promise<boolean> } | undefined {
  const command = item.checkCommand ?? of.checkCommand
  return command ? { command, mayRun: () => caller.checks.mayRun(command) } : caller.planSettings.check
}

/** How often the check of an item has failed since a person last let it go on. */
function failuresOf({ verification }: PlanItem): number {
  return verification?.failures ?? 0
}

/** Blocks an item whose check has failed as often as it may, with what the check printed. Returns the refusal. */
async function leftToPerson(caller: Caller, of: Turn, item: PlanItem, most: number): Promise<Problem> {
  const said = item.verification ? endOf(item.verification) : ''
  const needs = `its check failed ${most} times${said ? `. It said last: ${said.replaceAll('\n', ' ')}` : ''}`
  await leaveToPerson(caller, of, item, { needs, why: `waits for a person: its check failed ${most} times` })
  return new Problem(
    'move_refused',
    `The check of ${item.id} has failed ${most} times and is not run again: the item waits for a person`,
    `Go on with the others. A person lets it be tried again: punchlist plan unblock ${item.id}${said ? `\nThe check said last:\n${said}` : ''}`,
    { id: item.id, needs, verification: item.verification },
  )
}

function howItEnded({ exit, signal }: Verification): string {
  return exit === null ? (signal ?? 'could not be started') : `exit ${exit}`
}

function endOf({ output }: Verification): string {
  return output.trim().split('\n').slice(-10).join('\n').slice(-800)
}
