import { requireOther } from '../core/authority.ts'
import type { Texts } from '../core/kind.ts'
import { amend, move, moveAll } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { acting, namedToken, tokenFor } from './acting.ts'
import { checkpoint, checkpointName, reply, replyName } from './checkpoints.ts'
import { errorReport, reportInstead, rotated } from './error-report.ts'
import { task } from './kind.ts'
import { locate } from './locating.ts'
import { logging, noteInstead } from './logging.ts'
import { readTaskId } from './names.ts'
import type { Task } from './record.ts'
import { VERIFIED, type Verified, verifiedText } from './verified.ts'
import { stillWaits } from './waiting.ts'

/** How a task stands that its claimant reports on: what a report can be judged by without reading it. */
const CLAIMED = { status: 'in_progress', blockers: 0 } as const

/** Says that a task is done. Everything it waits for, its parts among them, must be completed or waived. */
export async function completeTask(
  caller: Caller,
  name: string,
  given?: number,
  note?: string,
  verified?: Verified,
): Promise<Task> {
  const id = readTaskId(name) ?? name
  const own = tokenFor(caller, id, given)
  if (namedToken(caller, id, given) !== undefined && note === undefined && !verified) {
    const at = caller.now().toISOString()
    const [done] = await moveAll(caller.store, task, [
      { id, to: 'completed', token: own, supposing: CLAIMED, by: caller.by, at },
    ])
    if (done) return done
  }
  const item = await locate(caller, id)
  const who = await acting(caller, item, given, note)
  if (item.status === 'in_progress' && item.blockers > 0 && (own === undefined || own === item.token)) {
    throw await stillWaits(caller, item, 'completed')
  }
  const log = note === undefined ? undefined : logging({ at: who.at, by: who.by, what: 'completed', note })
  const texts = verified ? (kept: Texts) => ({ ...log?.(kept), [VERIFIED]: verifiedText(verified) }) : log
  const fields = verified ? { verifiedAt: verified.at } : {}
  const recorded = note === undefined ? undefined : (kept: Texts) => noteInstead(kept, 'completed', note)
  return await move(caller.store, task, { id: item.id, known: item, to: 'completed', ...who, fields, texts, recorded })
}

/** Many claimants' work done in one go; what cannot be completed so is reported on its own. */
export async function completeTasks(
  caller: Caller,
  done: readonly { readonly id: string; readonly token: number }[],
): Promise<Task[]> {
  const at = caller.now().toISOString()
  const moves = done.map(({ id, token }) => ({
    id: readTaskId(id) ?? id,
    to: 'completed',
    token,
    supposing: CLAIMED,
    by: caller.by,
    at,
  }))
  const moved = await moveAll(caller.store, task, moves)
  const all: Task[] = []
  for (const [index, item] of moved.entries()) {
    all.push(item ?? (await completeTask(caller, done[index]!.id, done[index]!.token)))
  }
  return all
}

export interface Failure {
  readonly type: string
  readonly what: string
  readonly tried?: string | undefined
  readonly token?: number | undefined
}

/** Says that a task could not be done: it goes to those that failed, with a report. */
export async function failTask(caller: Caller, name: string, failure: Failure): Promise<Task> {
  const { type, what, tried, token } = failure
  const item = await locate(caller, name)
  const who = await acting(caller, item, token, `${type}: ${what.split('\n')[0]}`)
  const report = errorReport({ at: who.at, by: who.by, type, what, tried })
  const texts = (kept: Texts) => rotated(kept, report)
  const recorded = (kept: Texts) => reportInstead(kept, report)
  return await move(caller.store, task, { id: item.id, known: item, to: 'error', ...who, texts, recorded })
}

export interface Milestone {
  readonly summary: string
  readonly needs?: string | undefined
  readonly token?: number | undefined
}

/**
 * Reports a milestone of a task that is being worked on; with `needs`, it waits
 * for a reply from then on. The same words again, while nobody has replied, are
 * the same milestone.
 */
export async function checkpointTask(caller: Caller, name: string, milestone: Milestone): Promise<Task> {
  const { summary, needs, token } = milestone
  const item = await locate(caller, name)
  const why = needs === undefined ? 'checkpoint' : `checkpoint, waiting for: ${needs.split('\n')[0]}`
  const who = await acting(caller, item, token, why)
  const told = (number: number) => checkpoint(number, { at: who.at, by: who.by, summary, needs })
  if (item.status === 'in_progress' && (who.token ?? item.token) === item.token) {
    const texts = (await caller.store.texts(task, [item.id])).get(item.id) ?? {}
    const last = texts[checkpointName(item.checkpoints)]
    const replied = texts[replyName(item.checkpoints)] !== undefined
    if (last !== undefined && !replied && withoutTime(last) === withoutTime(told(item.checkpoints))) return item
  }
  let number = 0
  return await amend(caller.store, task, {
    id: item.id,
    known: item,
    ...who,
    fields: now => {
      refuseUnlessWorkedOn(now)
      number = now.checkpoints + 1
      return { checkpoints: number, awaiting: needs === undefined ? 0 : 1 }
    },
    texts: () => ({ [checkpointName(number)]: told(number) }),
  })
}

/** Answers the checkpoint that a task waits at. */
export async function replyTo(caller: Caller, name: string, text: string): Promise<Task> {
  const item = await locate(caller, name)
  const { task: own } = caller.scope
  await requireOther(caller, item, item.owner === caller.by || (own !== undefined && readTaskId(own) === item.id))
  const at = caller.now().toISOString()
  const answer = (number: number) => reply(number, { at, by: caller.by, text })
  const texts = (await caller.store.texts(task, [item.id])).get(item.id) ?? {}
  const said = texts[replyName(item.checkpoints)]
  if (item.awaiting === 0) {
    // Asked again by somebody who lost our answer.
    if (said !== undefined && withoutTime(said) === withoutTime(answer(item.checkpoints))) return item
    throw new Problem(
      'move_refused',
      `${item.id} waits for no reply${said === undefined ? '' : `: checkpoint ${item.checkpoints} has one`}`,
      'See what waits for one: punchlist queue list --waiting.',
      { id: item.id, checkpoints: item.checkpoints },
    )
  }
  let number = 0
  return await amend(caller.store, task, {
    id: item.id,
    known: item,
    by: caller.by,
    at,
    why: `reply to checkpoint ${item.checkpoints}`,
    fields: now => {
      number = now.checkpoints
      return { awaiting: 0 }
    },
    texts: () => ({ [replyName(number)]: answer(number) }),
  })
}

function withoutTime(text: string): string {
  return text.replace(/^\*\*Timestamp:\*\*.*$/m, '')
}

function refuseUnlessWorkedOn({ id, status }: Task): void {
  if (status === 'in_progress') return
  throw new Problem(
    'move_refused',
    `${id} is ${status}: only a task in progress has checkpoints`,
    `Claim it first: punchlist queue claim ${id}.`,
    { id, state: status },
  )
}
