import { requireOwnClaim } from '../core/authority.ts'
import { claim, type MoveStep, move, moveThrough } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Whereabouts } from '../core/session.ts'
import { type Acting, acting, namedToken } from './acting.ts'
import { isAmong, isFree, requireFree, type Waiver, waitingOf } from './dependencies.ts'
import { todo } from './kind.ts'
import { lookUp, sessionOf } from './locating.ts'
import { qualified } from './names.ts'
import { SESSION_ENDED, type Todo } from './record.ts'

/** How long a claim holds without being renewed, unless told otherwise. */
const LEASE_MS = 30 * 60_000

export interface Claiming extends Acting, Waiver {
  readonly leaseMs?: number | undefined
  /** Approve it first, if it still waits for that. */
  readonly triage?: boolean | undefined
}

export interface Unblocking extends Claiming {
  /** Dependencies that turned out not to be needed. */
  readonly without?: readonly string[] | undefined
}

/**
 * Makes a todo one worker's. A claim whose lease ran out is taken over: the
 * history shows it interrupted, ready and claimed, and who held it is refused
 * from then on.
 */
export async function claimTodo(caller: Caller, item: Todo, claiming: Claiming): Promise<Todo> {
  const { leaseMs = LEASE_MS, triage = false } = claiming
  const by = claiming.as ?? caller.by
  const at = caller.now().toISOString()
  if (item.status === 'blocked') {
    throw new Problem(
      'move_refused',
      `${qualified(item)} is blocked: it waits for ${item.dependencies.join(', ')}`,
      `When that is done: punchlist backlog unblock ${qualified(item)} --as ${by}.`,
      { id: qualified(item), from: item.status, to: 'in_progress', dependencies: item.dependencies },
    )
  }
  if (item.status === 'in_progress' && item.owner === by) {
    await requireOwnClaim(caller, todo, item, namedToken(caller, item))
  }
  const renews = item.status === 'in_progress' && item.owner === by
  const waived = renews ? { fields: {} } : await requireFree(caller, item, 'claim', claiming)
  const why = [waived.why, claiming.reason].filter(Boolean).join(': ') || undefined
  const fields = { assigned_to: by, claimed_at: at, ...waived.fields }
  const last = { to: 'in_progress', fields, by, at, why, leaseMs }
  const known = { id: item.id, known: item }
  if (triage && item.status === 'pending') {
    const approved = { to: 'ready', by, at, why: 'approved by its claimant' }
    return await moveThrough(caller.store, todo, { ...known, steps: [approved], claim: last })
  }
  if (item.status === 'in_progress' && item.owner !== by && (await hasLapsed(caller, item))) {
    // The token keeps this from ending a claim that another worker has made in the meantime.
    const { token } = item
    const steps = givenBack(`the lease of ${item.owner} ran out`, { by, at })
    return await moveThrough(caller.store, todo, { ...known, token, lapsed: true, steps, claim: last })
  }
  return (await claim(caller.store, todo, { id: item.id, from: ['ready'], ...last }))!
}

/** The way of a todo from its owner back to those that wait for one. */
function givenBack(
  reason: string,
  { by, at, why = reason }: Pick<MoveStep, 'by' | 'at' | 'why'>,
): [MoveStep, MoveStep] {
  const interrupted = { to: 'interrupted', fields: { resolution_reason: reason }, by, at, why }
  return [interrupted, { to: 'ready', by, at }]
}

/** Gives a claimed todo back, so that anyone may take it. */
export async function releaseTodo(caller: Caller, item: Todo, by: Acting, reason?: string): Promise<Todo> {
  if (item.status === 'ready') return item
  const { token, ...note } = await acting(caller, item, by, reason ?? 'released')
  const steps = givenBack(reason ?? 'released', note)
  return await moveThrough(caller.store, todo, { id: item.id, known: item, token, steps })
}

/** Stops work on a todo; who worked on it has lost it. */
export async function interruptTodo(caller: Caller, item: Todo, by: Acting, reason = SESSION_ENDED): Promise<Todo> {
  const { by: who, at, token, why } = await acting(caller, item, by, reason)
  const fields = { resolution_reason: reason }
  return await move(caller.store, todo, {
    id: item.id,
    known: item,
    to: 'interrupted',
    fields,
    by: who,
    at,
    token,
    why,
  })
}

/** Goes on with a blocked todo once nothing keeps it; without an owner it needs one. */
export async function unblockTodo(
  caller: Caller,
  item: Todo,
  { as, token, leaseMs = LEASE_MS, without = [] }: Unblocking,
): Promise<{ todo: Todo; warnings: string[] }> {
  if (item.status === 'in_progress') {
    // A repeated call. It is refused where the claim has been lost since.
    const who = await acting(caller, item, { as, token })
    return {
      todo: await move(caller.store, todo, { id: item.id, known: item, to: 'in_progress', ...who }),
      warnings: [],
    }
  }
  const waiting = waitingOf(item, await lookUp(caller, sessionOf(item), item.dependencies))
  const kept = [...waiting.open, ...waiting.missing].filter(id => !isAmong(item, id, without))
  if (item.status === 'blocked' && kept.length > 0) {
    throw new Problem(
      'move_refused',
      `${qualified(item)} still waits for ${kept.join(', ')}`,
      `Complete ${kept.join(', ')} first, or go on without: punchlist backlog unblock ${qualified(item)} --without ${kept[0]}.`,
      {
        id: qualified(item),
        open: waiting.open,
        missing: waiting.missing,
        legal: todo.lifecycle.statuses[item.status]?.to,
      },
    )
  }
  const dependencies = item.dependencies.filter(id => !isAmong(item, id, without))
  const left = dependencies.length < item.dependencies.length ? { dependencies } : {}
  const who = await acting(
    caller,
    item,
    { as, token },
    without.length > 0 ? `without ${without.join(', ')}` : undefined,
  )
  const warnings = waiting.dropped.map(id => `${id} will not be done; ${qualified(item)} goes on without it`)
  if (item.assigned_to !== null || as === undefined || item.status !== 'blocked') {
    const moved = await move(caller.store, todo, { id: item.id, known: item, to: 'in_progress', fields: left, ...who })
    return { todo: await caller.store.renew(todo, moved.id, moved.token, leaseMs), warnings }
  }
  const claimed = await claim(caller.store, todo, {
    id: item.id,
    from: ['blocked'],
    to: 'in_progress',
    fields: { assigned_to: who.by, claimed_at: who.at, ...left },
    by: who.by,
    at: who.at,
    why: who.why,
    leaseMs,
  })
  return { todo: claimed!, warnings }
}

/** Todos that could be worked on now, the most pressing first. */
async function candidates(caller: Caller, where: Whereabouts): Promise<Todo[]> {
  const ready = await caller.store.find(todo, { where, status: ['ready', 'blocked'] })
  const known = await lookUp(
    caller,
    where,
    ready.flatMap(({ dependencies }) => dependencies),
  )
  return ready
    .filter(item => isFree(item, known) && (item.status === 'ready' || item.assigned_to === null))
    .toSorted(byUrgency)
}

export function byUrgency(one: Todo, other: Todo): number {
  return (
    one.priority.localeCompare(other.priority) ||
    (one.wave ?? Infinity) - (other.wave ?? Infinity) ||
    (one.execution_order ?? Infinity) - (other.execution_order ?? Infinity) ||
    Number(one.issue_id) - Number(other.issue_id) ||
    one.source.localeCompare(other.source)
  )
}

/** The next todo, claimed for the caller when he wants it; rivals get different ones. */
export async function nextTodo(caller: Caller, where: Whereabouts, claiming?: Claiming): Promise<Todo> {
  const waiting = await candidates(caller, where)
  if (!claiming && waiting[0]) return waiting[0]
  for (const item of claiming ? waiting : []) {
    try {
      if (item.status === 'blocked') {
        return (await unblockTodo(caller, item, { ...claiming, as: claiming?.as ?? caller.by })).todo
      }
      return await claimTodo(caller, item, claiming ?? {})
    } catch (error) {
      // Somebody else was first: the one after it, then.
      if (!(error instanceof Problem && ['move_refused', 'changed_meanwhile', 'not_found'].includes(error.code)))
        throw error
    }
  }
  throw await nothingNext(caller, where)
}

/** Why nothing is next, and what can be done about it. */
async function nothingNext(caller: Caller, where: Whereabouts): Promise<Problem> {
  const counts = await caller.store.count(todo, { where })
  const of = (...statuses: string[]) => statuses.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  const claimed = of('in_progress')
  const held = of('blocked', 'ready')
  const why =
    of(...Object.keys(todo.lifecycle.statuses)) === 0
      ? 'none'
      : of('pending', 'ready', 'in_progress', 'blocked', 'interrupted') === 0
        ? 'all_done'
        : held > 0
          ? 'all_blocked'
          : claimed > 0
            ? 'all_claimed'
            : of('pending') > 0
              ? 'none_triaged'
              : 'all_interrupted'
  const lapsed = claimed > 0 ? (await caller.store.lapsed(todo, 100)).filter(item => isIn(item, where)) : []
  const { fact, hint } = EXPLAINED[why]
  const takeOver = lapsed[0]
    ? ` The lease of ${qualified(lapsed[0])} ran out: punchlist backlog claim ${qualified(lapsed[0])} takes it over.`
    : ''
  return new Problem('nothing_to_do', `Nothing is next: ${fact}`, hint + takeOver, { why, counts, ...where })
}

const EXPLAINED = {
  none: { fact: 'there are no todos in this session', hint: 'Add some: punchlist backlog add TITLE --source work.' },
  all_done: { fact: 'everything is done', hint: 'Nothing is left to do here.' },
  all_claimed: {
    fact: 'everything that is ready is claimed',
    hint: 'See who works on what: punchlist backlog list --status in_progress.',
  },
  none_triaged: { fact: 'nothing has been triaged yet', hint: 'Decide what is to be done: punchlist backlog triage.' },
  all_blocked: {
    fact: 'everything that is left waits for something else',
    hint: 'See what for: punchlist backlog graph.',
  },
  all_interrupted: { fact: 'what is left was interrupted', hint: 'Bring it back: punchlist backlog resume.' },
} as const

async function hasLapsed(caller: Caller, item: Todo): Promise<boolean> {
  return (await caller.store.lapsed(todo, 10_000)).some(({ id }) => id === item.id)
}

function isIn(item: Todo, { workflow, session }: Whereabouts): boolean {
  return item.workflow === workflow && item.session === session
}
