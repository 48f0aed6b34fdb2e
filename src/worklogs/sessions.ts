import { move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { type Whereabouts, WORKFLOWS, type Workflow } from '../core/session.ts'
import type { Unreadable } from '../core/store.ts'
import { type Told, toldBy } from './accounts.ts'
import { remarksOn } from './file/remarks.ts'
import { worklog } from './kind.ts'
import { type Overview, overviewOf, progressOf } from './progress.ts'
import type { Worklog } from './record.ts'
import { pathOf } from './view.ts'

/** Everything that is told in a session. */
export interface Session {
  readonly told: readonly Told[]
  /** Files that could not be read: their workers are named, not left out in silence. */
  readonly unread: readonly Unreadable[]
  /** The same, and what was passed over in files that could be read. */
  readonly warnings: readonly Unreadable[]
}

export async function readSession(caller: Caller, where: Whereabouts): Promise<Session> {
  const items = await caller.store.find(worklog, { where })
  const told = await toldBy(caller, items.toSorted(byWorker))
  const unread = await caller.store.unreadable(worklog, where)
  const remarks = items.flatMap(item =>
    remarksOn(item).map(message => ({ file: pathOf(caller, item), line: 1, message })),
  )
  return { told, unread, warnings: [...unread, ...remarks] }
}

export function overviewIn({ told, unread }: Session, wards?: Overview['wards']): Overview {
  const progress = told.map(({ item, account }) => progressOf(item, account))
  return overviewOf(progress, unread, wards)
}

/** What was found still active, as it stands afterwards, and what could not be changed. */
export interface Swept {
  readonly told: readonly Told[]
  readonly warnings: readonly Unreadable[]
}

/** Ends a session: workers that never said that they ended were interrupted. */
export async function sweepSession(
  caller: Caller,
  session: string,
  workflows: readonly Workflow[] = WORKFLOWS,
): Promise<Swept> {
  const active: Worklog[] = []
  for (const workflow of workflows) {
    active.push(...(await caller.store.find(worklog, { where: { workflow, session }, status: ['active'] })))
  }
  const { told, warnings } = await interruptAll(caller, await toldBy(caller, active))
  return { told: told.filter(({ item }) => item.status === 'interrupted'), warnings }
}

/** The same for a session that was read; who could not be changed is told as interrupted all the same. */
export async function interruptActive(caller: Caller, session: Session): Promise<Session> {
  const { told, warnings } = await interruptAll(caller, session.told)
  return { ...session, told, warnings: [...session.warnings, ...warnings] }
}

async function interruptAll(caller: Caller, told: readonly Told[]): Promise<Swept> {
  const now: Told[] = []
  const warnings: Unreadable[] = []
  for (const { item, account } of told) {
    try {
      now.push({ item: item.status === 'active' ? await interrupt(caller, item) : item, account })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      now.push({ item: { ...item, status: 'interrupted' }, account })
      warnings.push({ file: pathOf(caller, item), line: 1, message: `still says active: ${error.message}` })
    }
  }
  return { told: now, warnings }
}

/** The worklog as it stands afterwards: whoever ended meanwhile has said so. */
async function interrupt(caller: Caller, { id, ...item }: Worklog): Promise<Worklog> {
  const why = 'still active when its session was swept'
  const wanted = { id, known: { id, ...item }, by: caller.by, at: caller.now().toISOString(), why }
  try {
    return await move(caller.store, worklog, { ...wanted, to: 'interrupted' })
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'move_refused')) throw error
    const [now] = await caller.store.find(worklog, { where: { id }, limit: 1 })
    return now ?? { id, ...item }
  }
}

function byWorker({ worker: one }: Worklog, { worker: other }: Worklog): number {
  return one < other ? -1 : 1
}
