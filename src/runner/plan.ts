import { judgeStop } from '../continuation/keeping.ts'
import { continuationPrompt } from '../continuation/prompt.ts'
import type { Caller } from '../core/operation.ts'
import { coming, type Outlook, outlook, planText, waitingIn } from '../plans/outlook.ts'
import type { Turn } from '../plans/record.ts'
import { unblockItem } from '../plans/work.ts'
import { checkpointName, readCheckpoint } from '../queue/checkpoints.ts'
import { task } from '../queue/kind.ts'
import type { Task } from '../queue/record.ts'
import { checkpointTask } from '../queue/reporting.ts'
import type { Attempt, Result } from './attempt.ts'
import type { Run } from './run.ts'

/** What to tell an agent whose plan is open. */
interface Open {
  readonly what: 'open'
  readonly text: string
}

/**
 * What is to be done about an agent that has ended with items of its plan left:
 * it is sent on, has been told often enough, or waits for a person. Undefined
 * where nothing is left.
 */
export async function planLeft(work: Attempt): Promise<Open | Result | undefined> {
  const plans = await plansOf(work.run, work.claimed, work.session)
  const open = plans.find(({ stands }) => stands.open > 0)
  if (open) return await sentOn(work, open)
  const waiting = plans.find(({ stands }) => stands.waiting > 0)
  return waiting ? await asked(work, waiting) : undefined
}

/** What the person has answered can be worked on again. */
export async function unblock(run: Run, claimed: Task, session: string | null): Promise<void> {
  for (const { caller, of } of await plansOf(run, claimed, session ?? undefined)) {
    for (const { id } of await waitingIn(caller, of)) await unblockItem(caller, id)
  }
}

/** What is left of the plan of somebody who was at the task before, for whoever begins anew. */
export async function planTold({ caller }: Run, { id }: Task): Promise<string> {
  return await planText(planning(caller, id))
}

/** What a task waits for that has asked. */
export async function needsOf(caller: Caller, { id, checkpoints }: Task): Promise<string> {
  const texts = (await caller.store.texts(task, [id])).get(id)
  const { summary, needs } = readCheckpoint(texts?.[checkpointName(checkpoints)] ?? '')
  return needs ?? summary
}

interface Plan {
  readonly caller: Caller
  readonly conversationId: string
  readonly of: Turn
  readonly stands: Outlook
}

/** Where a host tells its servers nothing of our environment, the plan is its session's. */
async function plansOf({ caller: runner }: Run, claimed: Task, session: string | undefined): Promise<Plan[]> {
  const plans: Plan[] = []
  for (const conversationId of new Set([claimed.id, session])) {
    if (conversationId === undefined) continue
    const caller = planning(runner, conversationId)
    const { of, work: stands } = await outlook(caller)
    if (of) plans.push({ caller, conversationId, of, stands })
  }
  return plans
}

function planning(runner: Caller, conversationId: string): Caller {
  return { ...runner, scope: { ...runner.scope, conversationId, turnId: undefined } }
}

async function sentOn({ run, claimed, agent }: Attempt, plan: Plan): Promise<Open | Result> {
  const { caller, conversationId, of, stands } = plan
  const facts = {
    work: stands,
    background: 0,
    recovering: false,
    asked: false,
    agent: agent.name,
    mayWrite: true,
    planning: false,
    cut: false,
    atOnce: true,
  }
  const session = { conversationId, host: agent.name }
  const judgement = await judgeStop(caller.store, session, facts, run.continuation, run.caller)
  if (!judgement.go) {
    const text = `it stopped with ${stands.open} of ${stands.total} items of its plan open, and was not sent on any more: ${judgement.why}`
    return { what: 'failed', type: 'unfinished', text }
  }
  run.diary.tell({ what: 'sent_on', task: claimed.id, open: stands.open })
  const next = (await coming(caller, of, 3)).map(({ title }) => title)
  return {
    what: 'open',
    text: continuationPrompt(stands, next),
  }
}

/** What is left waits for a person: then the task does, and is answered like any other. */
async function asked({ run, claimed }: Attempt, { caller, of, stands }: Plan): Promise<Result> {
  const items = await waitingIn(caller, of)
  const needs = items.map(({ title, needs: what }) => `${title}: ${what}`).join('\n')
  const summary = `${stands.completed} of ${stands.total} items of its plan are completed`
  await checkpointTask(run.caller, claimed.id, { summary, needs, token: claimed.token })
  return { what: 'waiting', text: needs }
}
