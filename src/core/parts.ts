import type { Item, Kind } from './kind.ts'
import { openStatuses } from './lifecycle.ts'
import { Problem } from './problem.ts'

/**
 * Refuses more parts of an item that is finished. An engine asks this in the
 * transaction that adds them: whoever looked before may have looked too early.
 */
export function refuseParts(kind: Kind, { id, status }: Pick<Item, 'id' | 'status'>): void {
  if (openStatuses(kind.lifecycle).includes(status)) return
  throw new Problem(
    'move_refused',
    `${id} is ${status}: it cannot get another part`,
    'Add it by itself instead, without a parent.',
    { id, status },
  )
}
