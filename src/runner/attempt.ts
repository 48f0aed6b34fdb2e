import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { UNTOUCHED } from '../continuation/judging.ts'
import { judgeStop, remember } from '../continuation/keeping.ts'
import { buildContinuationPrompt } from '../continuation/prompt.ts'
import type { Caller } from '../core/operation.ts'
import { runWards } from '../core/wards.ts'
import { coming, outlook } from '../plans/outlook.ts'
import { locate } from '../queue/locating.ts'
import { directoryName } from '../queue/names.ts'
import type { Task } from '../queue/record.ts'
import type { Verified } from '../queue/verified.ts'
import { noteWardFailed } from '../queue/verifying.ts'
import type { Agent, Invocation } from './agents/agent.ts'
import { Child, type Ended } from './child.ts'
import { enduring } from './enduring.ts'
import type { Hold } from './hold.ts'
import { markOf, RUN_MARK } from './marked.ts'
import { wardPrompt } from './prompt.ts'
import type { Run } from './run.ts'

/** What came of one attempt at a task. */
export type Result =
  | { readonly what: 'done'; readonly text: string; readonly verified: Verified | undefined }
  /** Somebody has reported on it already, the agent itself as a rule. */
  | { readonly what: 'reported'; readonly task: Task }
  | { readonly what: 'waiting' }
  | { readonly what: 'divided' }
  | { readonly what: 'failed'; readonly type: string; readonly text: string }
  | { readonly what: 'stopped' }
  | { readonly what: 'lost' }

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
  costUsd: number | undefined
  said: string
}

/** Wards that fail are mended by the same session, so often. */
const MOST_REPAIRS = 3

/** Has an agent work on a task, sends it on while its plan is open, and back while a ward fails. */
export async function attempt(work: Attempt): Promise<Result> {
  const { run, claimed, hold } = work
  // Whoever is begun anew is sent on anew, whatever became of the one before.
  await enduring(run.signal, () => remember(run.caller.store, { conversationId: claimed.id }, UNTOUCHED, run.caller))
  let invocation = work.first
  for (let repairs = 0; ; ) {
    const ended = await once(work, invocation)
    if (hold.lost.aborted) return { what: 'lost' }
    const now = await enduring(run.signal, () => locate(run.caller, claimed.id))
    if (now.status !== 'in_progress' || now.token !== claimed.token) return { what: 'reported', task: now }
    if (run.signal.aborted) return { what: 'stopped' }
    if (ended.why !== undefined) return { what: 'failed', type: ended.type, text: ended.why }
    if (now.awaiting === 1) return { what: 'waiting' }
    if (now.blockers > 0) return { what: 'divided' }
    const overdrawn = overBudget(work)
    if (overdrawn) return overdrawn
    const onward = await enduring(run.signal, () => sentOn(work))
    if (typeof onward === 'object') return onward
    if (onward !== undefined) {
      invocation = again(work, onward)
      continue
    }
    const wards = await runWards(inPlace(run.caller, work.cwd))
    if (wards) run.diary.tell({ what: 'wards', task: claimed.id, passed: wards.verdict === 'passed', text: wards.text })
    if (wards?.verdict === 'failed') {
      await enduring(run.signal, () => noteWardFailed(run.caller, claimed.id, wards.text, claimed.token))
      if (++repairs > MOST_REPAIRS) return { what: 'failed', type: 'ward', text: wards.text }
      invocation = again(work, wardPrompt(claimed.id, wards.text, wards.failed?.output ?? ''))
      continue
    }
    const at = run.caller.now().toISOString()
    const commands = run.caller.wards.commands.map(command => command.join(' '))
    const verified = wards?.verdict === 'passed' ? { at, commands } : undefined
    return { what: 'done', text: work.said.trim() || 'done', verified }
  }
}

/** The same session with another message; where it has none, the agent is begun anew and told everything. */
function again({ agent, session, prompt }: Attempt, message: string): Invocation {
  return agent.resume && session !== undefined ? agent.resume(session, message) : agent.begin(`${prompt}\n\n${message}`)
}

function overBudget({ run, costUsd = 0 }: Attempt): Result | undefined {
  const { budgetUsd } = run
  if (budgetUsd === undefined || costUsd <= budgetUsd) return undefined
  return { what: 'failed', type: 'budget', text: `cost ${costUsd.toFixed(2)} USD, more than ${budgetUsd} USD` }
}

/** What to tell an agent that stopped with its plan open; undefined where nothing is, and a failure where it has been told often enough. */
async function sentOn({ run, claimed, session, agent }: Attempt): Promise<string | Result | undefined> {
  // Where a host tells its servers nothing of our environment, the plan is its session's.
  for (const conversationId of [claimed.id, session]) {
    if (conversationId === undefined) continue
    const caller: Caller = { ...run.caller, scope: { ...run.caller.scope, conversationId, turnId: undefined } }
    const { of, work } = await outlook(caller)
    if (!of || work.open === 0) continue
    const facts = {
      work,
      background: 0,
      recovering: false,
      asked: false,
      agent: agent.name,
      mayWrite: true,
      planning: false,
      cut: false,
      atOnce: true,
    }
    const judgement = await judgeStop(
      run.caller.store,
      { conversationId, host: agent.name },
      facts,
      run.continuation,
      run.caller,
    )
    if (!judgement.go) {
      const text = `it stopped with ${work.open} of ${work.total} items of its plan open, and was not sent on any more: ${judgement.why}`
      return { what: 'failed', type: 'unfinished', text }
    }
    run.diary.tell({ what: 'sent_on', task: claimed.id, open: work.open })
    const next = await coming(caller, of, 3)
    return buildContinuationPrompt(
      work.completed,
      work.total,
      work.open + work.waiting,
      next.map(({ title }) => title),
    )
  }
  return undefined
}

/** Runs the agent once, to its end or until it must be stopped. `why`: what went wrong. */
async function once(work: Attempt, invocation: Invocation): Promise<{ readonly type: string; readonly why?: string }> {
  const { run, claimed, hold, agent, cwd, number } = work
  const began = performance.now()
  run.rest.not(claimed.id)
  const child = new Child(invocation, {
    cwd,
    env: environment(work),
    output: outputFile(run, claimed, number),
    onLine: line => {
      const { session, costUsd, said } = agent.hear(line)
      if (session !== undefined && session !== work.session) work.onSession((work.session = session))
      if (costUsd !== undefined) work.costUsd = costUsd
      if (said === undefined) return
      work.said = said.slice(-4000)
      run.onSaid(claimed.id, said)
    },
  })
  const pid = child.group ?? null
  if (pid !== null) run.guard.over(pid)
  run.diary.tell({ what: 'agent_started', task: claimed.id, attempt: number, pid, session: work.session ?? null })
  const late = new AbortController()
  const timer = run.timeoutMs === undefined ? undefined : setTimeout(() => late.abort(), run.timeoutMs)
  const stop = () => child.stop()
  const signals = [run.signal, hold.lost, late.signal]
  for (const signal of signals) {
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  }
  const ended = await child.ended
  for (const signal of signals) signal.removeEventListener('abort', stop)
  clearTimeout(timer)
  run.rest.of(claimed.id)
  if (pid !== null) run.guard.done(pid)
  const { exit, signal } = ended
  const ms = Math.round(performance.now() - began)
  run.diary.tell({ what: 'agent_ended', task: claimed.id, attempt: number, exit, signal, ms })
  if (late.signal.aborted) return { type: 'timeout', why: `${agent.name} took longer than ${run.timeoutMs! / 1000} s` }
  const isEnd = exit !== null && (agent.isEnd?.(exit) ?? exit === 0)
  return isEnd ? { type: '' } : { type: 'agent', why: wayItEnded(agent, ended, work.said) }
}

function wayItEnded({ name }: Agent, { exit, signal, error, complaint }: Ended, said: string): string {
  const how = error ?? (exit === null ? `ended by ${signal}` : `exit ${exit}`)
  const last = [said.trim(), complaint].filter(Boolean).join('\n')
  return `${name}: ${how}${last === '' ? '' : `\n\nIt said last:\n${last}`}`
}

/** What the agent and everything it starts knows: who it is, which task it has, and by which token it reports. */
function environment({ run, claimed, worker }: Attempt): Record<string, string | undefined> {
  const { caller } = run
  return {
    ...run.env,
    PUNCHLIST_ROOT: caller.root,
    ...(run.store === undefined ? {} : { PUNCHLIST_STORE: run.store }),
    PUNCHLIST_ACTOR: worker,
    PUNCHLIST_CONVERSATION: claimed.id,
    PUNCHLIST_TURN: undefined,
    PUNCHLIST_SESSION: caller.scope.session,
    PUNCHLIST_TASK: claimed.id,
    PUNCHLIST_TOKEN: String(claimed.token),
    [RUN_MARK]: markOf(claimed.id),
  }
}

/** With the task where it is a directory, and still lies there; else with what runs remember. */
function outputFile({ caller, folder }: Run, claimed: Task, number: number): string {
  const directory = join(caller.root, caller.queue, 'in_progress', directoryName(claimed))
  const artifacts = join(directory, 'artifacts')
  // A link could lead anywhere, and a directory that is made anew would be another task.
  const there = caller.inFiles && lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true
  const linked = there && lstatSync(artifacts, { throwIfNoEntry: false })?.isSymbolicLink() === true
  const place = there && !linked ? artifacts : join(folder, 'artifacts', claimed.id)
  mkdirSync(place, { recursive: true })
  return join(place, `attempt_${String(number).padStart(3, '0')}.log`)
}

function inPlace(caller: Caller, here: string): Caller {
  return { ...caller, here }
}
