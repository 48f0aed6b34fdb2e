import type { Caller } from '../core/operation.ts'
import { type Whereabouts, WORKFLOWS } from '../core/session.ts'
import { isFree } from './dependencies.ts'
import { todo } from './kind.ts'
import { lookUp, sessionOf } from './locating.ts'
import type { Todo } from './record.ts'

type StaleKind = 'orphaned_work_session' | 'long_running_in_progress' | 'unresolved_blocked' | 'lingering_interrupted'

export interface Stale {
  readonly todo: Todo
  readonly kind: StaleKind
  readonly since: string
  readonly detail: string
}

const QUIET_MS = 30 * 60_000
const STALE_MS = 24 * 3_600_000

/** What has been left lying: reported, never touched. A claim without a lease is judged by when it was last written. */
export async function staleTodos(
  caller: Caller,
  where: Partial<Whereabouts>,
): Promise<{ stale: Stale[]; quiet: { todo: Todo; since: string }[] }> {
  const stale: Stale[] = []
  const quiet: { todo: Todo; since: string }[] = []
  const open = await caller.store.find(todo, {
    where,
    status: ['pending', 'ready', 'in_progress', 'blocked', 'interrupted'],
  })
  const touched = await caller.store.activity(
    todo,
    open.map(({ id }) => id),
  )
  const lapsed = new Set((await caller.store.lapsed(todo, 10_000)).map(({ id }) => id))
  const now = caller.now().getTime()
  for (const item of open) {
    const last = touched.get(item.id) ?? item.claimed_at ?? caller.now().toISOString()
    const add = (kind: StaleKind, since: string, detail: string) => stale.push({ todo: item, kind, since, detail })
    if (item.work_session !== null && !(await exists(caller, item.work_session))) {
      add('orphaned_work_session', last, `session ${item.work_session} is not there any more`)
    }
    if (item.status === 'in_progress' && lapsed.has(item.id)) {
      add('long_running_in_progress', item.leaseUntil ?? last, `the lease of ${item.assigned_to} ran out`)
    } else if (item.status === 'in_progress' && item.leaseUntil === null) {
      const age = now - Date.parse(last)
      if (age >= STALE_MS)
        add('long_running_in_progress', last, `nothing was written for ${Math.floor(age / 3_600_000)} hours`)
      else if (age >= QUIET_MS) quiet.push({ todo: item, since: last })
    }
    if (item.status === 'blocked') {
      const known = await lookUp(caller, sessionOf(item), item.dependencies)
      const detail = isFree(item, known)
        ? 'nothing keeps it any longer: unblock it'
        : `waits for ${item.dependencies.join(', ')}`
      add('unresolved_blocked', await arrival(caller, item, last), detail)
    }
    if (item.status === 'interrupted') {
      add('lingering_interrupted', await arrival(caller, item, last), 'was never resumed')
    }
  }
  return { stale, quiet }
}

/** When a todo came to stand where it does, as its history tells. */
async function arrival(caller: Caller, item: Todo, otherwise: string): Promise<string> {
  const history = await caller.store.events({ of: { kind: todo, id: item.id } })
  return history.findLast(({ from, to }) => to === item.status && from !== to)?.at ?? otherwise
}

async function exists(caller: Caller, session: string): Promise<boolean> {
  for (const workflow of WORKFLOWS) {
    if ((await caller.store.names(todo, 'session', { workflow })).includes(session)) return true
  }
  return false
}
