import { isLooser, stricter } from '../core/completion.ts'
import { openStatuses } from '../core/lifecycle.ts'
import { same } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { currentTurn, itemsOf, unopened } from './current-turn.ts'
import { draftOf } from './draft.ts'
import { type PlanItem, planItem, type Turn, turn } from './record.ts'
import { turnForNewItems } from './turns.ts'

/** Copies what is open in an earlier turn to the end of the present plan, each item linked to where it came from. */
export async function carryItems(
  caller: Caller,
  from: string | undefined,
): Promise<{ of: Turn; source: Turn; carried: PlanItem[] }> {
  const present = await currentTurn(caller)
  const source = from === undefined ? await latestUnfinished(caller, present) : await namedTurn(caller, from)
  if (!source || (await leftIn(caller, source, present)).length === 0) throw nothingToCarry(caller)
  const { of } = await turnForNewItems(caller, source)
  const carried = of.turnId === source.turnId ? [] : await copyOpen(caller, source, of)
  if (carried.length === 0) throw nothingToCarry(caller)
  return { of, source, carried }
}

/** Copies of everything that is open in one turn, in another: made now, or there already. */
export async function copyOpen(caller: Caller, source: Turn, of: Turn): Promise<PlanItem[]> {
  const left = await leftIn(caller, source, of)
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
      const { agentType, mirrors, needs } = item
      const { checkCommand, completionMode } = rulesAlong(item, source, of)
      const given = { agentType: agentType ?? undefined, checkCommand: checkCommand ?? undefined }
      const kept = { ...item, ...given, mirrors: mirrors ?? undefined }
      const draft = draftOf(of, kept, at, `${of.id}:${item.id}`)
      return { ...draft, fields: { ...draft.fields, completionMode, carriedFrom: item.id, needs } }
    })
  await caller.store.insert(planItem, drafts, { by: caller.by, at, why: `carried from turn ${source.turnId}` })
  return await copies()
}

/** What an item brings along where the turn that it comes to is looser, or has another check. */
function rulesAlong(
  { checkCommand, completionMode }: PlanItem,
  source: Turn,
  of: Turn,
): Pick<PlanItem, 'checkCommand' | 'completionMode'> {
  const mode = stricter(completionMode ?? 'self', source.completionMode)
  const turns = mode === 'verified' && !same(source.checkCommand, of.checkCommand) ? source.checkCommand : null
  return {
    checkCommand: checkCommand ?? turns,
    completionMode: isLooser(of.completionMode, mode) ? mode : null,
  }
}

/** What is open in a turn, but for what was carried on into another than this one: its copy there is what counts. */
async function leftIn(caller: Caller, source: Turn, into: Turn | undefined): Promise<PlanItem[]> {
  const { conversationId, turnId } = source
  const status = openStatuses(planItem.lifecycle)
  const left = await caller.store.find(planItem, { where: itemsOf(source), status })
  if (left.length === 0) return left
  const copies = await caller.store.find(planItem, { where: { conversationId, carriedFrom: left.map(({ id }) => id) } })
  const elsewhere = copies.filter(copy => copy.turnId !== turnId && copy.turnId !== into?.turnId)
  const carried = new Set(elsewhere.map(({ carriedFrom }) => carriedFrom))
  return left.filter(({ id }) => !carried.has(id))
}

async function latestUnfinished(caller: Caller, present: Turn | undefined): Promise<Turn | undefined> {
  const { conversationId } = caller.scope
  // Turns are few and most are drained; looked at in pages, the newest first.
  let after: string | undefined
  for (;;) {
    const page = await caller.store.find(turn, { where: { conversationId }, newest: true, limit: 50, after })
    for (const candidate of page) {
      if (candidate.turnId === present?.turnId) continue
      if ((await leftIn(caller, candidate, present)).length > 0) return candidate
    }
    after = page.at(-1)?.id
    if (after === undefined) return undefined
  }
}

async function namedTurn(caller: Caller, turnId: string): Promise<Turn> {
  const { conversationId } = caller.scope
  const [found] = await caller.store.find(turn, { where: { conversationId, turnId }, limit: 1 })
  if (found) return found
  if ((await caller.store.find(planItem, { where: { conversationId, turnId }, limit: 1 })).length > 0)
    return await unopened(caller, turnId)
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
