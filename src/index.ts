/** `punchlist`: the library's public names. */
export type { Verification } from './core/check.ts'
export type { Event, Note } from './core/event.ts'
export type { Draft, FieldType, Item, Kind } from './core/kind.ts'
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
export { type ClaimRequest, claim, type Move, move } from './core/move.ts'
export {
  type Caller,
  COMPLETION_MODES,
  type CompletionMode,
  type Operation,
  perform,
  type Scope,
} from './core/operation.ts'
export { PROBLEMS, Problem, type ProblemCode } from './core/problem.ts'
export type { Added, Change, Claim, EventQuery, Finding, Query, Store } from './core/store.ts'
export { kinds } from './kinds.ts'
export { type OpenOptions, open, type Punchlist } from './library.ts'
export { openStore } from './open.ts'
export { operationsOf, ROOM_NAMES, toolsOf } from './operations.ts'
export type { PlanItem, PlanStatus, Turn } from './plans/record.ts'
export { planItem, turn } from './plans/record.ts'
export { type NewTurnTodo, type TurnTodo, type TurnTodoRepository, turnTodoRepository } from './plans/repository.ts'
