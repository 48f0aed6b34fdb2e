import { stricter } from '../core/completion.ts'
import type { Caller } from '../core/operation.ts'
import { type Turn, turn } from './record.ts'

/** How completions are believed. */
export type Rules = Pick<Turn, 'completionMode' | 'checkCommand'>

/**
 * Which turn a call is about: the one its scope names, or the newest that is
 * open in its conversation. A named turn need not have been opened here: its
 * items may be another program's.
 */
export async function currentTurn(caller: Caller): Promise<Turn | undefined> {
  const { turnId } = caller.scope
  return (await openedTurn(caller)) ?? (turnId === undefined ? undefined : await unopened(caller, turnId))
}

/** A turn nobody has opened, as it would stand. */
export async function unopened(caller: Caller, turnId: string): Promise<Turn> {
  const { conversationId } = caller.scope
  const nobodys = {
    owner: null,
    token: 0,
    leaseUntil: null,
    identity: null,
    revision: 0,
    spokenAt: null,
    endedAt: null,
  }
  const rules = { named: 1, ...inheritedRules(caller, await newestTurn(caller)) }
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

/** The turn of the conversation that was opened last, whether it has ended or not. */
export async function newestTurn({ store, scope: { conversationId } }: Caller): Promise<Turn | undefined> {
  return (await store.find(turn, { where: { conversationId }, newest: true, limit: 1 }))[0]
}

/** The rules of a turn that does not name any: those of the turn before it, and never looser than the settings. */
export function inheritedRules(caller: Caller, before: Rules | undefined): Rules {
  return {
    completionMode: stricter(before?.completionMode ?? 'self', caller.completion),
    checkCommand: before?.checkCommand ?? null,
  }
}

/** Every item of a turn is found by this, never by the turn's own name alone. */
export function itemsOf(of: Pick<Turn, 'conversationId' | 'turnId'>): { conversationId: string; turnId: string } {
  return { conversationId: of.conversationId, turnId: of.turnId }
}
