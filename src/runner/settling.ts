import { PROBLEMS, Problem } from '../core/problem.ts'
import { settle } from '../handover.ts'
import { returnTask, unlessReported } from '../queue/claiming.ts'
import type { Task } from '../queue/record.ts'
import { completeTask, failTask } from '../queue/reporting.ts'
import type { Failed, Result } from './attempt.ts'
import type { Outcome } from './diary.ts'
import { isInTheWay, unlessItsOwn } from './enduring.ts'
import type { Memory } from './memory.ts'
import type { Run } from './run.ts'

/** Writes down what came of a task; undefined where it failed, and may be tried again. */
export async function settled(run: Run, claimed: Task, result: Result): Promise<Outcome | undefined> {
  switch (result.what) {
    case 'done':
      return await completed(run, claimed, result)
    case 'reported':
      return REPORTED[result.task.status] ?? 'lost'
    case 'waiting':
      return (await returned(run, claimed, 'it waits for a reply')) === 'returned' ? 'waiting' : 'lost'
    case 'divided':
      return await returned(run, claimed, 'it was divided into parts')
    case 'given_back':
      return 'returned'
    case 'stopped':
      return await returned(run, claimed, 'the run was stopped')
    case 'lost':
      return 'lost'
    default:
      return undefined
  }
}

const REPORTED: Readonly<Record<string, Outcome>> = {
  completed: 'completed',
  error: 'failed',
  cancelled: 'returned',
}

async function completed(
  run: Run,
  { id, token }: Task,
  { text, verified }: Result & { what: 'done' },
): Promise<Outcome> {
  const { caller } = run
  try {
    await completeTask(caller, id, token, text, verified)
  } catch (error) {
    if (!(error instanceof Problem) || PROBLEMS[error.code].retry || isInTheWay(error)) throw error
    // The agent, or a script, was faster: what it wrote down stays.
    if (error.code === 'move_refused' && error.details['from'] === 'completed') {
      await settle(caller, id)
      return 'completed'
    }
    // A part was added at the last moment; or the task is somebody else's by now.
    return error.code === 'move_refused' ? await returned(run, { id, token }, error.message) : 'lost'
  }
  // The task is completed, whatever is wrong with the todo that it was made of.
  await settle(caller, id).catch(unlessItsOwn)
  return 'completed'
}

export async function returned(
  { caller }: Run,
  { id, token }: Pick<Task, 'id' | 'token'>,
  why: string,
): Promise<Outcome> {
  const back = await returnTask(caller, id, token, why).catch(unlessReported)
  return back ? 'returned' : 'lost'
}

export async function failed(
  { caller }: Run,
  claimed: Task,
  { type, text }: Failed,
  { attempts, before }: Memory,
): Promise<Outcome> {
  const tried = attempts > 1 ? `${attempts} attempts:\n\n${before.map(each => `- ${each}`).join('\n')}` : undefined
  const gone = await failTask(caller, claimed.id, { type, what: text, tried, token: claimed.token }).catch(error =>
    // It has failed all the same; `queue recover` says what is in the way.
    isInTheWay(error) ? claimed : unlessReported(error),
  )
  return gone ? 'failed' : 'lost'
}
