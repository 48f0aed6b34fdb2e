import type { ToolSet } from 'ai'
import type { Caller, Operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { LIMITS } from '../plans/budget.ts'
import { carryItems } from '../plans/carrying.ts'
import * as plan from '../plans/operations.ts'
import { currentTurn, openTurn } from '../plans/turns.ts'
import { type InTurn, oneAfterTheOther } from '../tooling.ts'
import { delegate } from './delegation.ts'
import { type SupervisorEvent, type TurnResult, type TurnTrace, traced } from './events.ts'
import { recent } from './history.ts'
import { modelMessages, modelName, scopeOf } from './message.ts'
import type { HandleOptions, Message, SupervisorOptions } from './options.ts'
import { instructionsOf } from './prompt.ts'
import { delegateTool, turnCaller, turnTools, watched } from './toolbox.ts'
import { type Part, TurnLoop } from './turn.ts'

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
  refuseMistakes(options)
  return { handleMessage: (message, how = {}) => begin(options, message, how) }
}

function begin(options: SupervisorOptions, message: Message, how: HandleOptions): SupervisorTurn {
  const { planning = true, name = 'supervisor', workers = {} } = options
  const scope = scopeOf(message, how)
  const completion = options.completion ?? (options.check ? 'verified' : undefined)
  const caller = turnCaller(options.store, { by: name, scope, ...(completion ? { completion } : {}) })
  const model = modelName(options.model)
  const trace: TurnTrace = { agent: name, ...scope, model }
  const stop = new AbortController()
  const signal = how.signal ? AbortSignal.any([how.signal, stop.signal]) : stop.signal
  const inTurn = oneAfterTheOther()
  const loop: TurnLoop = new TurnLoop({
    caller,
    turnId: scope.turnId,
    agent: name,
    model,
    options,
    instructions: instructionsOf(options.instructions, planning, workers),
    tools: watched(offered(options, caller, inTurn, { signal, trace, tell: event => loop.tell(event) }), trace),
    planning,
    limits: { ...LIMITS, ...options.limits },
    history: recent(how.history ?? [], options.historyLimit ?? 10),
    signal,
    trace,
  })
  const run = async () => {
    const said = await modelMessages(message)
    if (how.carry !== undefined) await carryOn(caller, how.carry)
    return await loop.run(said)
  }
  const settled = async () => {
    stop.abort(new Error('the turn has failed'))
    await inTurn(async () => undefined)
  }
  const result = finished(loop, settled, () => traced('turn', trace, run))
  // Whoever only reads along learns of a failure there.
  result.catch(() => undefined)
  return { ...scope, result, ...readers(loop) }
}

/** Runs a turn to its end and tells of it. Before it fails, what its tools have begun is stopped and waited for. */
async function finished(
  loop: TurnLoop,
  settled: () => Promise<void>,
  run: () => Promise<TurnResult>,
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
    loop.parts.push({ type: 'error', error })
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
  const ops = planning ? PLAN_TOOLS.map(op => ruled(op, options)) : []
  const delegation = delegateTool(names, wanted =>
    inTurn(() => delegate({ caller, workers, model, signal, parent: trace, tell }, wanted)),
  )
  return { ...turnTools(ops, caller, inTurn), ...(names.length > 0 ? { [DELEGATE]: delegation } : {}), ...tools }
}

/** An operation under the rules of this supervisor: a turn with a check has it before it has items. */
function ruled(op: Operation, { check }: SupervisorOptions): Operation {
  if (!check || op.name !== plan.createTodo.name) return op
  return {
    ...op,
    async run(caller, input) {
      const present = await currentTurn(caller)
      const { turnId } = caller.scope
      if (!present?.id) await openTurn(caller, { turnId, completion: caller.completion, checkCommand: check })
      return await op.run(caller, input)
    },
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

/** What cannot work is said at once, and not in the middle of a turn. */
function refuseMistakes({ tools = {}, workers = {}, limits = {} }: SupervisorOptions): void {
  const planTools = new Set(PLAN_TOOLS.map(({ name }) => name))
  const mistakes = [
    ...Object.keys(tools)
      .filter(name => planTools.has(name) || name === DELEGATE)
      .map(name => `tools.${name}: is the supervisor's own`),
    ...Object.entries(tools)
      .filter(([, { execute }]) => !execute)
      .map(([name]) => `tools.${name}: has no execute, and the supervisor carries its tools out itself`),
    ...Object.entries(workers).flatMap(([name, worker]) =>
      Object.keys(('tools' in worker && worker.tools) || {})
        .filter(one => planTools.has(one))
        .map(one => `workers.${name}.tools.${one}: workers do not see the plan`),
    ),
    ...Object.entries(limits)
      .filter(([, value]) => value !== undefined && (!Number.isInteger(value) || value < 1))
      .map(([name]) => `limits.${name}: must be a whole number from 1`),
  ]
  if (mistakes.length === 0) return
  throw new Problem('bad_input', mistakes.join('; '), 'Change these options of createSupervisor.', { mistakes })
}
