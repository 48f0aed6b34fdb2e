import { whyNot } from './keeping.ts'
import type { Item, Kind, Texts } from './kind.ts'
import { type Fields, openStatuses, phaseOf, type Refusal, refusalFor, standing, statusesBefore } from './lifecycle.ts'
import { Problem } from './problem.ts'
import type { Change, ClaimStep, Query, Step, Store } from './store.ts'

export interface Move<T extends Item = Item> {
  readonly id: string
  /** The item, where the caller has just read it; it is read again when it has changed since. */
  readonly known?: T | undefined
  readonly to: string
  /** What the move brings along, if need be given how the item stands; also what makes a repeated move the same one. */
  readonly fields?: Fields | ((item: T) => Fields)
  /** The item must also match this, or it is not found: the caller's own list. */
  readonly where?: Query['where']
  readonly by: string
  readonly at: string
  readonly why?: string | undefined
  readonly token?: number | undefined
  /** Only if the lease of its claim has run out. */
  readonly lapsed?: boolean | undefined
  /** What becomes of the item's texts, given how they stand. */
  readonly texts?: ((texts: Texts) => Texts) | undefined
  /**
   * For a move that was made already: what its texts record instead of what this one says; undefined where they say the
   * same.
   */
  readonly recorded?: ((texts: Texts) => string | undefined) | undefined
  /**
   * How the item is taken to stand, without having been read: where it does, and
   * the token is the current one, the move is made at once.
   */
  readonly supposing?: Supposed | undefined
}

/** Fields that are enough to judge a move by. */
export type Supposed = Readonly<Record<string, string | number>> & { readonly status: string }

/**
 * Moves one item, or says why not. Asking again for a move that was made
 * answers with the item as it stands: an agent that lost our answer will ask
 * again. When someone else writes in between, the item is read and judged anew.
 */
export async function move<T extends Item>(store: Store, kind: Kind<T>, wanted: Move<T>): Promise<T> {
  const { id, to, by, at, why, token } = wanted
  const made = await unread(store, kind, wanted)
  if (made) return made
  return await patiently(store, kind, wanted, async item => {
    const before = fieldsOf(item)
    const fields = typeof wanted.fields === 'function' ? wanted.fields(item) : (wanted.fields ?? {})
    if (item.status === to && brings(before, fields)) {
      const recorded = wanted.recorded?.((await store.texts(kind, [id])).get(id) ?? {})
      if (recorded === undefined) return item
      throw answeredOtherwise(kind, item, recorded)
    }
    const after = { ...standing(kind.lifecycle, before, to, fields, at), token: tokenAfter(kind, item, to) }
    const refusal =
      refusalFor(kind.lifecycle, item.status, after) ??
      // Nothing is written over the answer an item was closed with.
      (item.status === to && !openStatuses(kind.lifecycle).includes(to)
        ? ({ why: 'no_such_move', legal: [] } as const)
        : undefined)
    if (refusal) throw refused(kind, item, to, refusal)
    const texts = wanted.texts && wanted.texts((await store.texts(kind, [id])).get(id) ?? {})
    const { lapsed } = wanted
    const decided = { id, revision: item.revision, from: item.status, token, lapsed, texts }
    return await store.save(kind, { ...decided, fields: difference(before, after) }, { by, at, why })
  })
}

export interface MoveStep extends Pick<Move, 'to' | 'by' | 'at' | 'why'> {
  readonly fields?: Fields
}

export interface Moves<T extends Item = Item> extends Pick<Move<T>, 'id' | 'known' | 'token' | 'lapsed'> {
  readonly steps: readonly [MoveStep, ...MoveStep[]]
  /** The claim that comes after them. */
  readonly claim?: MoveStep & { readonly leaseMs?: number | undefined }
}

/**
 * Moves one item several times in one write: each move is judged on the item as the one before leaves it, and told as
 * an event of its own. Nobody sees the item in between.
 */
export async function moveThrough<T extends Item>(store: Store, kind: Kind<T>, wanted: Moves<T>): Promise<T> {
  const { id, token, lapsed, steps, claim: last } = wanted
  return await patiently(store, kind, wanted, async item => {
    let before = fieldsOf(item)
    const judged = ({ to, fields = {}, at }: MoveStep, owner?: string) => {
      const here: Item = { ...item, ...before, ...(owner === undefined ? {} : { owner }) }
      const after = { ...standing(kind.lifecycle, fieldsOf(here), to, fields, at), token: tokenAfter(kind, here, to) }
      const refusal = refusalFor(kind.lifecycle, here.status, after)
      if (refusal) throw refused(kind, here, to, refusal)
      return { from: here.status, fields: difference(fieldsOf(here), after), after }
    }
    const changes = steps.map((step, index): Step => {
      const { from, fields, after } = judged(step)
      before = after
      const first = index === 0 ? { token, lapsed } : {}
      return { change: { id, revision: item.revision + index, from, fields, ...first }, note: step }
    })
    const claiming: ClaimStep | undefined = last && {
      claim: { owner: last.by, fields: judged(last, last.by).fields, leaseMs: last.leaseMs },
      note: last,
    }
    const [first, ...more] = changes
    return await store.saveSteps(kind, [first!, ...more], claiming)
  })
}

/** Makes a move that can be judged without reading the item; undefined where it does not stand as supposed. */
async function unread<T extends Item>(store: Store, kind: Kind<T>, wanted: Move<T>): Promise<T | undefined> {
  const change = supposed(kind, wanted)
  if (!change) return undefined
  const { by, at, why } = wanted
  return (await store.saveAll(kind, [change], { by, at, why }))[0]
}

function supposed<T extends Item>(kind: Kind<T>, wanted: Move<T>): Change | undefined {
  const { id, to, token, supposing, fields, at } = wanted
  if (!supposing || token === undefined || wanted.texts || typeof fields === 'function') return undefined
  const after = standing(kind.lifecycle, supposing, to, fields ?? {}, at)
  // What is emptied or set on arrival is set in any case: whether it changes anything is not known.
  if (refusalFor(kind.lifecycle, supposing.status, after) || givesBack(kind, supposing.status, to)) return undefined
  return { id, given: supposing, from: supposing.status, token, fields: difference(supposing, after, true) }
}

/** Many moves at once, each by its claimant, for items that stand as supposed; says which were made. */
export async function moveAll<T extends Item>(
  store: Store,
  kind: Kind<T>,
  moves: readonly Move<T>[],
): Promise<(T | undefined)[]> {
  const changes = moves.map(wanted => supposed(kind, wanted))
  const possible = changes.filter(change => change !== undefined)
  const [first] = moves
  if (!first || possible.length === 0) return moves.map(() => undefined)
  const { by, at, why } = first
  const made = await store.saveAll(kind, possible, { by, at, why })
  return changes.map(change => (change ? made[possible.indexOf(change)] : undefined))
}

export interface Amendment<T extends Item = Item>
  extends Pick<Move<T>, 'id' | 'known' | 'by' | 'at' | 'why' | 'token'> {
  /** What changes, given how the item stands; nothing is written where that is nothing. */
  readonly fields?: (item: T) => Fields
  readonly texts?: (texts: Texts) => Texts
}

/** Changes what an item says without moving it; finished ones too, as what is linked to them comes later. */
export async function amend<T extends Item>(store: Store, kind: Kind<T>, wanted: Amendment<T>): Promise<T> {
  const { id, by, at, why, token } = wanted
  return await patiently(store, kind, wanted, async item => {
    const before = fieldsOf(item)
    const fields = difference(before, { ...before, ...wanted.fields?.(item) })
    const kept = wanted.texts && ((await store.texts(kind, [id])).get(id) ?? {})
    const texts = kept && wanted.texts(kept)
    const rewritten = texts && Object.entries(texts).some(([name, text]) => text !== kept[name])
    if (Object.keys(fields).length === 0 && !rewritten) return item
    const after = standing(kind.lifecycle, before, item.status, fields, at)
    const change = { id, revision: item.revision, from: item.status, token, fields: difference(before, after), texts }
    return await store.save(kind, change, { by, at, why })
  })
}

/** Reads an item and does something about it; again when someone else has written in between. */
async function patiently<T extends Item>(
  store: Store,
  kind: Kind<T>,
  { id, where, token, ...wanted }: Pick<Move<T>, 'id' | 'where' | 'token' | 'known'>,
  decide: (item: T) => Promise<T>,
): Promise<T> {
  let { known } = wanted
  const began = Date.now()
  for (let attempt = 1; ; attempt++) {
    const tried = Date.now()
    const item = known ?? (await store.find(kind, { where: { ...where, id }, limit: 1 }))[0]
    known = undefined
    if (!item) throw notFound(kind, id)
    // Also for an answer that is there already: it is somebody else's then.
    if (token !== undefined && token !== item.token) throw whyNot(kind, item, { id, token })
    try {
      return await decide(item)
    } catch (error) {
      const beaten = error instanceof Problem && error.code === 'changed_meanwhile'
      if (!beaten || (attempt >= PATIENCE && Date.now() - began > PATIENCE_MS)) throw error
    }
    if (attempt > 1) await pause(attempt, Date.now() - tried)
  }
}

/**
 * Of sixteen processes that did nothing but change one item, on two busy cores,
 * the unluckiest was served after five seconds and thirteen tries. Both count:
 * where a try takes long, time alone says little.
 */
const PATIENCE = 40
const PATIENCE_MS = 20_000
const LONGEST_PAUSE_MS = 1_000

/**
 * Rivals that came together come apart: the more often one was too late, the
 * longer it may keep away, measured by how long a try takes it.
 */
async function pause(attempt: number, tookMs: number): Promise<void> {
  const ms = Math.random() * Math.min(LONGEST_PAUSE_MS, Math.max(1, tookMs) * 2 ** attempt)
  await new Promise(done => setTimeout(done, ms))
}

export interface ClaimRequest {
  /** How many at most, where several are wanted; one by id is always one. */
  readonly limit?: number | undefined
  /** One item by id, or the first that matches. */
  readonly id?: string | undefined
  readonly where?: Query['where']
  /** The statuses it may be claimed from, where not all that lead to `to` will do. */
  readonly from?: readonly string[]
  readonly to: string
  readonly fields?: Fields
  readonly by: string
  readonly at: string
  readonly why?: string | undefined
  readonly leaseMs?: number | undefined
  readonly guarded?: boolean | undefined
}

/**
 * Makes an item one worker's: the named one or the first there is. Undefined
 * when nothing is left. Claiming again what is one's own renews the lease.
 */
export async function claim<T extends Item>(store: Store, kind: Kind<T>, wanted: ClaimRequest): Promise<T | undefined> {
  const { id, to, by, at, why, leaseMs } = wanted
  const where = { ...wanted.where, ...(id === undefined ? {} : { id }) }
  const { status, claiming } = asked(kind, wanted)
  const item = await store.take(kind, { where, status, limit: 1 }, claiming, { by, at, why })
  if (item || id === undefined) return item
  const [present] = await store.find(kind, { where, limit: 1 })
  if (!present) throw notFound(kind, id)
  if (present.status === to && present.owner === by) {
    return leaseMs === undefined ? present : await store.renew(kind, id, present.token, leaseMs)
  }
  throw refused(kind, present, to, {
    why: 'no_such_move',
    legal: kind.lifecycle.statuses[present.status]?.to ?? [],
  })
}

/** The first few there are, in one go; none when nothing is left. */
export async function claimAll<T extends Item>(store: Store, kind: Kind<T>, wanted: ClaimRequest): Promise<T[]> {
  const { where = {}, limit = 1, by, at, why } = wanted
  const { status, claiming } = asked(kind, wanted)
  return await store.takeAll(kind, { where, status, limit }, claiming, { by, at, why })
}

/** Which item it will be is not known yet, so a claim is judged by what it brings itself. */
function asked(kind: Kind, { id, to, from, fields = {}, by, at, leaseMs, guarded }: ClaimRequest) {
  const status = from ?? statusesBefore(kind.lifecycle, to)
  const before = { status: status[0], owner: by }
  const after = standing(kind.lifecycle, before, to, fields, at)
  const refusal = refusalFor(kind.lifecycle, status[0] ?? null, after)
  if (refusal) throw refused(kind, { id: id ?? 'next', status: String(status[0]) }, to, refusal)
  return { status, claiming: { owner: by, fields: difference(before, after, true), leaseMs, guarded } }
}

function notFound(kind: Kind, id: string): Problem {
  return new Problem(
    'not_found',
    `There is no ${spoken(kind)} ${id} here`,
    `List what is there and use an id from it.`,
    {
      kind: kind.name,
      id,
    },
  )
}

/** The problem that tells of a refusal, with everything that is missing at once. */
export function refused(
  kind: Pick<Kind, 'name' | 'lifecycle' | 'afterwards' | 'hints'>,
  item: { readonly id: string; readonly status: string; readonly owner?: string | null },
  to: string,
  refusal: Refusal,
): Problem {
  const what = `${spoken(kind)} ${item.id}: ${item.status} -> ${to}`
  const details = { kind: kind.name, id: item.id, from: item.status, to, ...refusal }
  const legal =
    'legal' in refusal && refusal.legal.length > 0 ? `Legal from ${item.status}: ${refusal.legal.join(', ')}.` : ''
  if (refusal.why === 'missing') {
    const sent = refusal.missing.filter(field => !kind.hints?.[field])
    const hints = [
      ...(sent.length > 0 ? [`Send ${sent.join(', ')} with the move.`] : []),
      ...new Set(refusal.missing.flatMap(field => kind.hints?.[field] ?? [])),
      ...(legal ? [legal] : []),
    ]
    return new Problem('move_refused', `${what}: missing ${refusal.missing.join(', ')}`, hints.join(' '), details)
  }
  if (refusal.why === 'unknown_status') {
    return new Problem('bad_input', `${what}: no such status`, `Use one of: ${refusal.known.join(', ')}.`, details)
  }
  if (refusal.why === 'not_allowed') {
    const { field, value, allowed } = refusal
    const hint = `Use one of: ${allowed.join(', ')}. ${legal}`.trim()
    return new Problem('move_refused', `${what}: ${field} cannot be ${String(value)}`, hint, details)
  }
  const open = openStatuses(kind.lifecycle).includes(item.status)
  const already = open && item.owner ? `it is ${item.owner}'s already` : `it is ${to} already, with another answer`
  return new Problem(
    'move_refused',
    `${what} is not a legal move${item.status === to ? `: ${already}` : ''}`,
    legal || `${item.status} is final; ${kind.afterwards ?? 'add a new item for what is left to do'}.`,
    details,
  )
}

/** Why a second answer with other words is refused: neither of them may get lost. */
function answeredOtherwise(kind: Kind, { id, status }: Item, recorded: string): Problem {
  return new Problem(
    'move_refused',
    `${spoken(kind)} ${id} is ${status} already, ${recorded}`,
    openStatuses(kind.lifecycle).includes(status)
      ? 'Nothing was written over it. Repeat the same answer, or leave it.'
      : `Nothing was written over it. ${status} is final; ${kind.afterwards ?? 'add a new item for what is left to do'}.`,
    { kind: kind.name, id, from: status, to: status, recorded },
  )
}

/** Giving an item back revokes its claim: whoever held it, and comes late, holds an older token. */
function tokenAfter(kind: Kind, item: Item, to: string): number {
  return givesBack(kind, item.status, to) ? item.token + 1 : item.token
}

function givesBack({ lifecycle }: Kind, from: string, to: string): boolean {
  const givenBack = phaseOf(lifecycle, from) !== 'waiting' && phaseOf(lifecycle, to) === 'waiting'
  return givenBack || (from !== to && lifecycle.statuses[to]?.revokes === true)
}

function spoken({ name }: Pick<Kind, 'name'>): string {
  return name.replaceAll('_', ' ')
}

function fieldsOf(item: Item): Fields {
  return { ...item }
}

function brings(before: Fields, fields: Fields): boolean {
  return Object.entries(fields).every(([field, value]) => same(before[field], value))
}

/** What changes; `unknown`: what `before` does not tell counts as changed. */
function difference(before: Fields, after: Fields, unknown = false): Fields {
  const changes = ([field, value]: [string, unknown]) =>
    !same(before[field], value) || (unknown && !Object.hasOwn(before, field))
  return Object.fromEntries(Object.entries(after).filter(changes))
}

/** Whether two values of a field are one: absent and null are. */
export function same(left: unknown, right: unknown): boolean {
  return left === right || (left ?? null) === (right ?? null) || JSON.stringify(left) === JSON.stringify(right)
}
