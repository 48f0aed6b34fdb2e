import { type Fields, refusalFor } from '../core/lifecycle.ts'
import { amend, refused } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Whereabouts } from '../core/session.ts'
import type { Added } from '../core/store.ts'
import { dependenciesFrom, waitingOf } from './dependencies.ts'
import { newBody } from './file/body.ts'
import { todo } from './kind.ts'
import { lookUp, sessionOf } from './locating.ts'
import { identityOf, qualified } from './names.ts'
import type { Priority, Resolution, Todo } from './record.ts'

export interface NewTodo {
  readonly title: string
  readonly source: string
  readonly priority?: Priority | undefined
  readonly status?: 'pending' | 'ready' | 'complete' | undefined
  /** What came of one that is complete already, and why. */
  readonly resolution?: Resolution | undefined
  readonly reason?: string | undefined
  readonly findingId?: string | undefined
  readonly sourceRef?: string | undefined
  readonly severity?: string | undefined
  readonly dependsOn?: readonly string[] | undefined
  readonly files?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly related?: readonly string[] | undefined
  readonly body?: string | undefined
}

/** Adds todos, all or none. A finding that is there already, in whatever status, is given back as it stands. */
export async function addTodos(caller: Caller, where: Whereabouts, items: readonly NewTodo[]): Promise<Added<Todo>[]> {
  const at = caller.now().toISOString()
  const drafts = []
  for (const item of items) {
    const { title, source, findingId = null, sourceRef = null, status = 'pending', body } = item
    const list = { ...where, source }
    const dependencies = await dependenciesFrom(caller, where, item.dependsOn ?? [])
    const fields: Fields = {
      ...list,
      schema_version: 2,
      priority: item.priority ?? 'p2',
      source_ref: sourceRef,
      finding_id: findingId,
      finding_severity: item.severity ?? null,
      tags: item.tags ?? [],
      dependencies,
      files: item.files ?? [],
      related_todos: item.related ?? [],
      workflow_chain: [],
      created: at.slice(0, 10),
      updated: at.slice(0, 10),
      ...(await completion(caller, where, item, dependencies)),
    }
    const refusal = refusalFor(todo.lifecycle, null, { ...fields, status })
    if (refusal) throw refused(todo, { id: title, status: 'new' }, status, refusal)
    const identity = identityOf(list, findingId, sourceRef) ?? undefined
    drafts.push({ title, status, identity, fields, texts: { body: newBody(body) } })
  }
  return await caller.store.insert(todo, drafts, { by: caller.by, at })
}

/** What a todo has that is complete when it is added. What is missing of it is for the judge to say. */
async function completion(
  caller: Caller,
  where: Whereabouts,
  { title, status, resolution, reason }: NewTodo,
  dependencies: readonly string[],
): Promise<Fields> {
  if (status !== 'complete') {
    if (resolution === undefined && reason === undefined) return {}
    const hint = 'Send status complete with them, or leave them out.'
    throw new Problem('bad_input', 'resolution, reason: only a todo that is complete has them', hint, { title })
  }
  const { open, missing } = waitingOf({ dependencies }, await lookUp(caller, where, dependencies))
  const waits = [...open, ...missing]
  if (waits.length > 0) {
    const hint = `Complete ${waits.join(', ')} first, or leave out the dependency.`
    throw new Problem('move_refused', `${title} still waits for ${waits.join(', ')}`, hint, { open, missing })
  }
  const at = caller.now().toISOString()
  const resolved = resolution === undefined ? {} : { resolution, resolved_by: caller.by }
  const told = { ...resolved, resolution_reason: reason ?? null, completed_by: caller.by }
  return { ...told, resolved_at: at, completed_at: at }
}

/**
 * Makes a new todo of a finished one, each linked to the other. Once only: it
 * is a finding of its own, so that asking again gives back the same one.
 */
export async function reopenTodo(caller: Caller, old: Todo, reason: string | undefined): Promise<Added<Todo>> {
  if (old.status !== 'complete' && old.status !== 'wont_fix') {
    const legal = todo.lifecycle.statuses[old.status]?.to ?? []
    throw new Problem(
      'move_refused',
      `${qualified(old)} is ${old.status}, not finished`,
      `Legal from ${old.status}: ${legal.join(', ')}.`,
      { id: qualified(old), status: old.status, legal },
    )
  }
  const name = qualified(old)
  const { body } = (await caller.store.texts(todo, [old.id])).get(old.id) ?? {}
  const [added] = await addTodos(caller, sessionOf(old), [
    {
      title: old.title,
      source: old.source,
      priority: old.priority,
      findingId: old.finding_id ?? name,
      sourceRef: `reopened from ${name}`,
      severity: old.finding_severity ?? undefined,
      files: old.files,
      tags: old.tags,
      related: [name],
      body: body ?? reason,
    },
  ])
  const link = qualified(added!.item)
  await amend(caller.store, todo, {
    id: old.id,
    fields: ({ related_todos }) => ({ related_todos: [...new Set([...related_todos, link])] }),
    by: caller.by,
    at: caller.now().toISOString(),
    why: reason ?? `reopened as ${link}`,
  })
  return added!
}
