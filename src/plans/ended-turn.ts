import type { Caller } from '../core/operation.ts'
import { type PlanItem, type Turn, turn } from './record.ts'
import { turnForNewItems } from './turns.ts'

/**
 * Brings items along that were added to a turn which another process ended in
 * the meantime. The process that adds and the one that ends the turn both look;
 * the copies are made once, also where both find them.
 */
export async function settled(
  caller: Caller,
  { of, before, added }: { of: Turn; before: Turn | undefined; added: PlanItem[] },
): Promise<{ of: Turn; added: PlanItem[] }> {
  if (before) await copied(caller, before, of)
  if (caller.scope.turnId !== undefined) return { of, added }
  const [now] = await caller.store.find(turn, { where: { id: of.id }, limit: 1 })
  if (now?.status !== 'ended') return { of, added }
  const next = (await turnForNewItems(caller)).of
  const copies = await copied(caller, of, next)
  const ids = new Set(added.map(({ id }) => id))
  return { of: next, added: copies.filter(({ carriedFrom }) => carriedFrom !== null && ids.has(carriedFrom)) }
}

/** Loaded only for a turn that has ended: most additions go into the one that is open. */
async function copied(caller: Caller, source: Turn, of: Turn): Promise<PlanItem[]> {
  return await (await import('./carrying.ts')).copyOpen(caller, source, of)
}
