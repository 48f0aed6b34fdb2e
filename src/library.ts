import type { InferInput, InferOutput } from 'valibot'
import type { Event } from './core/event.ts'
import { type Caller, type CompletionMode, type Operation, perform, type Scope } from './core/operation.ts'
import type { EventQuery, Store } from './core/store.ts'
import { StoreDoor } from './open.ts'
import { carryTodo, completeTodo, createTodo, listTodo, startTodo, turnTodo } from './plans/operations.ts'
import { type TurnTodoRepository, turnTodoRepository } from './plans/repository.ts'
import { findWorkspace } from './workspace.ts'

export interface OpenOptions {
  /** Where to look for the workspace; the working directory if absent. */
  readonly root?: string
  /** `sqlite:PATH`, `sqlite::memory:` or `postgres://…`; what the workspace says if absent. */
  readonly store?: string
  readonly conversation?: string
  /** The turn that is open in the conversation if absent. */
  readonly turn?: string
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
    readonly create: Verb<typeof createTodo>
    readonly list: Easy<typeof listTodo>
    readonly start: Easy<typeof startTodo>
    readonly complete: Verb<typeof completeTodo>
    readonly carry: Easy<typeof carryTodo>
    readonly turn: Easy<typeof turnTodo>
    /** The rows of the plan, for programs written against such a repository. */
    readonly repository: TurnTodoRepository
  }
  readonly store: Store
  /** The same store, asked by someone else or in another turn. */
  as(scope: Partial<Scope> & { readonly actor?: string }): Punchlist
  events(query?: EventQuery): Promise<Event[]>
  close(): Promise<void>
}

/** Opens a workspace for a program. The store is made when it is not there. */
export async function open(options: OpenOptions = {}): Promise<Punchlist> {
  const workspace = await findWorkspace({ cwd: options.root ?? process.cwd(), store: options.store })
  const store = await new StoreDoor(workspace).store(true)
  return punchlistFor({
    store,
    root: workspace.root,
    by: options.actor ?? 'library',
    scope: { conversationId: options.conversation ?? 'default', turnId: options.turn },
    completion: options.completion ?? workspace.completion,
    now: options.now ?? (() => new Date()),
    // A program that opens a store answers for what is in it.
    mayRun: async () => true,
  })
}

function punchlistFor(caller: Caller): Punchlist {
  const { store } = caller
  return {
    plan: {
      create: input => perform(createTodo, caller, input),
      list: (input = {}) => perform(listTodo, caller, input),
      start: (input = {}) => perform(startTodo, caller, input),
      complete: input => perform(completeTodo, caller, input),
      carry: (input = {}) => perform(carryTodo, caller, input),
      turn: (input = {}) => perform(turnTodo, caller, input),
      repository: turnTodoRepository(caller),
    },
    store,
    as: ({ actor = caller.by, ...scope }) =>
      punchlistFor({ ...caller, by: actor, scope: { ...caller.scope, ...scope } }),
    events: (query = {}) => store.events(query),
    close: () => store.close(),
  }
}
