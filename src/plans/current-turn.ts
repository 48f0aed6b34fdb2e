import type { Caller } from '../core/operation.ts'
import { type Turn, turn } from './record.ts'

/**
 * Which turn a call is about: the one its scope names, or the newest that is
 * open in its conversation. A named turn need not have been opened here: its
 * items may be another program's.
 */
export async function currentTurn(caller: Caller): Promise<Turn | undefined> {
  const { turnId } = caller.scope
  return (await openedTurn(caller)) ?? (turnId === undefined ? undefined : unopened(caller, turnId))
}

/** A turn nobody has opened, as it would stand. */
export function unopened(caller: Caller, turnId: string): Turn {
  const { conversationId } = caller.scope
  const nobodys = { owner: null, token: 0, leaseUntil: null, identity: null, revision: 0, endedAt: null }
  const rules = { named: 1, completionMode: caller.completion, checkCommand: null }
  const at = caller.now().toISOString()
  return { ...nobodys, ...rules, id: '', title: turnId, status: 'open', conversationId, turnId, createdAt: at }
}

/** The same, as far as it was opened. */
export async function openedTurn(caller: Caller): Promise<Turn | undefined> {
  const { conversationId, turnId } = caller.scope
  const query =
    turnId === undefined ? { where: { conversationId }, status: ['open'] } : { where: { conversationId, turnId } }
  const [found] = await caller.store.find(turn, { ...query, newest: true, limit: 1 })
  return found
}

/** Every item of a turn is found by this, never by the turn's own name alone. */
export function itemsOf(of: Pick<Turn, 'conversationId' | 'turnId'>): { conversationId: string; turnId: string } {
  return { conversationId: of.conversationId, turnId: of.turnId }
}
