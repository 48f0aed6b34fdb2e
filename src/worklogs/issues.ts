import type { Unreadable } from '../core/store.ts'
import { forPullRequest } from './escaping.ts'
import { isCompleted, type Overview, type Progress } from './progress.ts'
import type { TaskSection } from './record.ts'
import { taskKey } from './task-key.ts'
import { wardVerdict } from './verdict.ts'

/** More than these are only counted. */
const MOST = 50

/**
 * What a reviewer must know, the worst first: who is missing or still at work,
 * what failed, what was not finished, what was completed with something left. A
 * task that another worker completed is done, whatever became of it here.
 */
export function knownIssues({ workers, unread }: Overview): string[] {
  const done = new Set(workers.flatMap(one => one.completed))
  const found = workers
    .flatMap(({ worker, left }) => left.map(task => ({ worker, task, rank: rankOf(task) })))
    .filter(({ task }) => isCompleted(task) || !done.has(taskKey(task)))
    .toSorted((one, other) => one.rank - other.rank)
  const absent = [...unread.map(unreadable), ...workers.filter(isActive).map(atWork)]
  const all = absent.length + found.length
  const missing = absent.slice(0, MOST)
  const shown = found.slice(0, MOST - missing.length).map(({ worker, task }) => told(worker, task))
  return [...missing, ...shown, ...(all > MOST ? [`and ${all - MOST} more`] : [])]
}

function isActive({ status }: Progress): boolean {
  return status === 'active'
}

function atWork({ worker }: Progress): string {
  return `**${forPullRequest(worker)}** is still at work: its log is active`
}

function rankOf(task: TaskSection): number {
  if (task.status === 'failed') return 0
  if (!isCompleted(task)) return 1
  return wardFailed(task) ? 2 : 3
}

function wardFailed({ ward }: TaskSection): boolean {
  return ward !== null && wardVerdict(ward) === 'failed'
}

function unreadable({ file, line, message }: Unreadable): string {
  return `${forPullRequest(file, 300)} could not be read, line ${line}: ${forPullRequest(message, 200)}`
}

function told(worker: string, task: TaskSection): string {
  const subject = forPullRequest(task.subject)
  // Not `#1`, which would be a link to an issue of that number.
  const what = `**${forPullRequest(worker)}**: task ${task.number}${subject && ` (${subject})`}`
  const open = openSubtasks(task)
  const left = open ? `; ${open}` : ''
  if (task.status === 'failed')
    return `${what} failed: ${forPullRequest(task.failure || 'no reason given', 200)}${left}`
  if (!isCompleted(task)) return `${what} was not finished${left}`
  if (wardFailed(task)) return `${what} was completed, its ward result is: ${forPullRequest(task.ward!, 200)}${left}`
  return `${what} was completed with ${open}`
}

function openSubtasks({ subtasks }: TaskSection): string | undefined {
  const open = subtasks.filter(({ done }) => !done)
  if (open.length === 0) return undefined
  const words = forPullRequest(open.map(({ text }) => text).join('; '), 200)
  return `${open.length} of ${subtasks.length} ${subtasks.length === 1 ? 'subtask' : 'subtasks'} open: ${words}`
}
