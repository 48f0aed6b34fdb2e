import type { Expected } from './verdict.ts'

/**
 * The todos of the sessions, by the table of their statuses.
 *
 * Where the rules are silent the model follows the pages in `docs/` or the program:
 * - a verb that was carried out may be repeated with the same words and changes nothing; with others it is refused;
 * - whoever acts without a token acts with their own authority, whosever the claim is;
 * - a todo that is interrupted keeps no owner in the answers; its file may go on naming the last one;
 * - a todo is reopened once: asking again gives the one that was made, whatever has become of it;
 * - finishing again with the same words but in another name is another answer, and refused;
 * - a file that is renamed while its todo is claimed ends the claim, though it goes on naming the owner;
 * - releasing what was interrupted makes it ready, as that is the way of a release;
 * - waiting for itself is wrong input, and a circle is refused either as wrong input or as a move.
 */
export interface Todo {
  session: string
  source: string
  number: number
  title: string
  status: 'pending' | 'ready' | 'in_progress' | 'complete' | 'blocked' | 'wont_fix' | 'interrupted'
  owner: string | null
  dependencies: string[]
  resolution: string | null
  reason: string | null
  resolvedBy: string | null
  duplicateOf: string | null
  related: string[]
  finding: string | null
  /** The token of the last claim, as the program gave it. */
  token: number
  /** Whether the claim with that token still holds. */
  held: boolean
  /** Whether it has been claimed, and the token of that claim was not seen yet. */
  fresh: boolean
  reopened: boolean
  /** Whether its status was last set by hand, which adds no row to its history. */
  byHand: boolean
  /** The rows of its history as last seen. */
  history: string[]
}

export interface Backlog {
  todos: Record<string, Todo>
  /** The highest number ever seen, by `session/source`. */
  highest: Record<string, number>
}

export const emptyBacklog = (): Backlog => ({ todos: {}, highest: {} })

type About = { id: string; token?: number }
export type BacklogAction =
  | { verb: 'add'; session: string; source: string; title: string; status: 'pending' | 'ready'; finding?: string }
  | ({ verb: 'approve' } & About)
  | ({ verb: 'claim'; as: string; triage?: boolean } & About)
  | ({ verb: 'complete'; by: string; reason: string } & About)
  | ({ verb: 'block'; on: string } & About)
  | ({ verb: 'unblock'; as: string } & About)
  | ({ verb: 'interrupt' } & About)
  | ({ verb: 'resume' } & About)
  | ({ verb: 'release' } & About)
  | ({
      verb: 'dismiss'
      by: string
      as: 'false_positive' | 'out_of_scope' | 'duplicate'
      reason: string
      of?: string
    } & About)
  | ({ verb: 'reopen' } & About)
  | { verb: 'sweep'; session: string }

export const keyOf = ({ session, source, number }: Pick<Todo, 'session' | 'source' | 'number'>): string =>
  `work/${session}/${source}/${String(number).padStart(3, '0')}`

const isFinal = ({ status }: Todo) => status === 'complete' || status === 'wont_fix'

/** Carries an action out, or says how it is refused; then nothing has changed. */
export function actOnBacklog(state: Backlog, action: BacklogAction): Expected {
  if (action.verb === 'add') return add(state, action)
  if (action.verb === 'sweep') return sweep(state, action.session)
  const todo = state.todos[action.id]
  if (!todo) return 'not_found'
  const late = action.token !== undefined && !(todo.held && action.token === todo.token)
  if (late && isClaimed(todo))
    return blocking.has(action.verb) ? ['lease_lost', 'bad_input', 'move_refused'] : 'lease_lost'
  const before = todo.status
  const verdict = decide(state, todo, action)
  if (todo.status !== before) todo.byHand = false
  // What an older token is answered about a todo that nobody holds: lost, or refused as such.
  if (late) return verdict === 'ok' ? ['ok', 'lease_lost'] : ['lease_lost', 'move_refused', 'not_found', 'bad_input']
  return verdict
}

/** What these are about may be refused before the token is compared. */
const blocking = new Set<string>(['block', 'unblock'])
const isClaimed = ({ status, owner }: Todo) => owner !== null && (status === 'in_progress' || status === 'blocked')

function add(
  state: Backlog,
  { session, source, title, status, finding = '' }: Extract<BacklogAction, { verb: 'add' }>,
): Expected {
  const there = Object.values(state.todos).some(todo => todo.session === session && todo.finding === finding)
  if (finding !== '' && there) return 'ok'
  put(state, { session, source, title, status, finding: finding || null })
  return 'ok'
}

/** Puts a todo into the list, under the next number unless it brings one. */
export function put(
  state: Backlog,
  todo: Pick<Todo, 'session' | 'source' | 'title' | 'status' | 'finding'> & { number?: number },
): Todo {
  const list = `${todo.session}/${todo.source}`
  const number = todo.number ?? (state.highest[list] ?? 0) + 1
  state.highest[list] = Math.max(number, state.highest[list] ?? 0)
  const nothing = {
    owner: null,
    resolution: null,
    reason: null,
    resolvedBy: null,
    duplicateOf: null,
    token: 0,
    held: false,
    fresh: false,
    byHand: false,
    reopened: false,
  }
  const { session, source, title, status, finding } = todo
  const made: Todo = {
    ...nothing,
    session,
    source,
    title,
    status,
    finding,
    number,
    dependencies: [],
    related: [],
    history: [],
  }
  state.todos[keyOf(made)] = made
  return made
}

function sweep(state: Backlog, session: string): Expected {
  for (const todo of Object.values(state.todos)) {
    if (todo.session !== session) continue
    if (todo.status === 'in_progress') interrupt(todo)
    if (todo.status === 'blocked') Object.assign(todo, { owner: null, held: false })
  }
  return 'ok'
}

function interrupt(todo: Todo): void {
  Object.assign(todo, { status: 'interrupted', owner: null, held: false })
}

type OneTodo = Extract<BacklogAction, { id: string }>

function decide(state: Backlog, todo: Todo, action: OneTodo): Expected {
  const { status } = todo
  switch (action.verb) {
    case 'approve':
      if (status === 'pending') todo.status = 'ready'
      return status === 'pending' || status === 'ready' ? 'ok' : 'move_refused'
    case 'claim': {
      if (status === 'in_progress' && todo.owner === action.as) {
        if (!todo.held) Object.assign(todo, { held: true, fresh: true })
        return 'ok'
      }
      if (status !== 'ready' && !(status === 'pending' && action.triage)) return 'move_refused'
      Object.assign(todo, { status: 'in_progress', owner: action.as, held: true, fresh: true })
      return 'ok'
    }
    case 'complete':
      if (isFinal(todo))
        return status === 'complete' && todo.reason === action.reason && todo.resolvedBy === action.by
          ? 'ok'
          : 'move_refused'
      if (status !== 'in_progress' && status !== 'pending') return 'move_refused'
      return finish(todo, 'complete', { resolution: 'fixed', reason: action.reason, resolvedBy: action.by })
    case 'block':
      return block(state, todo, action.on)
    case 'unblock':
      return unblock(state, todo, action.as)
    case 'interrupt':
      if (status === 'interrupted') return 'ok'
      if (status !== 'in_progress') return 'move_refused'
      interrupt(todo)
      return 'ok'
    case 'resume':
      if (status === 'ready') return 'ok'
      if (status !== 'interrupted') return 'move_refused'
      todo.status = 'ready'
      return 'ok'
    case 'release':
      if (status === 'ready') return 'ok'
      if (status !== 'in_progress' && status !== 'interrupted') return 'move_refused'
      Object.assign(todo, { status: 'ready', owner: null, held: false })
      return 'ok'
    case 'dismiss':
      return dismiss(state, todo, action)
    default: {
      if (!isFinal(todo)) return 'move_refused'
      if (todo.reopened) return 'ok'
      const made = put(state, {
        ...todo,
        number: (state.highest[`${todo.session}/${todo.source}`] ?? 0) + 1,
        status: 'pending',
        finding: null,
      })
      made.related.push(keyOf(todo))
      todo.related.push(keyOf(made))
      todo.reopened = true
      return 'ok'
    }
  }
}

function finish(todo: Todo, status: Todo['status'], how: Pick<Todo, 'resolution' | 'reason' | 'resolvedBy'>): Expected {
  Object.assign(todo, { status, held: false, ...how })
  return 'ok'
}

function block(state: Backlog, todo: Todo, on: string): Expected {
  if (!state.todos[on]) return 'not_found'
  if (on === keyOf(todo)) return 'bad_input'
  const known = todo.dependencies.includes(on)
  if (todo.status === 'blocked' && known) return 'ok'
  if (todo.status !== 'in_progress' && todo.status !== 'blocked') return 'move_refused'
  if (waitsFor(state, on).has(keyOf(todo))) return ['bad_input', 'move_refused']
  if (!known) todo.dependencies.push(on)
  todo.status = 'blocked'
  return 'ok'
}

/** Everything that a todo waits for, itself included. */
function waitsFor(state: Backlog, id: string, seen = new Set<string>()): Set<string> {
  if (seen.has(id)) return seen
  seen.add(id)
  for (const dependency of state.todos[id]?.dependencies ?? []) waitsFor(state, dependency, seen)
  return seen
}

function unblock(state: Backlog, todo: Todo, as: string): Expected {
  if (todo.status === 'in_progress') return 'ok'
  if (todo.status !== 'blocked') return 'move_refused'
  if (todo.dependencies.some(id => !isFinal(state.todos[id]!))) return 'move_refused'
  // Without the owner it had, going on is a new claim.
  if (todo.owner === null) Object.assign(todo, { owner: as, held: true, fresh: true })
  todo.status = 'in_progress'
  return 'ok'
}

function dismiss(state: Backlog, todo: Todo, action: Extract<BacklogAction, { verb: 'dismiss' }>): Expected {
  const { by, as, reason, of } = action
  if (as === 'duplicate' && of === keyOf(todo)) return ['bad_input', 'move_refused']
  if (isFinal(todo)) {
    const same =
      todo.status === 'wont_fix' && todo.resolution === as && todo.reason === reason && todo.resolvedBy === by
    return same && (as !== 'duplicate' || todo.duplicateOf === rootOf(state, of!)) ? 'ok' : 'move_refused'
  }
  if (as === 'duplicate') {
    if (!state.todos[of!]) return 'not_found'
    const root = rootOf(state, of!)
    if (root === keyOf(todo)) return ['bad_input', 'move_refused']
    todo.duplicateOf = root
    const first = state.todos[root]!
    if (!first.related.includes(keyOf(todo))) first.related.push(keyOf(todo))
  }
  return finish(todo, 'wont_fix', { resolution: as, reason, resolvedBy: by })
}

function rootOf(state: Backlog, id: string): string {
  const next = state.todos[id]?.duplicateOf
  return next ? rootOf(state, next) : id
}
