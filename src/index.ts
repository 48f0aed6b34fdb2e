/** `punchlist`: the library's public names. */
export { todo } from './backlog/kind.ts'
export type { Priority, Resolution, Todo, TodoStatus } from './backlog/record.ts'
export type { TodoView } from './backlog/view.ts'
export { type Continuation, continuation } from './continuation/record.ts'
export type { Authority } from './core/authority.ts'
export type { Verification } from './core/check.ts'
export { COMPLETION_MODES, type CompletionMode } from './core/completion.ts'
export type { Event, Note } from './core/event.ts'
export type {
  Complaint,
  Content,
  DirectoryForm,
  Draft,
  Entry,
  Evidence,
  FieldType,
  FileForm,
  Happening,
  Item,
  Kind,
  Numbers,
  Texts,
  Verdict,
  Waits,
} from './core/kind.ts'
export {
  type Fields,
  type Lifecycle,
  openStatuses,
  type Phase,
  phaseOf,
  type Refusal,
  type Rule,
  refusalFor,
  type Status,
} from './core/lifecycle.ts'
export {
  type Amendment,
  amend,
  type ClaimRequest,
  claim,
  claimAll,
  type Move,
  move,
  moveAll,
  type Supposed,
} from './core/move.ts'
export {
  type Caller,
  type ContinuationSettings,
  type Documents,
  type Operation,
  perform,
  type Scope,
  type Wards,
} from './core/operation.ts'
export { PROBLEMS, Problem, type ProblemCode } from './core/problem.ts'
export type {
  Added,
  Change,
  Claim,
  EventQuery,
  Finding,
  Kept,
  Query,
  Recovered,
  Removed,
  Store,
  Unreadable,
  Where,
} from './core/store.ts'
export { kinds } from './kinds.ts'
export { type OpenOptions, open, type Punchlist } from './library.ts'
export { openStore } from './open.ts'
export { operationsOf, ROOM_NAMES, toolsOf } from './operations.ts'
export type { PlanItem, PlanStatus, Turn } from './plans/record.ts'
export { planItem, turn } from './plans/record.ts'
export { type NewTurnTodo, type TurnTodo, type TurnTodoRepository, turnTodoRepository } from './plans/repository.ts'
export { task } from './queue/kind.ts'
export type { Priority as TaskPriority, Task, TaskState, TaskType } from './queue/record.ts'
export type { TaskView } from './queue/view.ts'
export type { Export, Imported } from './transfer.ts'
export { worklog } from './worklogs/kind.ts'
export type { Role, TaskSection, TaskStatus as WorklogTaskStatus, Worklog, WorklogStatus } from './worklogs/record.ts'
export type { TaskView as WorklogTaskView, WorklogView } from './worklogs/view.ts'
