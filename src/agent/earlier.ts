import { openStatuses } from '../core/lifecycle.ts'
import type { Punchlist } from '../library.ts'
import { planItem, turn } from '../plans/record.ts'

/**
 * The turn of a conversation whose open items belong into a new one: the newest
 * with a plan, if something of that is open. What an older one has left was
 * brought along by the next, where its copy is finished by now. Undefined for a
 * turn that has items itself: it is carried on as it is.
 */
export async function turnToCarry(
  list: Punchlist,
  conversationId: string,
  turnId: string,
): Promise<string | undefined> {
  const plan = async (of: string) => await list.store.count(planItem, { where: { conversationId, turnId: of } })
  if (Object.keys(await plan(turnId)).length > 0) return undefined
  const turns = await list.store.find(turn, { where: { conversationId }, newest: true, limit: 50 })
  for (const { turnId: earlier } of turns) {
    const counts = await plan(earlier)
    if (Object.keys(counts).length === 0) continue
    return openStatuses(planItem.lifecycle).some(status => counts[status]) ? earlier : undefined
  }
  return undefined
}
