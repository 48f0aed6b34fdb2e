import { move } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Whereabouts } from '../core/session.ts'
import { attemptAt, lastAttempt, type Rewriting, rewrite, type Told, toldBy } from './accounts.ts'
import { withChecked, withDecision, withOutcome, withSection, withSubtasks } from './file/editing.ts'
import { judge } from './judging.ts'
import { worklog } from './kind.ts'
import { fileOf, storeId } from './names.ts'
import type { Role, TaskSection, Worklog } from './record.ts'
import { taskKey } from './task-key.ts'

/** Opens a worker's log, or goes on with the one that is there. */
export async function openLog(
  caller: Caller,
  where: Whereabouts,
  { worker, role, plan }: { readonly worker: string; readonly role: Role; readonly plan: string },
): Promise<Told> {
  const id = storeId(where, worker)
  const note = { by: caller.by, at: caller.now().toISOString() }
  const said = { role, plan_path: plan }
  const fields = { ...where, worker, file: fileOf(worker), ...said, extra: null }
  const draft = { id, title: worker, status: 'active', identity: id, fields, texts: { body: '' } }
  const [added] = await caller.store.insert(worklog, [draft], note)
  const { item, created } = added!
  if (!created) refuseAnother(item, said)
  const opened = created
    ? item
    : await move(caller.store, worklog, { id, known: item, to: 'active', fields: said, ...note })
  return (await toldBy(caller, [opened]))[0]!
}

/** Begins a task; what is begun already gets the subtasks it does not have yet. One that failed is tried again. */
export async function beginTask(
  caller: Caller,
  item: Worklog,
  wanted: { number: number; subject: string; subtasks: readonly string[]; again: boolean },
): Promise<Told> {
  const { number, subject, subtasks, again } = wanted
  const isOver = (section: TaskSection) => section.status === 'completed' && !again
  const [told] = await toldBy(caller, [item])
  const last = lastAttempt(told!.account.sections, number)
  // Asked again after it was done: nobody is at work again for that.
  if (last && taskKey(last) === taskKey({ number, subject }) && isOver(last)) return told!
  const claimed = caller.now().toISOString()
  const change: Rewriting = (body, { sections }) => {
    const section = lastAttempt(sections, number)
    const isAnother = !section || section.status === 'failed' || (section.status === 'completed' && again)
    if (isAnother) return withSection(body, { number, subject, claimed, subtasks })
    if (taskKey(section) !== taskKey({ number, subject })) throw anotherSubject(item, section)
    return isOver(section) ? body : withSubtasks(body, number, subtasks)
  }
  const why = `Task #${number} begun: ${subject}`
  const begun = await rewrite(caller, item, change, why)
  // Only afterwards: a move that somebody else has meanwhile made would leave the text behind.
  const moved = { id: item.id, known: begun.item, to: 'active', by: caller.by, at: claimed, why }
  return { ...begun, item: await move(caller.store, worklog, moved) }
}

/** The beginning of a hint: a range that is empty is not offered. */
function offered(subtasks: number): string {
  if (subtasks === 0) return 'Add'
  return subtasks === 1 ? 'Use the number 1, or add' : `Use a number from 1 to ${subtasks}, or add`
}

export async function checkOff(caller: Caller, item: Worklog, number: number, subtask: number): Promise<Told> {
  const change: Rewriting = (body, account) => {
    const { subtasks } = attemptAt(item, account, number)
    const checked = withChecked(body, number, subtask)
    if (checked !== undefined) return checked
    throw new Problem(
      'not_found',
      `Task #${number} of ${item.worker} has ${subtasks.length} subtasks; there is no ${subtask}`,
      `${offered(subtasks.length)} it: punchlist worklog task ${item.worker} ${number} SUBJECT --subtask TEXT`,
      { name: item.worker, task: number, subtask, subtasks },
    )
  }
  return await rewrite(caller, item, change, `Task #${number}: subtask ${subtask} done`)
}

export async function decide(caller: Caller, item: Worklog, number: number, text: string): Promise<Told> {
  const change: Rewriting = (body, account) => {
    attemptAt(item, account, number)
    return withDecision(body, number, text)
  }
  return await rewrite(caller, item, change, `Task #${number}: decided: ${text}`)
}

export async function failTask(caller: Caller, item: Worklog, number: number, reason: string): Promise<Told> {
  const change: Rewriting = (body, account) => {
    const section = attemptAt(item, account, number)
    if (section.status === 'failed' && section.failure === reason) return body
    judge(item, section, 'failed', { failure: reason })
    return withOutcome(body, number, { status: 'failed', failure: reason })
  }
  return await rewrite(caller, item, change, `Task #${number} failed: ${reason}`)
}

export async function closeLog(caller: Caller, item: Worklog, to: 'completed' | 'interrupted'): Promise<Told> {
  const note = { by: caller.by, at: caller.now().toISOString() }
  const closed = await move(caller.store, worklog, { id: item.id, known: item, to, ...note })
  return (await toldBy(caller, [closed]))[0]!
}

/** A name is one worker's: somebody else who opens it would write in the same file. */
function refuseAnother(item: Worklog, wanted: Pick<Worklog, 'role' | 'plan_path'>): void {
  const differing = (['role', 'plan_path'] as const).filter(
    field => item[field] !== null && item[field] !== wanted[field],
  )
  if (differing.length === 0) return
  const facts = differing.map(field => `${field} ${item[field]}`).join(', ')
  throw new Problem(
    'move_refused',
    `${item.worker} has a worklog in this session already, with ${facts}`,
    'Use another name, or open it with what it has.',
    { name: item.worker, role: item.role, plan_path: item.plan_path },
  )
}

function anotherSubject({ worker }: Worklog, { number, subject }: TaskSection): Problem {
  return new Problem(
    'move_refused',
    `Task #${number} of ${worker} is another one: ${subject}`,
    'Use its subject as it stands, or another number.',
    { name: worker, task: number, subject },
  )
}
