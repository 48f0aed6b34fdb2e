import { openStatuses } from '../core/lifecycle.ts'
import { amend, move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { type Acting, acting } from './acting.ts'
import { freedBy, requireFree } from './dependencies.ts'
import { withLogEntry } from './file/body.ts'
import { todo } from './kind.ts'
import { locateWithin, lookUp, sessionOf } from './locating.ts'
import { qualified } from './names.ts'
import type { Resolution, Todo } from './record.ts'
import { refuseUnlessFrom } from './ways-back.ts'

export async function approveTodo(caller: Caller, item: Todo, why?: string): Promise<Todo> {
  const at = caller.now().toISOString()
  const fields = (now: Todo) => (refuseUnlessFrom(now, 'pending'), {})
  return await move(caller.store, todo, { id: item.id, known: item, to: 'ready', fields, by: caller.by, at, why })
}

export interface Resolving extends Acting {
  readonly resolution?: Resolution | undefined
  readonly reason?: string | undefined
  /** The todo it duplicates, or is superseded by. */
  readonly of?: string | undefined
  /** Dependencies that it is complete without. */
  readonly without?: readonly string[] | undefined
}

/** A finished todo, and the blocked ones that may go on because of it. */
export interface Resolved {
  readonly todo: Todo
  readonly freed: readonly string[]
}

export async function completeTodo(caller: Caller, item: Todo, resolving: Resolving): Promise<Resolved> {
  const { resolution = 'fixed', reason } = resolving
  const isOpen = openStatuses(todo.lifecycle).includes(item.status)
  const waived = isOpen ? await requireFree(caller, item, 'complete', resolving) : { fields: {} }
  const told = waived.why === undefined ? reason : `${reason} (${waived.why})`
  const { by, at, token, why } = await acting(caller, item, resolving, told)
  const root = resolving.of === undefined ? undefined : await rootOf(caller, item, resolving.of)
  const actions = reason === undefined ? [] : [reason]
  const entry = { date: at.slice(0, 10), phase: 'complete', by, actions, learnings: [] }
  const done = await move(caller.store, todo, {
    id: item.id,
    to: 'complete',
    fields: { ...resolved(resolution, reason, by, root), completed_by: by, ...waived.fields },
    texts: ({ body = '' }) => ({ body: withLogEntry(body, entry) }),
    by,
    at,
    token,
    why,
  })
  if (root) await link(caller, root, done)
  return { todo: done, freed: await freedBy(caller, done) }
}

export async function dismissTodo(caller: Caller, item: Todo, resolving: Resolving): Promise<Resolved> {
  const { resolution, reason } = resolving
  const { by, at, token, why } = await acting(caller, item, resolving, [resolution, reason].filter(Boolean).join(': '))
  const root = resolving.of === undefined ? undefined : await rootOf(caller, item, resolving.of)
  const dropped = await move(caller.store, todo, {
    id: item.id,
    to: 'wont_fix',
    fields: resolved(resolution, reason, by, root),
    by,
    at,
    token,
    why,
  })
  if (root) await link(caller, root, dropped)
  return { todo: dropped, freed: await freedBy(caller, dropped) }
}

export interface LogEntry extends Acting {
  readonly text: string
  readonly phase?: string | undefined
  readonly learnings?: readonly string[] | undefined
}

/** Adds an entry to a todo's work log. The same entry twice in a row is one. */
export async function logWork(caller: Caller, item: Todo, entry: LogEntry): Promise<Todo> {
  const { text, phase = item.status, learnings = [] } = entry
  const { by, at, token, why } = await acting(caller, item, entry, `work log: ${text.slice(0, 200)}`)
  const told = { date: at.slice(0, 10), phase, by, actions: [text], learnings }
  return await amend(caller.store, todo, {
    id: item.id,
    texts: ({ body = '' }) => ({ body: withLogEntry(body, told) }),
    by,
    at,
    token,
    why,
  })
}

function resolved(resolution: Resolution | undefined, reason: string | undefined, by: string, root: Todo | undefined) {
  const given = {
    ...(resolution === undefined ? {} : { resolution, resolved_by: by }),
    ...(reason === undefined ? { resolution_reason: null } : { resolution_reason: reason }),
  }
  return root && resolution === 'duplicate' ? { ...given, duplicate_of: qualified(root) } : given
}

/** The todo at the end of a chain of duplicates. */
async function rootOf(caller: Caller, item: Todo, of: string): Promise<Todo> {
  const where = sessionOf(item)
  let root = await locateWithin(caller, where, of)
  const seen = new Set<string>()
  while (root.duplicate_of !== null && !seen.has(root.id) && root.id !== item.id) {
    seen.add(root.id)
    const next = (await lookUp(caller, where, [root.duplicate_of])).get(root.duplicate_of)
    if (!next) break
    root = next
  }
  if (root.id !== item.id) return root
  throw new Problem('bad_input', `${qualified(item)} would be a duplicate of itself`, 'Name another todo with --of.', {
    id: qualified(item),
    of,
  })
}

/** The one that stays knows of those that were given up for it. */
async function link(caller: Caller, root: Todo, item: Todo): Promise<void> {
  const name = qualified(item)
  await amend(caller.store, todo, {
    id: root.id,
    fields: ({ related_todos }) => ({ related_todos: [...new Set([...related_todos, name])] }),
    by: caller.by,
    at: caller.now().toISOString(),
    why: `${name}: ${item.resolution}`,
  })
}
