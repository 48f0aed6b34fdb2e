import { move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { itemsOf } from './current-turn.ts'
import { type PlanItem, planItem, type Turn } from './record.ts'

/** Leaves an item to a person, with what is needed. Repeated with the same words it writes nothing. */
export async function leaveToPerson(
  caller: Caller,
  of: Turn,
  item: PlanItem,
  { needs, why }: { readonly needs: string; readonly why: string },
): Promise<void> {
  if (item.needs === needs) return
  await move(caller.store, planItem, {
    id: item.id,
    where: itemsOf(of),
    to: 'pending',
    fields: { needs },
    by: caller.by,
    at: caller.now().toISOString(),
    why: why.slice(0, 200),
  })
}
