import { isPerson } from '../core/authority.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { leaveToPerson } from './person-wait.ts'
import { type PlanItem, planItem, type Turn, turn } from './record.ts'

/** Percent of a plan that anyone may cancel without a person. */
const MOST_CANCELLED = 25
/** So many turns that began by themselves are looked back on. */
const MOST_TURNS = 100

/**
 * Leaves to a person what would cancel a large part of a plan that has to be
 * verified: the item waits for one. Counts what was planned since the user last
 * spoke, across turns that began by themselves; what was planned later, to make
 * the plan longer, does not count for what was there before.
 */
export async function requireCancellable(caller: Caller, of: Turn, item: PlanItem, reason: string): Promise<void> {
  if (await isPerson(caller)) return
  const planned = await plannedUnasked(caller, of)
  if (!planned.some(({ id }) => id === item.id)) return
  const parts = [
    planned.filter(({ createdAt }) => createdAt <= item.createdAt),
    planned.filter(({ createdAt }) => createdAt === item.createdAt),
  ]
  const most = caller.planSettings.maxCancelled ?? MOST_CANCELLED
  const found = parts
    .map(part => ({ size: part.length, cancelled: cancelledWith(part, item) }))
    .find(({ size, cancelled }) => cancelled >= 2 && cancelled * 100 > most * size)
  if (!found) return
  const needs = `a person decides whether it is cancelled: ${reason}`
  await leaveToPerson(caller, of, item, { needs, why: `cancelling it waits for a person: ${reason}` })
  const { size, cancelled } = found
  throw new Problem(
    'move_refused',
    `Item ${item.id} was not cancelled: that would be ${cancelled} of ${size} planned items, and more than ${most} % take a person`,
    `It waits for a person now; go on with the others. A person cancels it (punchlist plan complete ${item.id} REASON --status cancelled) or has it done (punchlist plan unblock ${item.id}).`,
    { id: item.id, cancelled, planned: size, needs },
  )
}

function cancelledWith(items: readonly PlanItem[], { id }: PlanItem): number {
  return items.filter(one => one.id === id || one.status === 'cancelled').length
}

/** The items that were planned since the user last spoke. */
async function plannedUnasked(caller: Caller, of: Turn): Promise<PlanItem[]> {
  const turns = await turnsUnasked(caller, of)
  const { conversationId } = of
  const where = { conversationId, turnId: turns.map(({ turnId }) => turnId) }
  const items = await caller.store.find(planItem, { where })
  const ids = new Set(items.map(({ id }) => id))
  // A copy stands for the item that it was carried from.
  const copied = new Set(items.map(({ carriedFrom }) => carriedFrom))
  const spoken = [caller.spokenAt ?? '', ...turns.map(({ spokenAt }) => spokenAt ?? '')].reduce((a, b) =>
    a > b ? a : b,
  )
  return items.filter(
    ({ id, carriedFrom, createdAt }) =>
      !copied.has(id) && (carriedFrom === null || ids.has(carriedFrom)) && createdAt >= spoken,
  )
}

/** The turn, and those before it, up to one that was opened from outside. */
async function turnsUnasked(caller: Caller, of: Turn): Promise<Turn[]> {
  const { conversationId } = of
  if (of.named === 1 || of.id === '') return [of]
  const before = await caller.store.find(turn, {
    where: { conversationId },
    newest: true,
    after: of.id,
    limit: MOST_TURNS,
  })
  const outside = before.findIndex(({ named }) => named === 1)
  return [of, ...(outside === -1 ? before : before.slice(0, outside + 1))]
}
