import { isAgent, isPerson } from '../core/authority.ts'
import { isLooser } from '../core/completion.ts'
import { openStatuses } from '../core/lifecycle.ts'
import { same } from '../core/move.ts'
import type { Caller, Command } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { itemsOf, newestTurn, openedTurn, type Rules } from './current-turn.ts'
import { planItem, type Turn } from './record.ts'

/** What changes between two sets of rules, for the log. */
export function changeOf(before: Rules, after: Rules): string {
  const [from, to] = [before, after].map(({ completionMode, checkCommand }) => ({
    completion: completionMode,
    check: checkCommand?.join(' ') ?? 'none',
  })) as [Shown, Shown]
  return (['completion', 'check'] as const)
    .filter(name => from[name] !== to[name])
    .map(name => `${name}: ${from[name].slice(0, LONGEST)} -> ${to[name].slice(0, LONGEST)}`)
    .join('; ')
}

interface Shown {
  readonly completion: string
  readonly check: string
}

const LONGEST = 200

/** Refuses an agent or a model rules that are looser, and a check that it names itself. Anyone may make rules stricter. */
export async function requireRight(caller: Caller, before: Rules, after: Rules): Promise<void> {
  const { completionMode } = before
  if (isLooser(after.completionMode, completionMode) && (await isSubject(caller))) {
    throw new Problem(
      'move_refused',
      `Completions here are believed as ${completionMode}; an agent cannot loosen that to ${after.completionMode}`,
      `Leave --completion out, or name a mode that is as strict; looser rules are for a person to set.`,
      { completion: completionMode },
    )
  }
  if (!same(after.checkCommand, before.checkCommand)) await requireNamer(caller, [after.checkCommand ?? undefined])
}

/** Refuses an agent or a model that names the command its own work is judged by. */
export async function requireNamer(caller: Caller, commands: readonly (Command | undefined)[]): Promise<void> {
  const named = commands.find(command => command !== undefined)
  if (named === undefined || !(await isSubject(caller))) return
  throw new Problem(
    'move_refused',
    `A check is named by a person, not by the agent whose work it judges: ${named.join(' ')}`,
    'Leave the check out. A person sets one: punchlist plan turn --check COMMAND, typed outside of the run.',
    { checkCommand: named },
  )
}

/**
 * Whether the caller may begin a turn of this name under these rules. An agent's
 * new turn does not take the place of a plan with open items. Returns 1 for a
 * turn that was asked for from outside, 0 for one that an agent began.
 */
export async function requireOpening(caller: Caller, turnId: string, inherited: Rules, rules: Rules): Promise<number> {
  await requireRight(caller, inherited, rules)
  // A supervisor names its turns after the messages that it is sent, also in a run.
  if (caller.spokenAt !== undefined || !(await isAgent(caller))) return 1
  const { conversationId } = caller.scope
  const present = await openedTurn({ ...caller, scope: { conversationId } })
  const counts = present ? await caller.store.count(planItem, { where: itemsOf(present) }) : {}
  const open = openStatuses(planItem.lifecycle).reduce((sum, status) => sum + (counts[status] ?? 0), 0)
  if (!present || open === 0) return 0
  throw new Problem(
    'move_refused',
    `Turn ${present.turnId} has ${open} open ${open === 1 ? 'item' : 'items'}; an agent cannot put turn ${turnId} in its place`,
    'Go on with the open items (punchlist plan list). Another turn is for a person to open.',
    { turnId: present.turnId, open },
  )
}

/** The rules for items that are added to a turn which is not the newest: an older turn may be looser. Undefined where it is not. */
export async function rulesForAdding(caller: Caller, of: Turn): Promise<Rules | undefined> {
  const newest = await newestTurn(caller)
  if (!newest || !isLooser(of.completionMode, newest.completionMode)) return undefined
  return (await isPerson(caller)) ? undefined : newest
}

/** Whether the caller is one whose work is judged by the rules. */
async function isSubject(caller: Caller): Promise<boolean> {
  const { who } = await caller.authority()
  return who === 'agent' || who === 'model'
}
