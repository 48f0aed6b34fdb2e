import { generateText, isStepCount, type LanguageModel } from 'ai'
import * as v from 'valibot'
import { line, prose } from '../core/input.ts'
import { type Caller, checked } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { harmlessLine, redacted, withoutInvisible } from '../core/text.ts'
import type { PlanItem } from '../plans/record.ts'
import { itemOf, returnItem, startItem, whatRemains } from '../plans/work.ts'
import { type DelegationTrace, type SupervisorEvent, traced } from './events.ts'
import { isDisobedience, modelName } from './message.ts'
import type { Assignment, Worker } from './options.ts'

const PATIENCE_MS = 600_000
const MOST_STEPS = 20

/** Some models send null for what they leave out. */
const leftOut = v.pipe(
  v.nullish(line(100)),
  v.transform(name => name ?? undefined),
)

/** What the supervisor's model sends to have something done by somebody else. */
const delegation = v.object({ todoId: leftOut, agentType: leftOut, task: prose(32_768) })

interface Delegating {
  readonly caller: Caller
  readonly workers: Readonly<Record<string, Worker>>
  readonly model: LanguageModel
  readonly signal: AbortSignal
  /** The trace it belongs to. */
  readonly parent: object
  readonly tell: (event: SupervisorEvent) => void
}

/**
 * Has a worker do something, and waits for it. An item that it is about is
 * started, and is never completed by this: the supervisor judges what came
 * back. Where the worker fails, the item goes back to the plan with a note.
 */
export async function delegate(delegating: Delegating, sent: unknown): Promise<Readonly<Record<string, unknown>>> {
  const { todoId, agentType, task } = checked(delegation, sent)
  const { caller, workers, tell, signal } = delegating
  const known = todoId === undefined ? undefined : await itemOf(caller, todoId)
  const name = agentType ?? known?.item.agentType ?? ''
  const worker = workerNamed(workers, name)
  const begun = todoId === undefined ? undefined : await startItem(caller, todoId)
  const item = begun?.item
  const told = { agentType: name, todoId: item?.id ?? null }
  tell({ type: 'delegated', ...told, task })
  const text = await traced('delegation', traceOf(delegating, worker, { ...told, task }), () =>
    worked(delegating, worker, assignmentOf(task, item)),
  ).catch(async (error: unknown) => {
    const message = saidBy(error)
    const returned = item !== undefined && (await givenBack(caller, item, `${name}: ${message}`))
    tell({ type: 'worker_failed', ...told, error: message })
    signal.throwIfAborted()
    const where = returned ? '\nIts item is pending again, and the context of it tells of the attempt.' : ''
    throw new Error(`${name} failed: ${message}${where}`, { cause: error })
  })
  tell({ type: 'worker_answered', ...told, text })
  const left = begun && (await whatRemains(caller, begun.of, begun.item))
  const next = left?.next.map(({ id, title }) => ({ id, title }))
  return { ...told, result: text, ...(left ? { remaining: left.remaining, next } : {}) }
}

/** What went wrong first is what is told: a store that fails as well says so at the next step. */
async function givenBack(caller: Caller, { id }: PlanItem, note: string): Promise<boolean> {
  return await returnItem(caller, id, note).then(
    () => true,
    () => false,
  )
}

function traceOf(
  { caller, parent, model }: Delegating,
  worker: Worker,
  { agentType: agent, ...told }: { agentType: string; todoId: string | null; task: string },
): DelegationTrace {
  const its = 'run' in worker ? null : modelName(worker.model ?? model)
  return { parent, agent, conversationId: caller.scope.conversationId, ...told, model: its }
}

function workerNamed(workers: Readonly<Record<string, Worker>>, name: string): Worker {
  const worker = Object.hasOwn(workers, name) ? workers[name] : undefined
  if (worker) return worker
  throw new Problem(
    'not_found',
    name === '' ? 'It is not said who should do it' : `There is no worker ${name}`,
    `Send agentType, one of: ${Object.keys(workers).join(', ')}.`,
    { agentType: name },
  )
}

function assignmentOf(task: string, item: PlanItem | undefined): Assignment {
  if (!item) return { task, prompt: task }
  const { title, context, completionCriteria } = item
  const prompt = [
    task,
    `It is about: ${title}`,
    context && `What is known:\n${context}`,
    completionCriteria && `It is done when:\n${completionCriteria}`,
  ]
  const said = withoutInvisible(prompt.filter(Boolean).join('\n\n'))
  return { task, todo: { title, context, completionCriteria }, prompt: said }
}

/** What the worker says in the end; an error where it says nothing, takes too long, or is not waited for any longer. */
async function worked(delegating: Delegating, worker: Worker, assignment: Assignment): Promise<string> {
  const { timeoutMs = PATIENCE_MS } = worker
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`gave no answer within ${timeoutMs} ms`)), timeoutMs)
  const signal = AbortSignal.any([delegating.signal, late.signal])
  try {
    signal.throwIfAborted()
    // A worker that does not listen to the signal is not waited for either.
    const given = new Promise<never>((_, fail) => {
      signal.addEventListener('abort', () => fail(signal.reason), { once: true })
    })
    // It may be rejected long after the worker has ended, when nobody waits for it.
    given.catch(() => undefined)
    const work =
      'run' in worker ? worker.run(assignment, { signal }) : answered(delegating.model, worker, assignment, signal)
    const text = await Promise.race([work, given])
    if (typeof text === 'string' && text.trim() !== '') return text
    throw new Error('returned nothing')
  } finally {
    clearTimeout(timer)
  }
}

async function answered(
  ours: LanguageModel,
  worker: Exclude<Worker, { run: unknown }>,
  { prompt }: Assignment,
  abortSignal: AbortSignal,
): Promise<string> {
  const { model = ours, instructions, tools, maxSteps = MOST_STEPS } = worker
  const { text } = await generateText({
    model,
    prompt,
    abortSignal,
    ...(instructions === undefined ? {} : { instructions }),
    ...(tools ? { tools } : {}),
    stopWhen: isStepCount(maxSteps),
    // Whoever is stopped amid their tool calls has said nothing.
    prepareStep: ({ stepNumber }) => (stepNumber === maxSteps - 1 ? { toolChoice: 'none' as const } : {}),
  }).catch((error: unknown) => {
    throw isDisobedience(error) ? new Error(`had no answer after ${maxSteps} steps`, { cause: error }) : error
  })
  return text
}

/** So much of an error is told: it is kept with the item, and a model reads it. */
const TOLD = 1500

function saidBy(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return harmlessLine(redacted(message).slice(0, TOLD).toWellFormed()).trim() || 'failed'
}
