import type { Unreadable } from '../core/store.ts'
import { forPullRequest } from './escaping.ts'
import { isCompleted, type Overview, type Progress } from './progress.ts'
import type { TaskSection } from './record.ts'
import { wardVerdict } from './verdict.ts'

/**
 * What a reviewer must know, the worst first: who is missing, what failed, what
 * was not finished, what was completed with something left. A task that another
 * worker completed is done, whatever became of it here.
 */
export function knownIssues({ workers, unread }: Overview): string[] {
  const done = new Set(workers.flatMap(one => one.tasks.filter(isCompleted).map(({ number }) => number)))
  const found = workers.flatMap(one =>
    one.tasks.flatMap(task => (isCompleted(task) || !done.has(task.number) ? (issueWith(one, task) ?? []) : [])),
  )
  return [...unread.map(missing), ...found.toSorted((one, other) => one.rank - other.rank).map(({ text }) => text)]
}

function missing({ file, line, message }: Unreadable): string {
  return `${forPullRequest(file, 300)} could not be read, line ${line}: ${forPullRequest(message, 200)}`
}

interface Issue {
  readonly rank: number
  readonly text: string
}

function issueWith({ worker }: Progress, task: TaskSection): Issue | undefined {
  // Not `#1`, which would be a link to an issue of that number.
  const what = `**${forPullRequest(worker)}**: task ${task.number} (${forPullRequest(task.subject)})`
  const open = openSubtasks(task)
  const left = open ? `; ${open}` : ''
  if (task.status === 'failed') {
    return { rank: 0, text: `${what} failed: ${forPullRequest(task.failure ?? 'no reason given', 200)}${left}` }
  }
  if (!isCompleted(task)) return { rank: 1, text: `${what} was not finished${left}` }
  if (task.ward !== null && wardVerdict(task.ward) === 'failed') {
    return { rank: 2, text: `${what} was completed, its ward result is: ${forPullRequest(task.ward, 200)}${left}` }
  }
  return open ? { rank: 3, text: `${what} was completed with ${open}` } : undefined
}

function openSubtasks({ subtasks }: TaskSection): string | undefined {
  const open = subtasks.filter(({ done }) => !done)
  if (open.length === 0) return undefined
  const words = forPullRequest(open.map(({ text }) => text).join('; '), 200)
  return `${open.length} of ${subtasks.length} ${subtasks.length === 1 ? 'subtask' : 'subtasks'} open: ${words}`
}
