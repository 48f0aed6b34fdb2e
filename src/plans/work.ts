import { digest, newId } from '../core/id.ts'
import type { Draft } from '../core/kind.ts'
import { openStatuses } from '../core/lifecycle.ts'
import { claim, move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { evidenceIn } from './evidence.ts'
import { type PlanItem, planItem, type Turn, turn } from './record.ts'
import { currentTurn, itemsOf, turnForNewItems, unopened } from './turns.ts'

export interface NewItem {
  readonly title: string
  readonly context?: string | undefined
  readonly completionCriteria?: string | undefined
  readonly agentType?: string | undefined
  /** Its place, counted from 1; at the end when absent. */
  readonly order?: number | undefined
  readonly checkCommand?: readonly string[] | undefined
}

/**
 * Adds items to the plan, all or none. An item that is already there, word for
 * word and still open, is given back instead: a caller that lost our answer
 * sends the same batch again.
 */
export async function addItems(caller: Caller, items: readonly NewItem[]): Promise<{ of: Turn; added: PlanItem[] }> {
  const { of, before } = await turnForNewItems(caller)
  const at = caller.now().toISOString()
  const seen = new Map<string, number>()
  const drafts = items.map(item => {
    const words = [of.id, item.title, item.context ?? '', item.completionCriteria ?? '', item.agentType ?? '']
    const key = digest(JSON.stringify(words))
    // The same item twice in one batch is meant twice.
    const times = (seen.get(key) ?? 0) + 1
    seen.set(key, times)
    return draftOf(of, item, at, `${key}:${times}`)
  })
  const added = (await caller.store.insert(planItem, drafts, { by: caller.by, at })).map(({ item }) => item)
  return await together(caller, { of, before, added })
}

/** An item of the caller's own plan, by id or by its number in the list. */
async function itemOf(caller: Caller, id: string): Promise<{ of: Turn; item: PlanItem }> {
  const of = await currentTurn(caller)
  const where = of && (/^\d{1,6}$/.test(id) ? { priority: Number(id) - 1 } : { id })
  const [item] = of ? await caller.store.find(planItem, { where: { ...itemsOf(of), ...where }, limit: 1 }) : []
  if (of && item) return { of, item }
  throw new Problem(
    'not_found',
    `There is no item ${id} in ${of ? `turn ${of.turnId}` : 'this conversation: it has no plan yet'}`,
    of
      ? 'List the plan (list_todo, or: punchlist plan list --status all) and use an id from it.'
      : 'Make a plan first (create_todo, or: punchlist plan add TITLE).',
    { id, conversationId: caller.scope.conversationId, turnId: of?.turnId ?? caller.scope.turnId ?? null },
  )
}

/** Starts the named item, or the next one that waits. */
export async function startItem(caller: Caller, id: string | undefined): Promise<{ of: Turn; item: PlanItem }> {
  const named = id === undefined ? undefined : await itemOf(caller, id)
  const of = named?.of ?? (await currentTurn(caller))
  const item =
    of &&
    (await claim(caller.store, planItem, {
      id: named?.item.id,
      where: itemsOf(of),
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

export interface Ending {
  readonly id: string
  readonly status: 'completed' | 'cancelled'
  readonly outcome: string
}

/** Completes or cancels an item, believing a completion the way its turn says. */
export async function finishItem(
  caller: Caller,
  { id, status, outcome }: Ending,
): Promise<{ of: Turn; item: PlanItem }> {
  const { of, item } = await itemOf(caller, id)
  const told = { outcome }
  const closed = !openStatuses(planItem.lifecycle).includes(item.status)
  const believed = status === 'cancelled' || closed ? told : { ...told, ...(await grounds(caller, of, item, outcome)) }
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

/** Copies what is open in an earlier turn to the end of the present plan, each item linked to where it came from. */
export async function carryItems(
  caller: Caller,
  from: string | undefined,
): Promise<{ of: Turn; source: Turn; carried: PlanItem[] }> {
  const source = from === undefined ? await latestUnfinished(caller) : await namedTurn(caller, from)
  if (!source || !(await hasOpenItems(caller, source))) throw nothingToCarry(caller)
  const { of } = await turnForNewItems(caller)
  const carried = of.turnId === source.turnId ? [] : await copyOpen(caller, source, of)
  if (carried.length === 0) throw nothingToCarry(caller)
  return { of, source, carried }
}

/** What is left of a plan: how much, and what comes first apart from the item one has just dealt with. */
export async function whatRemains(
  caller: Caller,
  of: Turn,
  dealtWith?: PlanItem,
): Promise<{ remaining: number; pending: number; next: PlanItem[] }> {
  const status = openStatuses(planItem.lifecycle)
  const first = await caller.store.find(planItem, { where: itemsOf(of), status, limit: 4 })
  const next = first.filter(({ id }) => id !== dealtWith?.id).slice(0, 3)
  if (first.length < 4) {
    return { remaining: first.length, pending: first.filter(item => item.status === 'pending').length, next }
  }
  const counts = await caller.store.count(planItem, { where: itemsOf(of), status })
  const remaining = status.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  return { remaining, pending: counts['pending'] ?? 0, next }
}

/**
 * Two that add at once may see the last item finished in between: one then adds
 * to a turn that the other has ended. Whoever comes second to look, the adder at
 * the turn or the ender at its items, brings them along; both may, it is once.
 */
async function together(
  caller: Caller,
  { of, before, added }: { of: Turn; before: Turn | undefined; added: PlanItem[] },
): Promise<{ of: Turn; added: PlanItem[] }> {
  if (before) await copyOpen(caller, before, of)
  if (caller.scope.turnId !== undefined) return { of, added }
  const [now] = await caller.store.find(turn, { where: { id: of.id }, limit: 1 })
  if (now?.status !== 'ended') return { of, added }
  const next = (await turnForNewItems(caller)).of
  const copies = await copyOpen(caller, of, next)
  const ids = new Set(added.map(({ id }) => id))
  return { of: next, added: copies.filter(({ carriedFrom }) => carriedFrom !== null && ids.has(carriedFrom)) }
}

/** Copies of everything that is open in one turn, in another: made now, or there already. */
async function copyOpen(caller: Caller, source: Turn, of: Turn): Promise<PlanItem[]> {
  const status = openStatuses(planItem.lifecycle)
  const left = await caller.store.find(planItem, { where: itemsOf(source), status })
  if (left.length === 0) return []
  const ids = new Set(left.map(({ id }) => id))
  const copies = async () =>
    (await caller.store.find(planItem, { where: itemsOf(of) })).filter(
      ({ carriedFrom }) => carriedFrom !== null && ids.has(carriedFrom),
    )
  // What was copied before and is finished by now has given up its identity, but is not to be done again.
  const there = new Set((await copies()).map(({ carriedFrom }) => carriedFrom))
  const at = caller.now().toISOString()
  const drafts = left
    .filter(({ id }) => !there.has(id))
    .map(item => {
      const { agentType, checkCommand } = item
      const kept = { ...item, agentType: agentType ?? undefined, checkCommand: checkCommand ?? undefined }
      const draft = draftOf(of, kept, at, `${of.id}:${item.id}`)
      return { ...draft, fields: { ...draft.fields, carriedFrom: item.id } }
    })
  await caller.store.insert(planItem, drafts, { by: caller.by, at, why: `carried from turn ${source.turnId}` })
  return await copies()
}

function draftOf(of: Turn, item: NewItem, at: string, identity: string): Draft {
  return {
    id: newId(),
    title: item.title,
    status: 'pending',
    identity,
    at: item.order === undefined ? undefined : item.order - 1,
    fields: {
      ...itemsOf(of),
      context: item.context ?? '',
      completionCriteria: item.completionCriteria ?? '',
      agentType: item.agentType ?? null,
      checkCommand: item.checkCommand ?? null,
      createdAt: at,
    },
  }
}

/** What a completion stands on, as fields for the judge to look at. */
async function grounds(caller: Caller, of: Turn, item: PlanItem, outcome: string): Promise<Record<string, unknown>> {
  const { completionMode } = of
  if (completionMode === 'self') return {}
  const evidence = evidenceIn(outcome)
  const named = { completionMode, evidence: evidence.length > 0 ? evidence : null }
  const checkCommand = item.checkCommand ?? of.checkCommand
  if (completionMode === 'evidence' || !checkCommand) return named
  if (!(await caller.mayRun())) {
    throw new Problem(
      'move_refused',
      `The check of ${item.id} came with this folder and was not run: ${checkCommand.join(' ')}`,
      'If you know the command and want it to be run here, say so once: punchlist doctor --trust',
      { id: item.id, checkCommand },
    )
  }
  const { runCheck } = await import('../core/check.ts')
  const verification = await runCheck(checkCommand, { cwd: caller.root, now: caller.now })
  if (verification.exit === 0) return { ...named, checkCommand, verification, verifiedAt: verification.at }
  const how = verification.exit === null ? (verification.signal ?? 'could not be started') : `exit ${verification.exit}`
  // The failed check is kept with the item: that somebody claimed completion is a fact, too.
  await move(caller.store, planItem, {
    id: item.id,
    where: itemsOf(of),
    to: item.status,
    fields: { verification },
    by: caller.by,
    at: verification.at,
    why: `claimed as completed, but its check failed: ${how}`,
  })
  throw new Problem(
    'move_refused',
    `The check of ${item.id} failed (${how}): ${checkCommand.join(' ')}`,
    'Mend what it complains of (details.verification.output) and complete the item again.',
    { id: item.id, verification },
  )
}

async function latestUnfinished(caller: Caller): Promise<Turn | undefined> {
  const present = await currentTurn(caller)
  const { conversationId } = caller.scope
  // Turns are few and most are drained; looked at in pages, the newest first.
  let after: string | undefined
  for (;;) {
    const page = await caller.store.find(turn, { where: { conversationId }, newest: true, limit: 50, after })
    for (const candidate of page) {
      if (candidate.turnId === present?.turnId) continue
      if (await hasOpenItems(caller, candidate)) return candidate
    }
    after = page.at(-1)?.id
    if (after === undefined) return undefined
  }
}

async function hasOpenItems(caller: Caller, of: Turn): Promise<boolean> {
  const status = openStatuses(planItem.lifecycle)
  return (await caller.store.find(planItem, { where: itemsOf(of), status, limit: 1 })).length > 0
}

async function namedTurn(caller: Caller, turnId: string): Promise<Turn> {
  const { conversationId } = caller.scope
  const [found] = await caller.store.find(turn, { where: { conversationId, turnId }, limit: 1 })
  if (found) return found
  if ((await caller.store.find(planItem, { where: { conversationId, turnId }, limit: 1 })).length > 0)
    return unopened(caller, turnId)
  throw new Problem(
    'not_found',
    `Conversation ${conversationId} has no turn ${turnId}`,
    'See its turns with: punchlist log',
    {
      turnId,
    },
  )
}

function nothingToCarry(caller: Caller): Problem {
  return new Problem(
    'nothing_to_do',
    `No other turn of conversation ${caller.scope.conversationId} has open items`,
    'Name the turn to carry from with --from TURN, or the turn to carry into with --turn TURN.',
  )
}
