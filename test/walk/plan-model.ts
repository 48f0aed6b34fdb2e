import type { Expected } from './verdict.ts'

/**
 * The plan of a conversation, by the rules for turns, order and statuses.
 *
 * Where the rules are silent the model follows the pages in `docs/` or the program:
 * - a place behind the last one means the last place;
 * - blocking what is in progress gives it back; unblocking what is not blocked changes nothing, also where it is closed;
 * - an item keeps the words it was added with: what `return` adds to its context does not make it another;
 * - a carried copy is not "there already" for whoever adds the same words;
 * - completing does not ask who started the item;
 * - carrying again what was carried and is closed in the present plan is either answered with the copies or refused.
 */
export interface PlanItem {
  /** Given by the program; empty until it is seen. */
  id: string
  title: string
  status: 'pending' | 'in_progress' | 'completed' | 'cancelled'
  owner: string | null
  needs: string | null
  outcome: string | null
  /** The last attempt that its context tells of. */
  attempt: string | null
  carriedFrom: string | null
  /** Counts the times its words stood in the batch that it was added with; null for a copy. */
  times: number | null
}

export interface Turn {
  /** Null where it began by itself. */
  name: string | null
  ended: boolean
  items: PlanItem[]
}

export type Plans = Record<string, Turn[]>

export type PlanAction =
  | { verb: 'add'; titles: string[]; order?: number }
  | { verb: 'start'; by: string; item?: string }
  | { verb: 'complete'; item: string; outcome: string; status: 'completed' | 'cancelled' }
  | { verb: 'block'; item: string; needs: string }
  | { verb: 'unblock'; item: string }
  | { verb: 'return'; by: string; item: string; note: string }
  | { verb: 'turn'; name: string }
  | { verb: 'carry' }

export const presentTurn = (turns: readonly Turn[]): Turn | undefined => turns.findLast(turn => !turn.ended)
export const isOpen = ({ status }: PlanItem): boolean => status === 'pending' || status === 'in_progress'

/** Carries an action out, or says how it is refused; then nothing has changed. */
export function actOnPlan(turns: Turn[], action: PlanAction): Expected {
  if (action.verb === 'add') return add(turnToFill(turns), action.titles, action.order)
  if (action.verb === 'turn') return openTurn(turns, action.name)
  if (action.verb === 'carry') return carry(turns)
  const present = presentTurn(turns)
  if (action.verb === 'start' && action.item === undefined) {
    const next = present?.items.find(({ status, needs }) => status === 'pending' && needs === null)
    if (!next) return 'nothing_to_do'
    start(next, action.by)
    return 'ok'
  }
  const item = present?.items.find(({ id }) => id === action.item)
  return item ? actOnItem(item, action) : 'not_found'
}

function actOnItem(item: PlanItem, action: Extract<PlanAction, { item?: string }>): Expected {
  switch (action.verb) {
    case 'start':
      if (item.status === 'in_progress' && item.owner === action.by) return 'ok'
      if (item.status !== 'pending') return 'move_refused'
      start(item, action.by)
      return 'ok'
    case 'complete':
      if (!isOpen(item)) return item.status === action.status && item.outcome === action.outcome ? 'ok' : 'move_refused'
      item.status = action.status
      item.outcome = action.outcome
      item.needs = null
      return 'ok'
    case 'block':
      if (!isOpen(item)) return 'move_refused'
      giveBack(item)
      item.needs = action.needs
      return 'ok'
    case 'unblock':
      item.needs = null
      return 'ok'
    default: {
      const attempt = `tried by ${action.by}: ${action.note}]`
      if (item.status === 'pending') return item.attempt === attempt ? 'ok' : 'move_refused'
      if (item.status !== 'in_progress') return 'move_refused'
      giveBack(item)
      item.attempt = attempt
      return 'ok'
    }
  }
}

function start(item: PlanItem, by: string): void {
  item.status = 'in_progress'
  item.owner = by
  item.needs = null
}

function giveBack(item: PlanItem): void {
  item.status = 'pending'
  item.owner = null
}

/** The turn that new items go into; a new one where the present one has begun by itself and is drained. */
function turnToFill(turns: Turn[]): Turn {
  const present = presentTurn(turns)
  if (present && !isDrained(present)) return present
  if (present) present.ended = true
  turns.push({ name: null, ended: false, items: [] })
  return turns.at(-1)!
}

const isDrained = ({ name, items }: Turn) => name === null && items.length > 0 && !items.some(isOpen)

function add(turn: Turn, titles: readonly string[], order?: number): Expected {
  const seen = new Map<string, number>()
  for (const [index, title] of titles.entries()) {
    const times = (seen.get(title) ?? 0) + 1
    seen.set(title, times)
    if (turn.items.some(item => isOpen(item) && item.title === title && item.times === times)) continue
    const item = itemOf(title, times)
    const place = order === undefined ? turn.items.length : order - 1 + index
    turn.items.splice(place, 0, item)
  }
  return 'ok'
}

function itemOf(title: string, times: number | null): PlanItem {
  const nobodys = { owner: null, needs: null, outcome: null, attempt: null, carriedFrom: null }
  return { id: '', title, status: 'pending', times, ...nobodys }
}

function openTurn(turns: Turn[], name: string): Expected {
  const there = turns.find(turn => turn.name === name)
  if (there) return there.ended ? 'move_refused' : 'ok'
  for (const turn of turns) turn.ended = true
  turns.push({ name, ended: false, items: [] })
  return 'ok'
}

function carry(turns: Turn[]): Expected {
  const present = presentTurn(turns)
  const copiesOf = (id: string, within: (turn: Turn) => boolean) =>
    turns.filter(within).flatMap(turn => turn.items.filter(({ carriedFrom }) => carriedFrom === id))
  const leftIn = (source: Turn) =>
    source.items.filter(
      item => isOpen(item) && copiesOf(item.id, turn => turn !== source && turn !== present).length === 0,
    )
  const source = turns.findLast(turn => turn !== present && leftIn(turn).length > 0)
  if (!source) return 'nothing_to_do'
  const left = leftIn(source)
  const fresh = left.filter(({ id }) => !present || copiesOf(id, turn => turn === present).length === 0)
  if (fresh.length === 0) return present && isDrained(present) ? ['ok', 'nothing_to_do'] : 'ok'
  const into = turnToFill(turns)
  for (const { id, title, needs, attempt } of fresh)
    into.items.push({ ...itemOf(title, null), needs, attempt, carriedFrom: id })
  return 'ok'
}
