import { setTimeout as sleep } from 'node:timers/promises'
import { Problem, type ProblemCode } from '../core/problem.ts'
import { redacted } from '../core/text.ts'
import { wardLine } from '../core/wards.ts'
import { replyName } from '../queue/checkpoints.ts'
import { DEFINITION } from '../queue/format.ts'
import { task } from '../queue/kind.ts'
import { childrenOf } from '../queue/locating.ts'
import { directoryName, isTaskId } from '../queue/names.ts'
import type { Task } from '../queue/record.ts'
import { listArrived } from './arrival-list.ts'
import { type Attempt, attempt, type Failed, type Result } from './attempt.ts'
import { BUDGET } from './budget.ts'
import type { Outcome } from './diary.ts'
import { enduring, isInTheWay, isItsOwn } from './enduring.ts'
import { Hold } from './hold.ts'
import { forget, type Memory, recall, remember } from './memory.ts'
import { placeFor } from './place.ts'
import { planTold, unblock } from './plan.ts'
import { replyPrompt, taskPrompt } from './prompt.ts'
import type { Run } from './run.ts'
import { failed, returned, settled } from './settling.ts'

/** So long after the first failure; twice as long after each further one. */
const BACKOFF_MS = 2000
const LONGEST_BACKOFF_MS = 60_000

/** What a write about a task is refused with that is others' by now. */
const OTHERS: ReadonlySet<ProblemCode> = new Set(['lease_lost', 'move_refused', 'not_found'])

/** Does a claimed task with an agent, to its end or to where somebody else is needed. */
export async function workOn(run: Run, worker: string, claimed: Task): Promise<Outcome> {
  const { id, title, token } = claimed
  const began = performance.now()
  const claimedAt = run.caller.now().toISOString()
  run.diary.tell({ what: 'claimed', worker, task: id, title, token })
  const hold = new Hold(run.caller.store, claimed, run.leaseMs)
  let memory = recall(run.state, id)
  let costUsd: number | undefined
  const ended = (outcome: Outcome, words: string, wards?: string): Outcome => {
    const text = redacted(words)
    run.logbook.note(worker, { id, title, outcome, text, claimed: claimedAt, wards })
    const ms = Math.round(performance.now() - began)
    run.diary.tell({
      what: 'ended',
      task: id,
      title,
      outcome,
      text,
      ms,
      attempts: memory.attempts,
      costUsd: costUsd ?? null,
    })
    return outcome
  }
  const keep = (more: Partial<Memory>) => remember(run.state, id, (memory = { ...memory, ...more }))
  const failing = async (how: Failed) => {
    const outcome = await enduring(run.signal, () => failed(run, claimed, how, memory))
    const told = ended(outcome, how.text)
    // Whoever lets it be tried again means from the beginning.
    keep({ attempts: 0, givenBack: 0 })
    return told
  }
  try {
    if (!isTaskId(id)) return await failing({ type: 'id', text: 'its id is not that of a task; no agent was started' })
    await enduring(run.signal, () => listArrived(run, id))
    if (memory.givenBack >= run.maxAttempts) {
      return await failing({ type: 'given_back', text: `its agent has given it back ${memory.givenBack} times` })
    }
    for (let waits = BACKOFF_MS; ; waits = Math.min(waits * 2, LONGEST_BACKOFF_MS)) {
      const agent = run.agent()
      const onSession = (session: string) => keep({ session })
      const place = await placeFor(run, claimed)
      const cwd = typeof place === 'string' ? place : run.caller.here
      const given = { run, claimed, worker, agent, hold, cwd, onSession, spentUsd: costUsd ?? 0 }
      const work = await enduring(run.signal, () => prepared(given, memory))
      keep({ attempts: work.number, agent: agent.name })
      const result: Result = typeof place === 'string' ? await attempt(work) : { what: 'failed', ...place }
      costUsd = sum(costUsd, work.costUsd)
      const outcome = await enduring(run.signal, () => settled(run, claimed, result))
      if (outcome) {
        const told = ended(outcome, textOf(result), wardsIn(result))
        if (outcome === 'completed') forget(run.state, id)
        // Only what failed, or was cut off, counts as an attempt.
        else if (outcome !== 'lost') keep({ attempts: outcome === 'failed' ? 0 : work.number - 1 })
        if (result.what === 'given_back') keep({ givenBack: memory.givenBack + 1 })
        return told
      }
      const how = result as Result & { what: 'failed' }
      keep({ before: [...memory.before, how.text].slice(-5), session: null })
      // A Ctrl-C reaches git as well, whose end is none of the task's making.
      if (!run.signal.aborted && (work.number >= run.maxAttempts || how.type === BUDGET)) return await failing(how)
      await sleep(waits, undefined, { signal: AbortSignal.any([run.signal, hold.lost]) }).catch(() => undefined)
      if (hold.lost.aborted) return ended('lost', 'its lease was taken over')
      if (run.signal.aborted) return ended(await returned(run, claimed, 'the run was stopped'), 'the run was stopped')
    }
  } catch (error) {
    if (error instanceof Problem && (isItsOwn(error) || isInTheWay(error)) && !run.signal.aborted) {
      // Where not even that can be written down, others get the task when its lease has expired.
      return await failing({ type: 'hindered', text: error.message }).catch(() => ended('lost', error.message))
    }
    // Whatever went wrong is none of the task's making: others may have it.
    await returned(run, claimed, 'the run could not go on').catch(() => undefined)
    // Somebody has decided about it, or taken it away, which is none of the other tasks' making.
    if (error instanceof Problem && OTHERS.has(error.code)) return ended('lost', error.message)
    throw error
  } finally {
    hold.stop()
  }
}

async function prepared(
  given: Pick<Attempt, 'run' | 'claimed' | 'worker' | 'agent' | 'hold' | 'cwd' | 'onSession' | 'spentUsd'>,
  memory: Memory,
): Promise<Attempt> {
  const { run, claimed, worker, agent } = given
  const { caller } = run
  const texts = (await caller.store.texts(task, [claimed.id])).get(claimed.id) ?? {}
  const parts = (await childrenOf(caller, claimed)).map(part => ({
    id: part.id,
    title: part.title,
    dir: caller.inFiles ? `${caller.queue}/${part.status}/${directoryName(part)}` : null,
  }))
  const wards = caller.wards.commands.map(wardLine)
  const wardsRun = wards.length > 0 && (await caller.wards.mayRun())
  const definition = [texts[DEFINITION] ?? claimed.title, ...conversation(texts)].join('\n\n')
  const protocol = await run.logbook.protocol(worker, claimed)
  const { before } = memory
  const hasDirectory = caller.inFiles
  const prompt = taskPrompt({
    task: claimed,
    definition,
    worker,
    parts,
    before,
    wards,
    wardsRun,
    protocol,
    hasDirectory,
  })
  const reply = lastReply(texts, claimed.checkpoints)
  const session = memory.agent === agent.name && reply !== undefined ? memory.session : null
  if (reply !== undefined) await unblock(run, claimed, session)
  const plan = await planTold(run, claimed)
  const resumed = session === null ? undefined : agent.resume?.(session, replyPrompt(claimed.id, reply!))
  return {
    ...given,
    number: memory.attempts + 1,
    first: resumed ?? agent.begin(plan === '' ? prompt : `${prompt}\n\n${plan}`),
    prompt,
    session: resumed && session !== null ? session : undefined,
    costUsd: undefined,
    said: '',
  }
}

function conversation(texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts)
    .filter(([name]) => /^checkpoint_\d+(?:_reply)?\.md$/.test(name))
    .map(([, text]) => text)
}

function lastReply(texts: Readonly<Record<string, string>>, checkpoints: number): string | undefined {
  return texts[replyName(checkpoints)]
}

function textOf(result: Result): string {
  return 'text' in result ? result.text : result.what.replace('_', ' ')
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0)
}

function wardsIn(result: Result): string | undefined {
  return result.what === 'done' && result.verified ? `passed: ${result.verified.commands.join('; ')}` : undefined
}
