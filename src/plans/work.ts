import { stricter } from '../core/completion.ts'
import { digest } from '../core/id.ts'
import { type Fields, openStatuses } from '../core/lifecycle.ts'
import { amend, claim, move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { currentTurn, itemsOf, type Rules } from './current-turn.ts'
import { draftOf, type NewItem } from './draft.ts'
import { settled } from './ended-turn.ts'
import { type PlanItem, planItem, type Turn } from './record.ts'
import { turnForNewItems } from './turns.ts'

/**
 * Adds items to the plan, all or none. An item that is already there, word for
 * word and still open, is given back instead: a caller that lost our answer
 * sends the same batch again.
 */
export async function addItems(caller: Caller, items: readonly NewItem[]): Promise<{ of: Turn; added: PlanItem[] }> {
  const { of, before } = await turnForNewItems(caller)
  const rules = await rulesForNewItems(caller, of)
  const at = caller.now().toISOString()
  const seen = new Map<string, number>()
  const drafts = items.map(item => {
    const words = [of.id, item.title, item.context ?? '', item.completionCriteria ?? '', item.agentType ?? '']
    // Two tasks of a host's list may have the same words.
    const key = digest(JSON.stringify(item.mirrors === undefined ? words : [...words, item.mirrors]))
    // The same item twice in one batch is meant twice.
    const times = (seen.get(key) ?? 0) + 1
    seen.set(key, times)
    const draft = draftOf(of, item, at, `${key}:${times}`)
    return rules ? { ...draft, fields: { ...draft.fields, ...rules } } : draft
  })
  const added = (await caller.store.insert(planItem, drafts, { by: caller.by, at })).map(({ item }) => item)
  return await settled(caller, { of, before, added })
}

/** Rules that items keep for themselves: a turn that is named may be an older one, and looser than the newest. */
export async function rulesForNewItems(caller: Caller, of: Turn): Promise<Rules | undefined> {
  if (caller.scope.turnId === undefined) return undefined
  const rules = await (await import('./turn-rules.ts')).rulesForAdding(caller, of)
  return rules && { completionMode: rules.completionMode, checkCommand: rules.checkCommand }
}

/** An item of the caller's own plan, by id or by its number in the list. */
export async function itemOf(caller: Caller, id: string): Promise<{ of: Turn; item: PlanItem }> {
  const of = await currentTurn(caller)
  const item = of && (await itemAt(caller, of, id))
  if (of && item) return { of, item }
  const total = of ? await sizeOf(caller, of) : 0
  throw new Problem(
    'not_found',
    `There is no item ${id} in ${of ? `turn ${of.turnId}` : 'this conversation: it has no plan yet'}`,
    total > 0
      ? `List the plan (list_todo, or: punchlist plan list --status all) and use an id from it, or ${total === 1 ? 'the number 1' : `a number from 1 to ${total}`}.`
      : 'Make a plan first (create_todo, or: punchlist plan add TITLE).',
    { id, conversationId: caller.scope.conversationId, turnId: of?.turnId ?? caller.scope.turnId ?? null },
  )
}

/** An id is an id first: other programs may give theirs numbers. */
async function itemAt(caller: Caller, of: Turn, id: string): Promise<PlanItem | undefined> {
  const [named] = await caller.store.find(planItem, { where: { ...itemsOf(of), id }, limit: 1 })
  if (named || !/^\d{1,6}$/.test(id)) return named
  return (await caller.store.find(planItem, { where: { ...itemsOf(of), priority: Number(id) - 1 }, limit: 1 }))[0]
}

async function sizeOf(caller: Caller, of: Turn): Promise<number> {
  const counts = await caller.store.count(planItem, { where: itemsOf(of) })
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** Starts the named item, or the next one that waits. */
export async function startItem(caller: Caller, id: string | undefined): Promise<{ of: Turn; item: PlanItem }> {
  const named = id === undefined ? undefined : await itemOf(caller, id)
  if (named) await requirePersonFor(caller, named.item)
  const of = named?.of ?? (await currentTurn(caller))
  const item =
    of &&
    (await claim(caller.store, planItem, {
      id: named?.item.id,
      // An item that waits for a person is started by name or not at all.
      where: named ? itemsOf(of) : { ...itemsOf(of), needs: null },
      to: 'in_progress',
      by: caller.by,
      at: caller.now().toISOString(),
    }))
  if (of && item) return { of, item }
  throw new Problem(
    'nothing_to_do',
    'Nothing is waiting in this plan',
    'List it to see what is in progress, or add items.',
    {
      turnId: of?.turnId ?? null,
    },
  )
}

/** Marks an item that cannot go on without a person: nobody is sent on for it, and it is not given out as the next one. */
export async function blockItem(caller: Caller, id: string, needs: string): Promise<{ of: Turn; item: PlanItem }> {
  const { of, item } = await itemOf(caller, id)
  const blocked = await move(caller.store, planItem, {
    id: item.id,
    known: item,
    where: itemsOf(of),
    to: 'pending',
    fields: { needs },
    by: caller.by,
    at: caller.now().toISOString(),
    why: `waits for a person: ${needs}`.slice(0, 200),
  })
  return { of, item: blocked }
}

/** The person has answered: the item can be worked on again. */
export async function unblockItem(caller: Caller, id: string): Promise<{ of: Turn; item: PlanItem }> {
  const { of, item } = await itemOf(caller, id)
  await requirePersonFor(caller, item)
  const at = caller.now().toISOString()
  const freed = await amend(caller.store, planItem, {
    id: item.id,
    known: item,
    fields: ({ verification }) => ({
      needs: null,
      verification: verification?.failures ? { ...verification, failures: 0 } : verification,
    }),
    by: caller.by,
    at,
    why: 'waits for nobody any more',
  })
  return { of, item: freed }
}

/** Gives back an item that was worked on to no avail. Its context tells of the attempt: whoever tries it next reads that. */
export async function returnItem(caller: Caller, id: string, note: string): Promise<{ of: Turn; item: PlanItem }> {
  const { of, item } = await itemOf(caller, id)
  const at = caller.now().toISOString()
  const attempt = ` tried by ${caller.by}: ${note}]`
  const returned = await move(caller.store, planItem, {
    id: item.id,
    known: item,
    where: itemsOf(of),
    to: 'pending',
    // Judged by how the item stands when it is written: somebody else may have given it back meanwhile.
    fields: ({ status, context }) => {
      if (status !== 'pending') return { context: withAttempt(context, `[${at}${attempt}`) }
      if (context.endsWith(attempt)) return {}
      throw new Problem(
        'move_refused',
        `Item ${item.id} was not started`,
        'There is nothing to give back. What cannot go on without a person is marked with block_todo (punchlist plan block).',
        { id: item.id, status },
      )
    },
    by: caller.by,
    at,
    why: `came to nothing: ${note}`.slice(0, 200),
  })
  return { of, item: returned }
}

/** So many attempts are told of, the last ones: no context grows without end, however often an item is tried. */
const ATTEMPTS_TOLD = 10
const ATTEMPT = /^\[\d{4}-\d\d-\d\dT[\d:.]+Z tried by /

function withAttempt(context: string, attempt: string): string {
  const lines = context === '' ? [] : context.split('\n')
  let surplus = lines.filter(line => ATTEMPT.test(line)).length + 1 - ATTEMPTS_TOLD
  const kept = lines.filter(line => !(ATTEMPT.test(line) && surplus-- > 0))
  return [...kept, attempt].join('\n')
}

export interface Ending {
  readonly id: string
  readonly status: 'completed' | 'cancelled'
  readonly outcome: string
  /** What else changes about it. */
  readonly more?: Fields
}

/** Completes or cancels an item, believing a completion the way its turn says. */
export async function finishItem(
  caller: Caller,
  { id, status, outcome, more }: Ending,
): Promise<{ of: Turn; item: PlanItem }> {
  requireVisible(outcome)
  const { of, item } = await itemOf(caller, id)
  if (status === 'completed') await requirePersonFor(caller, item)
  const told = { ...more, outcome }
  const closed = !openStatuses(planItem.lifecycle).includes(item.status)
  const mode = stricter(of.completionMode, item.completionMode ?? 'self')
  if (status === 'cancelled' && !closed && mode === 'verified') {
    await (await import('./cancellation.ts')).requireCancellable(caller, of, item, outcome)
  }
  const onWord = status === 'cancelled' || closed || mode === 'self'
  const believed = onWord
    ? told
    : {
        ...told,
        ...(await (await import('./completion.ts')).grounds(caller, { ...of, completionMode: mode }, item, outcome)),
      }
  const finished = await move(caller.store, planItem, {
    id: item.id,
    known: item,
    where: itemsOf(of),
    to: status,
    fields: believed,
    by: caller.by,
    at: caller.now().toISOString(),
    why: outcome.slice(0, 200),
  })
  return { of, item: finished }
}

/** What nobody can see is no outcome, and no reason. */
function requireVisible(outcome: string): void {
  if (/[\p{L}\p{N}\p{P}\p{S}]/u.test(outcome.replace(INVISIBLE, ''))) return
  throw new Problem('bad_input', 'outcome: has no visible character', 'Say what was done, or why it is cancelled.', {
    wrong: [{ field: 'outcome', message: 'has no visible character' }],
  })
}

/** Fillers count as letters, and the empty braille pattern as a symbol. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Refuses an agent what waits for a person. Hardly any item does: what decides it is loaded for those. */
async function requirePersonFor(caller: Caller, { id, needs }: PlanItem): Promise<void> {
  if (needs !== null) await (await import('../core/authority.ts')).requirePerson(caller, id, needs)
}

/** What is left of a plan: how much, and what comes first apart from the item one has just dealt with. */
export async function whatRemains(
  caller: Caller,
  of: Turn,
  dealtWith?: PlanItem,
): Promise<{ remaining: number; pending: number; next: PlanItem[] }> {
  const status = openStatuses(planItem.lifecycle)
  const first = await caller.store.find(planItem, { where: itemsOf(of), status, limit: 4 })
  // What waits for a person is not what comes next.
  const free = first.some(({ needs }) => needs !== null)
    ? await caller.store.find(planItem, { where: { ...itemsOf(of), needs: null }, status, limit: 4 })
    : first
  const next = free.filter(({ id }) => id !== dealtWith?.id).slice(0, 3)
  if (first.length < 4) {
    return { remaining: first.length, pending: first.filter(item => item.status === 'pending').length, next }
  }
  const counts = await caller.store.count(planItem, { where: itemsOf(of), status })
  const remaining = status.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  return { remaining, pending: counts['pending'] ?? 0, next }
}
