import { ownsByName, requireOwnClaim } from '../core/authority.ts'
import { amend, move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { checkedSession, type Whereabouts, WORKFLOWS, type Workflow } from '../core/session.ts'
import type { Removed } from '../core/store.ts'
import { namedToken } from './acting.ts'
import { interruptTodo } from './claiming.ts'
import { todo } from './kind.ts'
import { qualified } from './names.ts'
import { SESSION_ENDED, type Todo } from './record.ts'
import { refuseUnlessFrom } from './ways-back.ts'

/** Ends a session: its claims are interrupted, its blocked todos stay blocked and have no owner. Others' are left alone. */
export async function sweepSession(
  caller: Caller,
  session: string,
  workflows: readonly Workflow[] = WORKFLOWS,
): Promise<{ interrupted: Todo[]; released: Todo[] }> {
  await requireOwnClaims(caller, session, workflows)
  const interrupted: Todo[] = []
  const released: Todo[] = []
  for (const workflow of workflows) {
    const where = { workflow, session }
    for (const item of await caller.store.find(todo, { where, status: ['in_progress'] })) {
      interrupted.push(
        await interruptTodo(caller, item, (await ownsByName(caller, item)) ? { token: item.token } : {}, SESSION_ENDED),
      )
    }
    const blocked = await caller.store.find(todo, { where, status: ['blocked'] })
    for (const item of blocked.filter(({ assigned_to }) => assigned_to !== null)) {
      const freed = { assigned_to: null, claimed_at: null, owner: null }
      released.push(
        await amend(caller.store, todo, {
          id: item.id,
          fields: ({ token, status }) => (status === 'blocked' ? { ...freed, token: token + 1 } : {}),
          by: caller.by,
          at: caller.now().toISOString(),
          why: SESSION_ENDED,
        }),
      )
    }
  }
  return { interrupted, released }
}

/** Before anything is written: a session is ended as a whole. */
async function requireOwnClaims(caller: Caller, session: string, workflows: readonly Workflow[]): Promise<void> {
  for (const workflow of workflows) {
    const items = await caller.store.find(todo, { where: { workflow, session }, status: ['in_progress', 'blocked'] })
    for (const item of items) await requireOwnClaim(caller, todo, item, namedToken(caller, item))
  }
}

/** The interrupted todos of a session, in every workflow unless one is named. Which session is said, or is the only one. */
export async function interruptedTodos(caller: Caller, flow: Workflow | undefined): Promise<Todo[]> {
  const { session } = caller.scope
  const where = {
    ...(session !== undefined && { session: checkedSession(session) }),
    ...(flow !== undefined && { workflow: flow }),
  }
  const items = await caller.store.find(todo, { where, status: ['interrupted'] })
  const sessions = [...new Set(items.map(item => item.session))]
  if (sessions.length < 2) return items
  throw new Problem(
    'bad_input',
    `There are interrupted todos in several sessions: ${sessions.join(', ')}`,
    `Say which: punchlist backlog resume --session ${sessions[0]}.`,
    { sessions },
  )
}

/** Brings interrupted todos back: one, or all of a session. */
export async function resumeTodos(caller: Caller, items: readonly Todo[]): Promise<Todo[]> {
  const resumed: Todo[] = []
  for (const item of items) {
    const at = caller.now().toISOString()
    const fields = (now: Todo) => (refuseUnlessFrom(now, 'interrupted'), {})
    const who = { by: caller.by, at, why: 'resumed' }
    resumed.push(await move(caller.store, todo, { id: item.id, known: item, to: 'ready', fields, ...who }))
  }
  return resumed
}

/** Takes a whole session out of the store, unless somebody works in it. */
export async function removeSession(caller: Caller, where: Whereabouts): Promise<Removed> {
  const claimed = await caller.store.find(todo, { where, status: ['in_progress'] })
  const lapsed = new Set((await caller.store.lapsed(todo, 10_000)).map(({ id }) => id))
  const live = claimed.filter(({ id }) => !lapsed.has(id)).map(qualified)
  if (live.length > 0) {
    throw new Problem(
      'move_refused',
      `Session ${where.session} has claims that are live: ${live.join(', ')}`,
      `End it first: punchlist backlog sweep --session ${where.session}.`,
      { ...where, live },
    )
  }
  const known = await caller.store.names(todo, 'session', { workflow: where.workflow })
  if (!known.includes(where.session)) return { count: 0, to: null }
  const why = `session ${where.session} removed`
  return await caller.store.remove(todo, where, { by: caller.by, at: caller.now().toISOString(), why })
}
