import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../core/files.ts'
import { redacted } from '../core/text.ts'
import { directoryName } from '../queue/names.ts'
import type { Task } from '../queue/record.ts'
import { type Agent, type Invocation, isSession } from './agents/agent.ts'
import type { Attempt, Failed } from './attempt.ts'
import { isOverBudget, overBudget } from './budget.ts'
import { Child, type Ended } from './child.ts'
import { markOf, RUN_MARK } from './marked.ts'
import type { Run } from './run.ts'

/** Runs the agent once, to its end or until it must be stopped, and tells what went wrong. */
export async function callAgent(work: Attempt, invocation: Invocation, late: AbortSignal): Promise<Failed | undefined> {
  const { run, claimed, hold, agent, cwd, number } = work
  const began = performance.now()
  run.rest.not(claimed.id)
  const dear = new AbortController()
  const child = new Child(invocation, {
    cwd,
    env: environment(work),
    output: outputFile(run, claimed, number),
    onLine: line => {
      const { session, costUsd, said } = agent.hear(line)
      if (isSession(session) && session !== work.session) work.onSession((work.session = session))
      if (costUsd !== undefined) work.costUsd = costUsd
      if (isOverBudget(work)) dear.abort()
      if (said === undefined) return
      work.said = redacted(said).slice(-4000)
      run.onSaid(claimed.id, work.said)
    },
  })
  const pid = child.group ?? null
  if (pid !== null) run.guard.over(pid)
  run.diary.tell({ what: 'agent_started', task: claimed.id, attempt: number, pid, session: work.session ?? null })
  const stop = () => child.stop()
  const signals = [run.signal, hold.lost, late, dear.signal]
  for (const signal of signals) {
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  }
  const ended = await child.ended
  for (const signal of signals) signal.removeEventListener('abort', stop)
  run.rest.of(claimed.id)
  if (pid !== null) run.guard.done(pid)
  const { exit, signal } = ended
  const ms = Math.round(performance.now() - began)
  run.diary.tell({ what: 'agent_ended', task: claimed.id, attempt: number, exit, signal, ms })
  if (late.aborted) return tooLate(work)
  const isEnd = exit !== null && (agent.isEnd?.(exit) ?? exit === 0)
  if (isEnd) return undefined
  return dear.signal.aborted ? overBudget(work) : { type: 'agent', text: wayItEnded(agent, ended, work.said) }
}

export function tooLate({ run, agent }: Attempt): Failed {
  return { type: 'timeout', text: `${agent.name} took longer than ${run.timeoutMs! / 1000} s` }
}

function wayItEnded({ name }: Agent, { exit, signal, error, complaint }: Ended, said: string): string {
  const how = error ?? (exit === null ? `ended by ${signal}` : `exit ${exit}`)
  const last = [said.trim(), complaint].filter(Boolean).join('\n')
  return redacted(`${name}: ${how}${last === '' ? '' : `\n\nIt said last:\n${last}`}`)
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
    PUNCHLIST_TASK_DIR: directoryOf(run, claimed),
    PUNCHLIST_TOKEN: String(claimed.token),
    [RUN_MARK]: markOf(claimed.id),
  }
}

/** With the task; where it has no directory, or something stands in the way there, with what runs remember. */
function outputFile(run: Run, claimed: Task, number: number): string | undefined {
  const name = `attempt_${String(number).padStart(3, '0')}.log`
  const directory = directoryOf(run, claimed)
  const artifacts = directory && join(directory, 'artifacts')
  // A link could lead anywhere.
  const free = artifacts && isOrCanBe(artifacts, 'isDirectory') && isOrCanBe(join(artifacts, name), 'isFile')
  try {
    if (free) makeFolder(directory, artifacts, 0o777)
    return join(free ? artifacts : run.state.make('artifacts', claimed.id), name)
  } catch {
    // Nothing is kept then.
    return undefined
  }
}

/** Undefined where it has none, or it lies elsewhere by now: one that is made anew would be another task. */
function directoryOf({ caller }: Run, claimed: Task): string | undefined {
  const directory = join(caller.root, caller.queue, 'in_progress', directoryName(claimed))
  const there = caller.inFiles && lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true
  return there ? directory : undefined
}

function isOrCanBe(path: string, what: 'isDirectory' | 'isFile'): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.[what]() ?? true
}
