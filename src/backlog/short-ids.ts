import { openStatuses, phaseOf } from '../core/lifecycle.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { type Workflow, whereabouts } from '../core/session.ts'
import { type Acting, isAbout } from './acting.ts'
import { todo } from './kind.ts'
import { locate, nameIn } from './locating.ts'
import { digits, storeId } from './names.ts'
import type { Todo } from './record.ts'

export interface Meaning extends Acting {
  /** Whether a finished todo is as this call would leave it: then the call may be one that is repeated. */
  readonly repeats?: ((item: Todo) => boolean) | undefined
  /** The verb is about todos that are finished. */
  readonly finished?: boolean | undefined
}

/**
 * Finds the todo that a verb writes about. A short id can fit todos of several sessions, and which session is the newest
 * changes between two calls: the one who holds a claim means what they claimed, and everything else that is ambiguous is
 * refused with the full ids.
 */
export async function requireOne(
  caller: Caller,
  flow: Workflow | undefined,
  name: string,
  meaning: Meaning = {},
): Promise<Todo> {
  const { task, token } = caller.scope
  const where = await whereabouts(caller, flow)
  if (nameIn(name).session !== undefined || caller.scope.session !== undefined) return await locate(caller, where, name)
  const fits = await fitting(caller, where.workflow, name)
  const named = token === undefined ? undefined : fits.find(({ id }) => id === task)
  if (named) return named
  const about = fits.some(item => isAbout(task, item))
  const held = heldBy(meaning.as ?? caller.by, fits, meaning.token ?? (about ? token : undefined))
  const isOpen = ({ status }: Todo) => openStatuses(todo.lifecycle).includes(status)
  const newest = fits.filter(({ session }) => session === where.session)
  const open = fits.filter(item => (meaning.finished ? !isOpen(item) : isOpen(item)))
  const possible = new Set([
    ...open,
    ...(open.length > 0 && !meaning.finished ? newest : []),
    ...repeated(fits, meaning),
  ])
  const candidates =
    held.length > 0
      ? held
      : possible.size > 0
        ? fits.filter(item => possible.has(item))
        : newest.length > 0
          ? newest
          : fits
  const [only, ...others] = candidates
  if (only && others.length === 0) return only
  if (!only) return await locate(caller, where, name)
  throw ambiguous(name, candidates)
}

/** The todos of all sessions that a short id fits. */
async function fitting(caller: Caller, workflow: Workflow, name: string): Promise<Todo[]> {
  const { number, source } = nameIn(name)
  const { store } = caller
  const sessions = await store.names(todo, 'session', { workflow })
  const sources = source === undefined ? await store.names(todo, 'source', { workflow }) : [source]
  const ids = sessions.flatMap(session =>
    sources.map(one => storeId({ workflow, session, source: one }, digits(number))),
  )
  const fits: Todo[] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    fits.push(...(await store.find(todo, { where: { workflow, id: ids.slice(from, from + AT_ONCE) } })))
  }
  return fits
}

const AT_ONCE = 500

/** The claims that are meant: those with this token, or else those in this name. */
function heldBy(by: string, fits: readonly Todo[], token: number | undefined): readonly Todo[] {
  const claimed = ({ owner, status }: Todo) => owner !== null && phaseOf(todo.lifecycle, status) !== 'waiting'
  if (token === undefined) return fits.filter(item => isActive(item) && claimed(item) && item.owner === by)
  const tokened = fits.filter(item => claimed(item) && item.token === token)
  const own = tokened.filter(({ owner }) => owner === by)
  return own.length > 0 ? own : tokened
}

function isActive({ status }: Todo): boolean {
  return ['active', 'held'].includes(phaseOf(todo.lifecycle, status) ?? '')
}

function repeated(fits: readonly Todo[], { repeats }: Meaning): Todo[] {
  return repeats ? fits.filter(repeats) : []
}

function ambiguous(name: string, candidates: readonly Todo[]): Problem {
  const ids = candidates.map(({ id }) => id)
  return new Problem(
    'bad_input',
    `${name} could be ${ids.join(' or ')}`,
    `Name it in full: ${ids[0]}; or name its session: --session ${candidates[0]!.session}.`,
    { id: name, candidates: ids },
  )
}
