import { basename } from 'node:path'
import { UNTOUCHED } from '../continuation/judging.ts'
import { remember } from '../continuation/keeping.ts'
import type { Caller } from '../core/operation.ts'
import { runWards, type WardResult, wardLine } from '../core/wards.ts'
import { ERROR_REPORT, readErrorReport } from '../queue/error-report.ts'
import { task } from '../queue/kind.ts'
import { locate } from '../queue/locating.ts'
import { directoryName } from '../queue/names.ts'
import type { Task } from '../queue/record.ts'
import type { Verified } from '../queue/verified.ts'
import { noteWardFailed } from '../queue/verifying.ts'
import type { Agent, Invocation } from './agents/agent.ts'
import { isOverBudget, overBudget } from './budget.ts'
import { callAgent, tooLate } from './calling.ts'
import { enduring } from './enduring.ts'
import type { Hold } from './hold.ts'
import { markOf, RUN_MARK } from './marked.ts'
import { needsOf, planLeft } from './plan.ts'
import { wardPrompt } from './prompt.ts'
import type { Run } from './run.ts'

/** What came of one attempt at a task. */
export type Result =
  | { readonly what: 'done'; readonly text: string; readonly verified: Verified | undefined }
  /** Somebody has reported on it already, the agent itself as a rule. */
  | { readonly what: 'reported'; readonly task: Task; readonly text: string }
  /** `text`: what it waits for. */
  | { readonly what: 'waiting'; readonly text: string }
  | { readonly what: 'divided' }
  /** By the agent itself, or by somebody who wants it to be free. */
  | { readonly what: 'given_back' }
  | ({ readonly what: 'failed' } & Failed)
  | { readonly what: 'stopped' }
  | { readonly what: 'lost' }

export interface Failed {
  readonly type: string
  readonly text: string
}

export interface Attempt {
  readonly run: Run
  readonly claimed: Task
  readonly worker: string
  readonly agent: Agent
  readonly hold: Hold
  /** The folder that the agent works in. */
  readonly cwd: string
  readonly number: number
  /** What the agent is told at first, and what it would be told if it were begun anew. */
  readonly first: Invocation
  readonly prompt: string
  /** Told of a session as soon as its name is known. */
  readonly onSession: (session: string) => void
  session: string | undefined
  /** What the attempts before this one cost. */
  readonly spentUsd: number
  costUsd: number | undefined
  said: string
}

/** Wards that fail are mended by the same session, so often. */
const MOST_REPAIRS = 3

/** What a timer can wait for: it takes more than 24 days for nothing. */
const LONGEST_MS = 2 ** 31 - 1

/** Has an agent work on a task, for as long as it may take. */
export async function attempt(work: Attempt): Promise<Result> {
  const { timeoutMs } = work.run
  const late = new AbortController()
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => late.abort(), Math.min(timeoutMs, LONGEST_MS))
  try {
    return await worked(work, late.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Sends the agent on while its plan is open, and back while a ward fails. */
async function worked(work: Attempt, late: AbortSignal): Promise<Result> {
  const { run, claimed, hold } = work
  // Whoever is begun anew is sent on anew, whatever became of the one before.
  await enduring(run.signal, () => remember(run.caller.store, { conversationId: claimed.id }, UNTOUCHED, run.caller))
  let invocation = work.first
  for (let repairs = 0; ; ) {
    const ended = late.aborted ? tooLate(work) : await callAgent(work, invocation, late)
    const damage = await enduring(run.signal, () => restoreDamaged(run, claimed))
    const now = await enduring(run.signal, () => locate(run.caller, claimed.id))
    // A report keeps the claim's token, although the lease ends with it; giving back takes a new one.
    const isOurs = now.token === claimed.token
    if (isOurs && now.status !== 'in_progress')
      return { what: 'reported', task: now, text: await enduring(run.signal, () => reportOn(run.caller, now)) }
    if (now.status === 'to_execute' && !hold.lost.aborted) return { what: 'given_back' }
    if (!isOurs || hold.lost.aborted) return { what: 'lost' }
    if (run.signal.aborted) return { what: 'stopped' }
    // However it ended after that: nothing can be done before somebody has answered, or the parts are there.
    if (now.awaiting === 1) return { what: 'waiting', text: await enduring(run.signal, () => needsOf(run.caller, now)) }
    if (now.blockers > 0) return { what: 'divided' }
    // Whoever has called it done is held to the wards, as one that says so to us is.
    const isClaimed = await enduring(run.signal, () => isCalledDone(run.caller, now))
    if (ended && !isClaimed) return { what: 'failed', ...ended }
    if (damage && !isClaimed) return { what: 'failed', ...damage }
    if (isOverBudget(work) && !isClaimed) return { what: 'failed', ...overBudget(work) }
    const left = isClaimed ? undefined : await enduring(run.signal, () => planLeft(work))
    if (left && left.what !== 'open') return left
    if (left) {
      invocation = again(work, left.text)
      continue
    }
    const wards = await warded(work)
    if (hold.lost.aborted) return { what: 'lost' }
    if (run.signal.aborted) return { what: 'stopped' }
    if (wards) {
      const passed = wards.verdict === 'unknown' ? null : wards.verdict === 'passed'
      run.diary.tell({ what: 'wards', task: claimed.id, passed, text: wards.text })
    }
    if (wards?.verdict === 'failed') {
      await enduring(run.signal, () => noteWardFailed(run.caller, claimed.id, wards.text, claimed.token))
      if (++repairs > MOST_REPAIRS) return { what: 'failed', type: 'ward', text: wards.text }
      invocation = again(work, wardPrompt(claimed.id, wards.text, wards.failed?.output ?? ''))
      continue
    }
    const at = run.caller.now().toISOString()
    const commands = run.caller.wards.commands.map(wardLine)
    const verified = wards?.verdict === 'passed' ? { at, commands } : undefined
    return { what: 'done', text: work.said.trim() || 'done', verified }
  }
}

/** Whether a flag tells that a task is done which is still ours: its agent, or a script, has put it there. */
async function isCalledDone({ store }: Caller, { id, startedAt, finishedAt }: Task): Promise<boolean> {
  // A flag tells whole seconds. An older one is about a claim before this one.
  if (finishedAt === null || finishedAt.slice(0, 19) < (startedAt ?? '').slice(0, 19)) return false
  // A report of an error that was not moved tells of an end as well.
  return (await store.texts(task, [id])).get(id)?.[ERROR_REPORT] === undefined
}

/** What a report says: of a failure, what happened. */
async function reportOn({ store }: Caller, { id, status }: Task): Promise<string> {
  const texts = status === 'error' ? (await store.texts(task, [id])).get(id) : undefined
  return readErrorReport(texts?.[ERROR_REPORT] ?? '').what.trim() || `reported as ${status}`
}

/** Restores a task that its agent has made unreadable, and says what was wrong. */
async function restoreDamaged({ caller }: Run, claimed: Task): Promise<Failed | undefined> {
  const { store, by, now } = caller
  const [own] = await store.find(task, { where: { id: claimed.id }, limit: 1 })
  const name = directoryName(claimed)
  const unreadable = own?.token === claimed.token ? await store.unreadable(task, {}) : []
  if (!unreadable.some(({ file }) => basename(file) === name)) return undefined
  const restored = await store.recover(task, { by, at: now().toISOString() }, { id: claimed.id })
  const damaged = restored.find(({ damage }) => damage !== undefined)
  return damaged && { type: 'damaged', text: `the task was damaged while its agent worked: ${damaged.what}` }
}

/** Runs the wards where the agent worked; they end when the run does, or the claim. */
async function warded({ run, claimed, hold, cwd }: Attempt): Promise<WardResult | undefined> {
  const { caller, guard, rest } = run
  // Another mark than the agent's: what that has left behind is being ended meanwhile.
  const what = `${claimed.id} wards`
  rest.not(what)
  const wards = await runWards(
    { ...caller, here: cwd },
    {
      env: { [RUN_MARK]: markOf(what) },
      signal: AbortSignal.any([run.signal, hold.lost]),
      onGroup: (group, over) => (over ? guard.done(group) : guard.over(group)),
    },
  )
  if (wards) rest.of(what)
  return wards
}

/** The same session with another message; where it has none, the agent is begun anew and told everything. */
function again({ agent, session, prompt }: Attempt, message: string): Invocation {
  return agent.resume && session !== undefined ? agent.resume(session, message) : agent.begin(`${prompt}\n\n${message}`)
}
