import type { ToolSet } from 'ai'
import { asModel } from '../core/authority.ts'
import type { Caller, Operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { callerOf } from '../library.ts'
import { LIMITS } from '../plans/budget.ts'
import { carryItems } from '../plans/carrying.ts'
import * as plan from '../plans/operations.ts'
import { type InTurn, oneAfterTheOther } from '../tooling.ts'
import { delegate } from './delegation.ts'
import { type SupervisorEvent, type TurnResult, type TurnTrace, traced } from './events.ts'
import { recent } from './history.ts'
import { modelMessages, modelName, scopeOf } from './message.ts'
import { refuseMistakes } from './mistakes.ts'
import type { HandleOptions, Message, SupervisorOptions } from './options.ts'
import { instructionsOf } from './prompt.ts'
import { completionOf, ruled } from './rules.ts'
import type { Part } from './step.ts'
import { delegateTool, turnCaller, turnTools, watched } from './toolbox.ts'
import { TurnLoop } from './turn.ts'
import { UnderWay } from './under-way.ts'

const PLAN_TOOLS = [plan.createTodo, plan.listTodo, plan.startTodo, plan.completeTodo, plan.blockTodo] as Operation[]
const DELEGATE = 'delegate'

/** A turn that is under way. It goes on whether anybody reads along or not. */
export interface SupervisorTurn {
  readonly conversationId: string
  readonly turnId: string
  /** What came of it; rejects with what went wrong, and the plan is then as it stood. */
  readonly result: Promise<TurnResult>
  /** The answer as it is made. What the model says while the plan is open is not part of it. */
  readonly textStream: ReadableStream<string>
  /** Everything that happens. May be read more than once, each time from the beginning. */
  readonly events: AsyncIterable<SupervisorEvent>
  /** The same as parts of the AI SDK, one message from start to finish: for `toUIMessageStream`. */
  readonly stream: ReadableStream<Part>
}

export interface Supervisor {
  /** Answers a message of the user: plans, works the plan off, and only then answers. */
  handleMessage(message: Message, options?: HandleOptions): SupervisorTurn
}

/** An agent that keeps its plan in punchlist, delegates, and answers when the plan is drained. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  refuseMistakes(
    options,
    PLAN_TOOLS.map(op => op.name),
    DELEGATE,
  )
  return { handleMessage: (message, how = {}) => begin(options, message, how) }
}

function begin(options: SupervisorOptions, message: Message, how: HandleOptions): SupervisorTurn {
  const { planning = true, name = 'supervisor', workers = {} } = options
  const scope = scopeOf(message, how)
  const completion = completionOf(options)
  const asking = { by: name, scope, spokenAt: callerOf(options.store).now().toISOString() }
  const model = modelName(options.model)
  const trace: TurnTrace = { agent: name, ...scope, model }
  const stop = new AbortController()
  const signal = how.signal ? AbortSignal.any([how.signal, stop.signal]) : stop.signal
  const caller = turnCaller(options.store, { ...asking, signal, ...(completion ? { completion } : {}) })
  const queue = oneAfterTheOther()
  const called = new UnderWay()
  // What has not begun when the turn is stopped is not begun any more.
  const inTurn: InTurn = async work => {
    await called.ended(signal)
    return await queue(async () => {
      signal.throwIfAborted()
      return await work()
    })
  }
  const loop: TurnLoop = new TurnLoop({
    caller,
    turnId: scope.turnId,
    agent: name,
    model,
    options,
    instructions: instructionsOf(options.instructions, planning, workers),
    tools: watched(offered(options, caller, inTurn, { signal, trace, tell: event => loop.tell(event) }), trace, called),
    planning,
    limits: { base: options.limits?.base ?? LIMITS.base, withPlan: options.limits?.withPlan ?? LIMITS.withPlan },
    history: recent(how.history ?? [], options.historyLimit ?? 10),
    signal,
    trace,
  })
  const run = async () => {
    loop.started()
    signal.throwIfAborted()
    const said = await modelMessages(message)
    if (how.carry !== undefined) await carryOn(caller, how.carry)
    return await loop.run(said)
  }
  const settled = async () => {
    stop.abort(new Error('the turn has failed'))
    await queue(async () => undefined)
  }
  const result = finished(loop, settled, () => traced('turn', trace, run), how.signal)
  // Whoever only reads along learns of a failure there.
  result.catch(() => undefined)
  return { ...scope, result, ...readers(loop) }
}

/** Runs a turn to its end and tells of it. Before it fails, what its tools have begun is stopped and waited for. */
async function finished(
  loop: TurnLoop,
  settled: () => Promise<void>,
  run: () => Promise<TurnResult>,
  signal: AbortSignal | undefined,
): Promise<TurnResult> {
  try {
    const result = await run()
    loop.tell({ type: 'turn_ended', result })
    loop.events.end()
    loop.parts.end()
    return result
  } catch (error) {
    await settled()
    loop.tell({ type: 'turn_failed', error, ...(await loop.left()) })
    loop.events.fail(error)
    loop.parts.push(signal?.aborted ? { type: 'abort', reason: String(signal.reason) } : { type: 'error', error })
    loop.parts.end()
    throw error
  }
}

function readers(loop: TurnLoop): Pick<SupervisorTurn, 'textStream' | 'events' | 'stream'> {
  return {
    events: { [Symbol.asyncIterator]: () => loop.events.read() },
    textStream: ReadableStream.from(answerIn(loop.events.read())),
    stream: ReadableStream.from(loop.parts.read()),
  }
}

async function* answerIn(events: AsyncIterable<SupervisorEvent>): AsyncGenerator<string> {
  for await (const event of events) if (event.type === 'text' && event.answer) yield event.text
}

/** Everything the supervisor's model may call, always in the same order. */
function offered(
  options: SupervisorOptions,
  caller: Caller,
  inTurn: InTurn,
  { signal, trace, tell }: { signal: AbortSignal; trace: TurnTrace; tell: (event: SupervisorEvent) => void },
): ToolSet {
  const { planning = true, workers = {}, tools = {}, model } = options
  const names = Object.keys(workers)
  const ops = planning ? PLAN_TOOLS.map(op => ruled(op, options, caller)) : []
  const delegation = delegateTool(names, planning, wanted =>
    inTurn(() => delegate({ caller, workers, model, signal, parent: trace, tell }, wanted)),
  )
  return {
    ...turnTools(ops, asModel(caller), inTurn),
    ...(names.length > 0 ? { [DELEGATE]: delegation } : {}),
    ...tools,
  }
}

async function carryOn(caller: Caller, from: string | true): Promise<void> {
  try {
    await carryItems(caller, from === true ? undefined : from)
  } catch (error) {
    // Nothing is open anywhere: then there is nothing to bring along.
    if (from !== true || !(error instanceof Problem) || error.code !== 'nothing_to_do') throw error
  }
}
