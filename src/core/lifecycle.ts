/** What a status means across kinds. Code that serves several kinds asks for the phase, never for a status word. */
export type Phase = 'waiting' | 'active' | 'held' | 'done' | 'dropped'

export type Fields = Readonly<Record<string, unknown>>

export interface Status {
  readonly phase: Phase
  /** The statuses an item may move to from here; none when it is final. */
  readonly to: readonly string[]
  /** Fields that must be filled in while an item stands here. */
  readonly needs?: readonly string[]
  /** Fields that get the time of the move, unless the move brings its own. */
  readonly stamps?: readonly string[]
  /** Fields that are emptied on arrival. */
  readonly clears?: readonly string[]
  /** Arriving here ends the claim: whoever held the item, and comes late, holds an older token. */
  readonly revokes?: boolean
}

/**
 * A rule across statuses: where every condition holds (a value, or `true` for
 * "filled in"), `needs` must be filled in, and the fields in `allows` have one
 * of the values named there.
 */
export interface Rule {
  readonly when: Readonly<Record<string, string | true>>
  /** Only for moves from these statuses; `new` for an item that is being created. */
  readonly from?: readonly string[]
  readonly needs?: readonly string[]
  readonly allows?: Readonly<Record<string, readonly string[]>>
}

export interface Lifecycle {
  /** The statuses an item may be born in. */
  readonly initial: readonly string[]
  readonly statuses: Readonly<Record<string, Status>>
  readonly whenever?: readonly Rule[]
  /** The field that gets the day of every write. */
  readonly dated?: string
}

export type Refusal =
  | { readonly why: 'unknown_status'; readonly known: readonly string[] }
  | { readonly why: 'no_such_move'; readonly legal: readonly string[] }
  | { readonly why: 'missing'; readonly missing: readonly string[]; readonly legal: readonly string[] }
  | {
      readonly why: 'not_allowed'
      readonly field: string
      readonly value: unknown
      readonly allowed: readonly string[]
      readonly legal: readonly string[]
    }

/**
 * The only judge of status changes: every door and every engine asks here.
 * `from` is null when the item is being created; `after.status` is where it goes.
 *
 * `needs` is held against the record as it would stand afterwards, not against
 * the patch: a move that brings no owner of its own is granted where the record
 * has kept one since the claim.
 */
export function refusalFor(life: Lifecycle, from: string | null, after: Fields): Refusal | undefined {
  const to = String(after['status'])
  const status = statusOf(life, to)
  if (!status) return { why: 'unknown_status', known: Object.keys(life.statuses) }
  const legal = from === null ? life.initial : (statusOf(life, from)?.to ?? [])
  if (from !== to && !legal.includes(to)) return { why: 'no_such_move', legal }
  const rules = (life.whenever ?? []).filter(rule => applies(rule, from, after))
  const needed = [...(status.needs ?? []), ...rules.flatMap(rule => rule.needs ?? [])]
  const missing = [...new Set(needed)].filter(field => !filled(after[field]))
  if (missing.length > 0) return { why: 'missing', missing, legal }
  for (const [field, allowed] of rules.flatMap(rule => Object.entries(rule.allows ?? {}))) {
    const value = after[field]
    if (filled(value) && !allowed.includes(String(value))) return { why: 'not_allowed', field, value, allowed, legal }
  }
  return undefined
}

/** The record as it would stand after a move: what is there, what the move brings, its stamps and clearings. */
export function standing(life: Lifecycle, before: Fields, to: string, fields: Fields, at: string): Fields {
  const status = statusOf(life, to)
  const arriving = before['status'] !== to
  const stamped = arriving ? (status?.stamps ?? []).filter(field => !filled(fields[field])) : []
  const cleared = arriving ? (status?.clears ?? []) : []
  return {
    ...before,
    ...fields,
    ...Object.fromEntries(stamped.map(field => [field, at])),
    ...Object.fromEntries(cleared.map(field => [field, null])),
    ...(life.dated ? { [life.dated]: at.slice(0, 10) } : {}),
    status: to,
  }
}

export function phaseOf(life: Lifecycle, status: string): Phase | undefined {
  return statusOf(life, status)?.phase
}

/** The statuses in which there is still something to do. */
export function openStatuses(life: Lifecycle): string[] {
  return statusesIn(life, ['waiting', 'active', 'held'])
}

function statusesIn(life: Lifecycle, phases: readonly Phase[]): string[] {
  return Object.keys(life.statuses).filter(name => phases.includes(life.statuses[name]!.phase))
}

/** The statuses from which an item may move to `to`. */
export function statusesBefore(life: Lifecycle, to: string): string[] {
  return Object.keys(life.statuses).filter(name => life.statuses[name]!.to.includes(to))
}

function filled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
}

// A status comes from outside: `constructor` must not find what objects inherit.
function statusOf(life: Lifecycle, name: string): Status | undefined {
  return Object.hasOwn(life.statuses, name) ? life.statuses[name] : undefined
}

function applies(rule: Rule, from: string | null, after: Fields): boolean {
  if (rule.from && !rule.from.includes(from ?? 'new')) return false
  return Object.entries(rule.when).every(([field, wanted]) =>
    wanted === true ? filled(after[field]) : after[field] === wanted,
  )
}
