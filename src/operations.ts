import type { Operation } from './core/operation.ts'
import * as plan from './plans/operations.ts'

/** The rooms and what each offers, loaded when first asked for: one command needs one room. */
const ROOMS: Readonly<Record<string, () => Promise<Operation<never>[]>>> = {
  // At hand in every start: its verbs are typed most often.
  plan: async () => [
    plan.createTodo,
    plan.listTodo,
    plan.startTodo,
    plan.completeTodo,
    plan.blockTodo,
    plan.unblockTodo,
    plan.returnTodo,
    plan.carryTodo,
    plan.turnTodo,
  ],
  // By name: a module of the built program also exports what other modules share with it.
  backlog: async () => {
    const room = await import('./backlog/operations.ts')
    const { list, show, search, stale, graph } = await backlogReports()
    return [
      room.backlogAdd,
      list,
      show,
      room.backlogNext,
      search,
      room.backlogTriage,
      room.backlogApprove,
      room.backlogDismiss,
      room.backlogClaim,
      room.backlogRelease,
      room.backlogComplete,
      room.backlogBlock,
      room.backlogUnblock,
      room.backlogInterrupt,
      room.backlogResume,
      room.backlogReopen,
      room.backlogLog,
      room.backlogSweep,
      stale,
      graph,
    ]
  },
  queue: async () => {
    const [room, reports, { queueMigrate }, { queueAdd, queueComplete, queueCancel, queueRecover }] = await Promise.all(
      [
        import('./queue/operations.ts'),
        import('./queue/reports.ts'),
        import('./migration.ts'),
        import('./handover.ts'),
      ],
    )
    return [
      queueAdd,
      room.queueRelease,
      room.queueClaim,
      room.queueReturn,
      room.queueHeartbeat,
      room.queueCheckpoint,
      room.queueReply,
      queueComplete,
      room.queueFail,
      room.queueRetry,
      queueCancel,
      reports.queueList,
      reports.queueShow,
      reports.queueTree,
      queueRecover,
      queueMigrate,
    ]
  },
  worklog: async () => {
    const [room, reports] = await Promise.all([import('./worklogs/operations.ts'), import('./worklogs/reports.ts')])
    return [
      room.worklogOpen,
      room.worklogTask,
      room.worklogCheck,
      room.worklogDecide,
      room.worklogComplete,
      room.worklogFail,
      room.worklogClose,
      reports.worklogList,
      reports.worklogSummary,
      reports.worklogPr,
      room.worklogSweep,
      reports.worklogProtocol,
    ]
  },
  stop: async () => [(await import('./continuation/operations.ts')).stop],
  start: async () => [(await import('./continuation/operations.ts')).start],
  status: async () => [(await import('./overview.ts')).status],
  log: async () => [(await import('./overview.ts')).log],
}

/** What only reads the backlog. */
async function backlogReports(): Promise<
  Readonly<Record<'list' | 'show' | 'search' | 'stale' | 'graph', Operation<never>>>
> {
  const room = await import('./backlog/reports.ts')
  const { backlogList: list, backlogShow: show, backlogSearch: search, backlogStale: stale, backlogGraph: graph } = room
  return { list, show, search, stale, graph }
}

export const ROOM_NAMES = Object.keys(ROOMS)

/** Every operation of one room; none for a name that is not a room. */
export async function operationsOf(room: string): Promise<Operation[]> {
  const load = Object.hasOwn(ROOMS, room) ? ROOMS[room] : undefined
  return load ? await load() : []
}

/** The operation that these words name, or all that the first of them could mean; no more of a room is loaded than it takes. */
export async function operationsFor([room = '', verb = '']: readonly string[]): Promise<Operation[]> {
  const known: Readonly<Record<string, Operation<never>>> = room === 'backlog' ? await backlogReports() : {}
  return Object.hasOwn(known, verb) ? [known[verb]!] : await operationsOf(room)
}

/** What is offered to models from one room. */
export async function toolsOf(room: string): Promise<Operation[]> {
  return (await operationsOf(room)).filter(op => op.tools === room)
}
