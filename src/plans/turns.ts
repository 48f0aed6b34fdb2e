import { type CompletionMode, isLooser, stricter } from '../core/completion.ts'
import { newId } from '../core/id.ts'
import { openStatuses } from '../core/lifecycle.ts'
import { move, same } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { inheritedRules, itemsOf, newestTurn, openedTurn, type Rules } from './current-turn.ts'
import { planItem, type Turn, turn } from './record.ts'

/**
 * The turn a new plan goes into. Without a named one, a turn begins by itself
 * when a plan is made while nothing is open; the one before has then ended.
 * `atLeast`: rules that are no looser in a turn that begins.
 */
export async function turnForNewItems(caller: Caller, atLeast?: Rules): Promise<{ of: Turn; before?: Turn }> {
  const present = await openedTurn(caller)
  const { turnId } = caller.scope
  if (turnId !== undefined) return { of: present ?? (await beginNamed(caller, turnId, {}, atLeast)) }
  if (present && (present.named === 1 || !(await isDrained(caller, present)))) return { of: present }
  const before = present ?? (await newestTurn(caller))
  // Rivals that find the same turn drained begin the same successor, because it has one identity.
  const unnamed = { turnId: newId(), named: 0, identity: `after:${present?.id ?? ''}` }
  const of = await begin(caller, unnamed, tightened(inheritedRules(caller, before), atLeast), before)
  if (!present) return { of }
  await end(caller, present)
  return { of, before: present }
}

export interface TurnWish {
  readonly turnId?: string | undefined
  readonly completion?: CompletionMode | undefined
  readonly checkCommand?: readonly string[] | undefined
}

/** Opens a turn by name, or changes how the present one's completions are believed: stricter, never looser. */
export async function openTurn(caller: Caller, wish: TurnWish): Promise<Turn> {
  const wanted = wish.turnId ?? caller.scope.turnId
  const present = await openedTurn({ ...caller, scope: { ...caller.scope, turnId: wanted } })
  if (!present) {
    const before = await openedTurn({ ...caller, scope: { conversationId: caller.scope.conversationId } })
    const opened = await beginNamed(caller, wanted ?? newId(), wish)
    if (before) await end(caller, before)
    return opened
  }
  if (wish.turnId !== undefined && present.status === 'ended') {
    throw new Problem(
      'move_refused',
      `Turn ${present.turnId} has ended`,
      `Open a new turn and bring the open items along: punchlist plan turn NAME, then punchlist plan carry --from ${present.turnId}`,
      { turnId: present.turnId },
    )
  }
  const completion = wish.completion ?? present.completionMode
  if (isLooser(completion, present.completionMode)) {
    throw new Problem(
      'move_refused',
      `Turn ${present.turnId} is in mode ${present.completionMode}; it cannot be loosened to ${completion}`,
      'Open a new turn with the mode you want, which a person may: punchlist plan turn NAME --completion MODE',
      { turnId: present.turnId, completion: present.completionMode },
    )
  }
  const rules = { completionMode: completion, checkCommand: wish.checkCommand ?? present.checkCommand }
  if (same(rules.checkCommand, present.checkCommand) && completion === present.completionMode) return present
  const { changeOf, requireRight } = await import('./turn-rules.ts')
  await requireRight(caller, present, rules)
  return await move(caller.store, turn, {
    id: present.id,
    to: present.status,
    fields: rules,
    by: caller.by,
    at: caller.now().toISOString(),
    why: changeOf(present, rules),
  })
}

/** The strictest of both; a check of its own is not replaced. */
function tightened(rules: Rules, atLeast: Rules | undefined): Rules {
  if (!atLeast) return rules
  return {
    completionMode: stricter(rules.completionMode, atLeast.completionMode),
    checkCommand: rules.checkCommand ?? atLeast.checkCommand,
  }
}

/** Whether it has had a plan, and nothing of it is left. A turn that has just begun is not drained. */
async function isDrained(caller: Caller, of: Turn): Promise<boolean> {
  const counts = await caller.store.count(planItem, { where: itemsOf(of) })
  const open = openStatuses(planItem.lifecycle)
  return Object.keys(counts).length > 0 && !open.some(status => counts[status])
}

async function beginNamed(caller: Caller, turnId: string, wish: TurnWish, atLeast?: Rules): Promise<Turn> {
  const { requireOpening } = await import('./turn-rules.ts')
  const before = await newestTurn(caller)
  const inherited = tightened(inheritedRules(caller, before), atLeast)
  const rules = {
    completionMode: wish.completion ?? inherited.completionMode,
    checkCommand: wish.checkCommand ?? inherited.checkCommand,
  }
  const named = await requireOpening(caller, turnId, inherited, rules)
  return await begin(caller, { turnId, named }, rules, before)
}

async function begin(
  caller: Caller,
  { turnId, named, identity }: { turnId: string; named: number; identity?: string },
  rules: Rules,
  before: Turn | undefined,
): Promise<Turn> {
  const { conversationId } = caller.scope
  const at = caller.now().toISOString()
  const key = `${JSON.stringify(conversationId)}:${identity ?? `turn:${turnId}`}`
  const title = identity === undefined ? turnId : 'unnamed turn'
  const fields = { conversationId, turnId, named, ...rules, createdAt: at }
  const differs =
    before && !(same(before.checkCommand, rules.checkCommand) && before.completionMode === rules.completionMode)
  const why = differs ? (await import('./turn-rules.ts')).changeOf(before, rules) : undefined
  const [added] = await caller.store.insert(turn, [{ id: newId(), title, status: 'open', identity: key, fields }], {
    by: caller.by,
    at,
    why,
  })
  return added!.item
}

async function end(caller: Caller, { id }: Turn): Promise<void> {
  await move(caller.store, turn, { id, to: 'ended', by: caller.by, at: caller.now().toISOString() })
}
