import { COMPLETION_MODES, type CompletionMode } from '../core/completion.ts'
import { newId } from '../core/id.ts'
import { openStatuses } from '../core/lifecycle.ts'
import { move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { itemsOf, openedTurn } from './current-turn.ts'
import { planItem, type Turn, turn } from './record.ts'

/**
 * The turn a new plan goes into. Without a named one, a turn begins by itself
 * when a plan is made while nothing is open; the one before has then ended.
 */
export async function turnForNewItems(caller: Caller, wish?: TurnWish): Promise<{ of: Turn; before?: Turn }> {
  const present = await openedTurn(caller)
  const { turnId } = caller.scope
  if (turnId !== undefined) return { of: present ?? (await begin(caller, { turnId, named: 1 }, wish)) }
  if (present && (present.named === 1 || !(await isDrained(caller, present)))) return { of: present }
  // Rivals that find the same turn drained begin the same successor, because it has one identity.
  const of = await begin(caller, { turnId: newId(), named: 0, identity: `after:${present?.id ?? ''}` }, wish)
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
    const opened = await begin(caller, { turnId: wanted ?? newId(), named: 1 }, wish)
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
  if (strictness(completion) < strictness(present.completionMode)) {
    throw new Problem(
      'move_refused',
      `Turn ${present.turnId} is in mode ${present.completionMode}; it cannot be loosened to ${completion}`,
      'Open a new turn with the mode you want: punchlist plan turn NAME --completion MODE',
      { turnId: present.turnId, completion: present.completionMode },
    )
  }
  return await move(caller.store, turn, {
    id: present.id,
    to: present.status,
    fields: { completionMode: completion, checkCommand: wish.checkCommand ?? present.checkCommand },
    by: caller.by,
    at: caller.now().toISOString(),
    why: `completions are ${completion}`,
  })
}

/** How completions are believed in a turn that goes on with the plan of another: as strictly as in that one. */
export function rulesOf(caller: Caller, { completionMode, checkCommand }: Turn): TurnWish {
  if (strictness(completionMode) < strictness(caller.completion)) return {}
  return { completion: completionMode, checkCommand: checkCommand ?? undefined }
}

/** Whether it has had a plan, and nothing of it is left. A turn that has just begun is not drained. */
async function isDrained(caller: Caller, of: Turn): Promise<boolean> {
  const counts = await caller.store.count(planItem, { where: itemsOf(of) })
  const open = openStatuses(planItem.lifecycle)
  return Object.keys(counts).length > 0 && !open.some(status => counts[status])
}

async function begin(
  caller: Caller,
  { turnId, named, identity }: { turnId: string; named: number; identity?: string },
  wish: TurnWish = {},
): Promise<Turn> {
  const { conversationId } = caller.scope
  const at = caller.now().toISOString()
  const fields = {
    conversationId,
    turnId,
    named,
    completionMode: wish.completion ?? caller.completion,
    checkCommand: wish.checkCommand ?? null,
    createdAt: at,
  }
  const key = `${JSON.stringify(conversationId)}:${identity ?? `turn:${turnId}`}`
  const [added] = await caller.store.insert(
    turn,
    [{ id: newId(), title: named === 1 ? turnId : 'unnamed turn', status: 'open', identity: key, fields }],
    { by: caller.by, at },
  )
  return added!.item
}

async function end(caller: Caller, { id }: Turn): Promise<void> {
  await move(caller.store, turn, { id, to: 'ended', by: caller.by, at: caller.now().toISOString() })
}

function strictness(mode: CompletionMode): number {
  return COMPLETION_MODES.indexOf(mode)
}
