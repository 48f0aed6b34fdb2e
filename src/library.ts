import type { InferInput, InferOutput } from 'valibot'
import * as backlog from './backlog/operations.ts'
import * as reports from './backlog/reports.ts'
import { start, stop } from './continuation/operations.ts'
import type { CompletionMode } from './core/completion.ts'
import type { Event } from './core/event.ts'
import { authorityBelow, RUN_MARK } from './core/lineage.ts'
import { type Caller, type Operation, perform, type Scope } from './core/operation.ts'
import type { EventQuery, Store } from './core/store.ts'
import * as handover from './handover.ts'
import { queueMigrate } from './migration.ts'
import { StoreDoor } from './open.ts'
import * as plan from './plans/operations.ts'
import { type TurnTodoRepository, turnTodoRepository } from './plans/repository.ts'
import * as queue from './queue/operations.ts'
import * as queueReports from './queue/reports.ts'
import { type Export, exportFrom, type Imported, importInto } from './transfer.ts'
import * as worklog from './worklogs/operations.ts'
import * as worklogReports from './worklogs/reports.ts'
import { findWorkspace } from './workspace.ts'

export interface OpenOptions {
  /** Where to look for the workspace; the working directory if absent. */
  readonly root?: string
  /** `sqlite:PATH`, `sqlite::memory:` or `postgres://…`; what the workspace says if absent. */
  readonly store?: string
  readonly conversation?: string
  /** The turn that is open in the conversation if absent. */
  readonly turn?: string
  /** The session whose backlog and worklogs are meant; the newest if absent. */
  readonly session?: string
  readonly actor?: string
  /** How completions are believed in turns that do not say. */
  readonly completion?: CompletionMode
  readonly now?: () => Date
}

type Verb<Op extends Pick<Operation, 'input' | 'output'>> = (
  input: InferInput<ReturnType<Op['input']>>,
) => Promise<InferOutput<ReturnType<Op['output']>>>
/** A verb whose fields may all be left out. */
type Easy<Op extends Pick<Operation, 'input' | 'output'>> = (
  input?: InferInput<ReturnType<Op['input']>>,
) => Promise<InferOutput<ReturnType<Op['output']>>>

/** An open workspace. Every verb is the operation that the command line and MCP offer, on this caller's behalf. */
export interface Punchlist {
  readonly plan: {
    readonly create: Verb<typeof plan.createTodo>
    readonly list: Easy<typeof plan.listTodo>
    readonly start: Easy<typeof plan.startTodo>
    readonly complete: Verb<typeof plan.completeTodo>
    readonly block: Verb<typeof plan.blockTodo>
    readonly unblock: Verb<typeof plan.unblockTodo>
    readonly return: Verb<typeof plan.returnTodo>
    readonly carry: Easy<typeof plan.carryTodo>
    readonly turn: Easy<typeof plan.turnTodo>
    /** The rows of the plan, for programs written against such a repository. */
    readonly repository: TurnTodoRepository
  }
  /** Every verb of the backlog; `add` takes the todos in `items`. */
  readonly backlog: {
    readonly add: Verb<typeof backlog.backlogAdd>
    readonly list: Easy<typeof reports.backlogList>
    readonly show: Verb<typeof reports.backlogShow>
    readonly next: Easy<typeof backlog.backlogNext>
    readonly search: Verb<typeof reports.backlogSearch>
    readonly triage: Easy<typeof backlog.backlogTriage>
    readonly approve: Verb<typeof backlog.backlogApprove>
    readonly dismiss: Verb<typeof backlog.backlogDismiss>
    readonly claim: Verb<typeof backlog.backlogClaim>
    readonly release: Verb<typeof backlog.backlogRelease>
    readonly complete: Verb<typeof backlog.backlogComplete>
    readonly block: Verb<typeof backlog.backlogBlock>
    readonly unblock: Verb<typeof backlog.backlogUnblock>
    readonly interrupt: Verb<typeof backlog.backlogInterrupt>
    readonly resume: Easy<typeof backlog.backlogResume>
    readonly reopen: Verb<typeof backlog.backlogReopen>
    readonly log: Verb<typeof backlog.backlogLog>
    readonly sweep: Easy<typeof backlog.backlogSweep>
    readonly stale: Easy<typeof reports.backlogStale>
    readonly graph: Easy<typeof reports.backlogGraph>
  }
  /** Every verb of the queue; `add` takes the tasks in `items`. */
  readonly queue: {
    readonly add: Verb<typeof handover.queueAdd>
    readonly release: Verb<typeof queue.queueRelease>
    readonly claim: Easy<typeof queue.queueClaim>
    readonly return: Verb<typeof queue.queueReturn>
    readonly heartbeat: Verb<typeof queue.queueHeartbeat>
    readonly checkpoint: Verb<typeof queue.queueCheckpoint>
    readonly reply: Verb<typeof queue.queueReply>
    readonly complete: Verb<typeof handover.queueComplete>
    readonly fail: Verb<typeof queue.queueFail>
    readonly retry: Verb<typeof queue.queueRetry>
    readonly cancel: Verb<typeof handover.queueCancel>
    readonly list: Easy<typeof queueReports.queueList>
    readonly show: Verb<typeof queueReports.queueShow>
    readonly tree: Easy<typeof queueReports.queueTree>
    readonly recover: Easy<typeof queueReports.queueRecover>
    readonly migrate: Verb<typeof queueMigrate>
  }
  /** Every verb of the worklog; what could not be written comes back as a warning. */
  readonly worklog: {
    readonly open: Verb<typeof worklog.worklogOpen>
    readonly task: Verb<typeof worklog.worklogTask>
    readonly check: Verb<typeof worklog.worklogCheck>
    readonly decide: Verb<typeof worklog.worklogDecide>
    readonly complete: Verb<typeof worklog.worklogComplete>
    readonly fail: Verb<typeof worklog.worklogFail>
    readonly close: Verb<typeof worklog.worklogClose>
    readonly list: Easy<typeof worklogReports.worklogList>
    readonly summary: Easy<typeof worklogReports.worklogSummary>
    readonly pr: Easy<typeof worklogReports.worklogPr>
    readonly sweep: Easy<typeof worklog.worklogSweep>
    readonly protocol: Verb<typeof worklogReports.worklogProtocol>
  }
  /** Whether sessions are sent on while their plan is open: the caller's session, or all where it has none. */
  readonly continuation: {
    readonly stop: Easy<typeof stop>
    readonly start: Easy<typeof start>
  }
  /** Everything that is stored, in a form that every engine takes in. */
  export(): Promise<Export>
  import(document: Export): Promise<Imported>
  readonly store: Store
  /** The same store, asked by someone else or in another turn. */
  as(scope: Partial<Scope> & { readonly actor?: string }): Punchlist
  events(query?: EventQuery): Promise<Event[]>
  close(): Promise<void>
}

/** Opens a workspace for a program. The store is made when it is not there. */
export async function open(options: OpenOptions = {}): Promise<Punchlist> {
  const workspace = await findWorkspace({ cwd: options.root ?? process.cwd(), store: options.store })
  const door = new StoreDoor(workspace)
  const store = await door.store(true)
  return punchlistFor({
    store,
    root: workspace.root,
    here: workspace.here,
    work: workspace.work,
    queue: workspace.queue,
    inFiles: workspace.inFiles,
    by: options.actor ?? 'library',
    scope: { conversationId: options.conversation ?? 'default', turnId: options.turn, session: options.session },
    authority: async () => authorityBelow('program', process.env[RUN_MARK]),
    completion: options.completion ?? workspace.completion,
    now: options.now ?? (() => new Date()),
    documents: door.documents(),
    sessional: () => door.sessional(),
    checks: door.checks(),
    seal: () => door.seal(),
    planSettings: door.planSettings(),
    wards: door.wards(),
    continuation: workspace.settings.continuation ?? {},
    warnings: () => door.warnings(false),
  })
}

const CALLERS = new WeakMap<Punchlist, Caller>()

/** On whose behalf an open workspace asks: for what is built on the operations and not among them. */
export function callerOf(list: Punchlist): Caller {
  return CALLERS.get(list)!
}

/** What is built on the library, for a caller that a door has made. */
export function punchlistFor(caller: Caller): Punchlist {
  const list = verbsFor(caller)
  CALLERS.set(list, caller)
  return list
}

function verbsFor(caller: Caller): Punchlist {
  const { store } = caller
  return {
    plan: {
      create: input => perform(plan.createTodo, caller, input),
      list: (input = {}) => perform(plan.listTodo, caller, input),
      start: (input = {}) => perform(plan.startTodo, caller, input),
      complete: input => perform(plan.completeTodo, caller, input),
      block: input => perform(plan.blockTodo, caller, input),
      unblock: input => perform(plan.unblockTodo, caller, input),
      return: input => perform(plan.returnTodo, caller, input),
      carry: (input = {}) => perform(plan.carryTodo, caller, input),
      turn: (input = {}) => perform(plan.turnTodo, caller, input),
      repository: turnTodoRepository(caller),
    },
    backlog: {
      add: input => perform(backlog.backlogAdd, caller, input),
      list: (input = {}) => perform(reports.backlogList, caller, input),
      show: input => perform(reports.backlogShow, caller, input),
      next: (input = {}) => perform(backlog.backlogNext, caller, input),
      search: input => perform(reports.backlogSearch, caller, input),
      triage: (input = {}) => perform(backlog.backlogTriage, caller, input),
      approve: input => perform(backlog.backlogApprove, caller, input),
      dismiss: input => perform(backlog.backlogDismiss, caller, input),
      claim: input => perform(backlog.backlogClaim, caller, input),
      release: input => perform(backlog.backlogRelease, caller, input),
      complete: input => perform(backlog.backlogComplete, caller, input),
      block: input => perform(backlog.backlogBlock, caller, input),
      unblock: input => perform(backlog.backlogUnblock, caller, input),
      interrupt: input => perform(backlog.backlogInterrupt, caller, input),
      resume: (input = {}) => perform(backlog.backlogResume, caller, input),
      reopen: input => perform(backlog.backlogReopen, caller, input),
      log: input => perform(backlog.backlogLog, caller, input),
      sweep: (input = {}) => perform(backlog.backlogSweep, caller, input),
      stale: (input = {}) => perform(reports.backlogStale, caller, input),
      graph: (input = {}) => perform(reports.backlogGraph, caller, input),
    },
    queue: {
      add: input => perform(handover.queueAdd, caller, input),
      release: input => perform(queue.queueRelease, caller, input),
      claim: (input = {}) => perform(queue.queueClaim, caller, input),
      return: input => perform(queue.queueReturn, caller, input),
      heartbeat: input => perform(queue.queueHeartbeat, caller, input),
      checkpoint: input => perform(queue.queueCheckpoint, caller, input),
      reply: input => perform(queue.queueReply, caller, input),
      complete: input => perform(handover.queueComplete, caller, input),
      fail: input => perform(queue.queueFail, caller, input),
      retry: input => perform(queue.queueRetry, caller, input),
      cancel: input => perform(handover.queueCancel, caller, input),
      list: (input = {}) => perform(queueReports.queueList, caller, input),
      show: input => perform(queueReports.queueShow, caller, input),
      tree: (input = {}) => perform(queueReports.queueTree, caller, input),
      recover: (input = {}) => perform(handover.queueRecover, caller, input),
      migrate: input => perform(queueMigrate, caller, input),
    },
    worklog: {
      open: input => perform(worklog.worklogOpen, caller, input),
      task: input => perform(worklog.worklogTask, caller, input),
      check: input => perform(worklog.worklogCheck, caller, input),
      decide: input => perform(worklog.worklogDecide, caller, input),
      complete: input => perform(worklog.worklogComplete, caller, input),
      fail: input => perform(worklog.worklogFail, caller, input),
      close: input => perform(worklog.worklogClose, caller, input),
      list: (input = {}) => perform(worklogReports.worklogList, caller, input),
      summary: (input = {}) => perform(worklogReports.worklogSummary, caller, input),
      pr: (input = {}) => perform(worklogReports.worklogPr, caller, input),
      sweep: (input = {}) => perform(worklog.worklogSweep, caller, input),
      protocol: input => perform(worklogReports.worklogProtocol, caller, input),
    },
    continuation: {
      stop: (input = {}) => perform(stop, caller, input),
      start: (input = {}) => perform(start, caller, input),
    },
    export: () => exportFrom(store),
    import: document => importInto(store, document, caller.checks),
    store,
    as: ({ actor = caller.by, ...scope }) =>
      punchlistFor({ ...caller, by: actor, scope: { ...caller.scope, ...scope } }),
    events: (query = {}) => store.events(query),
    close: () => store.close(),
  }
}
