import { type Fields, openStatuses, phaseOf } from '../core/lifecycle.ts'
import { move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Whereabouts } from '../core/session.ts'
import { type Acting, acting } from './acting.ts'
import { todo } from './kind.ts'
import { locateWithin, lookUp, sessionOf } from './locating.ts'
import { qualified } from './names.ts'
import type { Todo } from './record.ts'

/** What a todo waits for: which of its dependencies are open, which are not there, and which will not be done. */
export interface Waiting {
  readonly open: readonly string[]
  readonly missing: readonly string[]
  readonly dropped: readonly string[]
}

export function waitingOf(item: Pick<Todo, 'dependencies'>, known: ReadonlyMap<string, Todo>): Waiting {
  const missing = item.dependencies.filter(id => !known.has(id))
  const phase = (id: string) => phaseOf(todo.lifecycle, known.get(id)?.status ?? '')
  const there = item.dependencies.filter(id => known.has(id))
  return {
    missing,
    open: there.filter(id => phase(id) !== 'done' && phase(id) !== 'dropped'),
    dropped: there.filter(id => phase(id) === 'dropped'),
  }
}

export function isFree(item: Todo, known: ReadonlyMap<string, Todo>): boolean {
  const { open, missing } = waitingOf(item, known)
  return open.length === 0 && missing.length === 0
}

/** Dependencies that a todo goes on without, and why. */
export interface Waiver {
  readonly without?: readonly string[] | undefined
  readonly reason?: string | undefined
}

/** What becomes of a todo's dependencies when it goes on, and what its history says of that. */
export interface Waived {
  readonly fields: Fields
  readonly why?: string | undefined
}

/** Refuses to go on with a todo while it waits for others, but for those that are waived with a reason. */
export async function requireFree(
  caller: Caller,
  item: Todo,
  verb: 'claim' | 'complete',
  { without = [], reason }: Waiver,
): Promise<Waived> {
  if (without.length > 0 && reason === undefined) {
    throw new Problem(
      'bad_input',
      'reason: is missing',
      `Say why it goes on without ${without.join(', ')}: --reason TEXT.`,
    )
  }
  if (item.dependencies.length === 0) return { fields: {} }
  const waived = item.dependencies.filter(id => isAmong(item, id, without))
  const kept = item.dependencies.filter(id => !waived.includes(id))
  const { open, missing } = waitingOf({ dependencies: kept }, await lookUp(caller, sessionOf(item), kept))
  const waits = [...open, ...missing]
  if (waits.length > 0) {
    const self = item.id
    throw new Problem(
      'move_refused',
      `${qualified(item)} still waits for ${waits.join(', ')}`,
      `Complete ${waits.join(', ')} first, or go on without: punchlist backlog ${verb} ${self} --without ${waits[0]} --reason TEXT.`,
      { id: self, from: item.status, open, missing },
    )
  }
  return waived.length > 0 ? { fields: { dependencies: kept }, why: `without ${waived.join(', ')}` } : { fields: {} }
}

/** Whether a dependency of a todo is one of those that a caller names, by number, by source and number, or in full. */
export function isAmong(item: Todo, id: string, names: readonly string[]): boolean {
  const [source, number] = id.split('/')
  return names.some(name => {
    const [last, before = source, session = item.session, workflow = item.workflow] = name.split('/').toReversed()
    const isHere = session === item.session && workflow === item.workflow
    return isHere && Number(last) === Number(number) && before === source
  })
}

/** The todos a caller names as dependencies of one that may not be there yet. */
export async function dependenciesFrom(
  caller: Caller,
  where: Whereabouts,
  names: readonly string[],
): Promise<string[]> {
  const found: string[] = []
  for (const name of names) found.push(qualified(await locateWithin(caller, where, name)))
  return [...new Set(found)]
}

/** Says that a todo waits for others. What it waited for already stays. */
export async function blockTodo(caller: Caller, item: Todo, on: readonly string[], by: Acting): Promise<Todo> {
  const where = sessionOf(item)
  const named = await dependenciesFrom(caller, where, on)
  const self = qualified(item)
  if (named.includes(self)) {
    throw new Problem('bad_input', `${self} cannot wait for itself`, 'Name another todo with --on.', { id: self })
  }
  const added = named.filter(id => !item.dependencies.includes(id))
  const all = [...item.dependencies, ...added]
  refuseCycle(cycleFrom(self, all, await dependenciesIn(caller, where)))
  const { by: who, at, token, why } = await acting(caller, item, by, `waits for ${all.join(', ')}`)
  const blocked = await move(caller.store, todo, {
    id: item.id,
    to: 'blocked',
    fields: ({ dependencies }) => ({ dependencies: [...new Set([...dependencies, ...named])] }),
    by: who,
    at,
    token,
    why,
  })
  // Someone may have made the other half of a cycle in the same moment. Whoever sees it whole takes his part back.
  const cycle = cycleFrom(self, blocked.dependencies, await dependenciesIn(caller, where))
  if (cycle) {
    const to = item.status === 'blocked' ? 'blocked' : 'in_progress'
    const fields = ({ dependencies }: Todo) => ({ dependencies: dependencies.filter(id => !added.includes(id)) })
    await move(caller.store, todo, { id: item.id, to, fields, by: who, at, why: 'would wait in a circle' })
  }
  refuseCycle(cycle)
  return blocked
}

/** Blocked todos that nothing keeps any longer, once this one is finished. */
export async function freedBy(caller: Caller, finished: Todo): Promise<string[]> {
  const where = sessionOf(finished)
  const blocked = await caller.store.find(todo, { where, status: ['blocked'] })
  const name = qualified(finished)
  const waiting = blocked.filter(({ dependencies }) => dependencies.includes(name))
  const known = await lookUp(
    caller,
    where,
    waiting.flatMap(({ dependencies }) => dependencies),
  )
  return waiting.filter(item => isFree(item, known)).map(qualified)
}

/** Who waits for whom in a session, by qualified id. */
export type Dependencies = ReadonlyMap<string, readonly string[]>

export function dependenciesAmong(items: readonly Todo[]): Dependencies {
  return new Map(items.map(item => [qualified(item), item.dependencies]))
}

async function dependenciesIn(caller: Caller, where: Whereabouts): Promise<Dependencies> {
  return dependenciesAmong(await caller.store.find(todo, { where, status: openStatuses(todo.lifecycle) }))
}

/** The way from a todo back to itself, if these were its dependencies; without recursion, as chains can be long. */
export function cycleFrom(start: string, dependencies: readonly string[], known: Dependencies): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const open = dependencies.map(id => ({ id, from: start }))
  for (let step = open.pop(); step; step = open.pop()) {
    if (step.id === start) return pathTo(start, step.from, cameFrom)
    if (cameFrom.has(step.id)) continue
    cameFrom.set(step.id, step.from)
    for (const next of known.get(step.id) ?? []) open.push({ id: next, from: step.id })
  }
  return undefined
}

function pathTo(start: string, last: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [start]
  for (let at: string | undefined = last; at !== undefined && at !== start; at = cameFrom.get(at)) path.push(at)
  return [start, ...path.slice(1).toReversed(), start]
}

function refuseCycle(cycle: readonly string[] | undefined): void {
  if (!cycle) return
  throw new Problem(
    'move_refused',
    `They would wait for each other: ${cycle.join(' -> ')}`,
    'Leave out one of these dependencies.',
    { cycle },
  )
}
