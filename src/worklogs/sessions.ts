import { move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { type Whereabouts, WORKFLOWS, type Workflow } from '../core/session.ts'
import type { Unreadable } from '../core/store.ts'
import { toldBy } from './accounts.ts'
import { remarksOn } from './file/remarks.ts'
import { worklog } from './kind.ts'
import { folderOf } from './names.ts'
import { type Progress, progressOf } from './progress.ts'
import type { Worklog } from './record.ts'
import { verifiedTasks } from './verified-tasks.ts'
import { pathOf } from './view.ts'

/** Who has a log in a session. */
export interface Session {
  /** In the order of their names. */
  readonly items: readonly Worklog[]
  /** Files that could not be read: their workers are named, not left out in silence. */
  readonly unread: readonly Unreadable[]
  /** The same, and what was passed over in files that could be read. */
  readonly warnings: readonly Unreadable[]
}

export async function readSession(caller: Caller, where: Whereabouts): Promise<Session> {
  const items = (await caller.store.find(worklog, { where })).toSorted(byWorker)
  const unread = await caller.store.unreadable(worklog, where)
  return { items, unread, warnings: [...unread, ...(await remarksOf(caller, items))] }
}

/** What is passed over in worklogs; where they are files, these tell in which lines. */
async function remarksOf(caller: Caller, items: readonly Worklog[]): Promise<Unreadable[]> {
  const odd = items.map(item => ({ item, remarks: remarksOn(item) })).filter(({ remarks }) => remarks.length > 0)
  if (odd.length === 0) return []
  const ids = odd.map(({ item }) => item.id)
  const inFiles = await caller.store.remarks(worklog, ids)
  return odd.flatMap(({ item, remarks }) => {
    const file = pathOf(caller, item)
    const own = inFiles.filter(remark => remark.file.endsWith(`/${folderOf(item)}/${item.file}`))
    if (own.length > 0) return own.map(remark => ({ ...remark, file }))
    return remarks.map(message => ({ file, line: 1, message }))
  })
}

/** So many texts are in memory at a time: what was counted in them is all that stays. */
const AT_ONCE = 20

interface Counting {
  /** Where what is left of their tasks is not told. */
  readonly brief?: boolean
  /** Whether it is told which wards punchlist ran. */
  readonly verifying?: boolean
}

/** How far each of these workers is. */
export async function progressBy(
  caller: Caller,
  items: readonly Worklog[],
  { brief = true, verifying = false }: Counting = {},
): Promise<Progress[]> {
  const progress: Progress[] = []
  for (let n = 0; n < items.length; n += AT_ONCE) {
    const told = await toldBy(caller, items.slice(n, n + AT_ONCE), brief)
    for (const { item, account } of told) {
      const one = progressOf(item, account)
      // Only where a summary is made of it, and there is something to look up.
      const asked = verifying && one.wards_passed > 0
      progress.push(asked ? progressOf(item, account, await verifiedTasks(caller, item)) : one)
    }
  }
  return progress
}

/** Worklogs as they stand afterwards, and what could not be changed. */
export interface Swept {
  readonly items: readonly Worklog[]
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
  const { items, warnings } = await interruptAll(caller, active)
  return { items: items.filter(({ status }) => status === 'interrupted'), warnings }
}

/** The same for a session that was read; who could not be changed is told as interrupted all the same. */
export async function interruptActive(caller: Caller, session: Session): Promise<Session> {
  const { items, warnings } = await interruptAll(caller, session.items)
  return { ...session, items, warnings: [...session.warnings, ...warnings] }
}

async function interruptAll(caller: Caller, items: readonly Worklog[]): Promise<Swept> {
  const now: Worklog[] = []
  const warnings: Unreadable[] = []
  for (const item of items) {
    try {
      now.push(item.status === 'active' ? await interrupt(caller, item) : item)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      now.push({ ...item, status: 'interrupted' })
      warnings.push({ file: pathOf(caller, item), line: 1, message: `still says active: ${error.message}` })
    }
  }
  return { items: now, warnings }
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
