import type { Unreadable } from '../core/store.ts'
import type { Account, TaskSection, Worklog, WorklogStatus } from './record.ts'
import { taskKey } from './task-key.ts'
import { type WardVerdict, wardVerdict } from './verdict.ts'

/** How far one worker is. */
export interface Progress {
  readonly worker: string
  /** `unknown` where it does not say. */
  readonly role: string
  readonly status: WorklogStatus
  readonly plan_path: string | null
  readonly tasks_completed: number
  readonly tasks_total: number
  readonly subtasks_completed: number
  readonly subtasks_total: number
  /** The keys of its tasks, and of those that it completed. */
  readonly tasks: readonly string[]
  readonly completed: readonly string[]
  /** How many results of wards say that they failed, and how many of completed tasks that they passed. */
  readonly wards_failed: number
  readonly wards_passed: number
  /** Of the latter, how many punchlist ran itself. The others are what their worker claims. */
  readonly wards_verified: number
  /** The last attempts at tasks of which something is left to tell. What is in order is only counted: there is much of it. */
  readonly left: readonly TaskSection[]
  /** Of all attempts: what was decided in one that failed may hold all the same. */
  readonly decisions: readonly Decision[]
}

interface Decision {
  readonly text: string
  /** null for one that stands outside of every task. */
  readonly task: number | null
  /** When its section was completed, else begun, as it is written there. */
  readonly at: string | null
}

/** `verified`: the numbers of the tasks that were completed when wards had passed that punchlist ran. */
export function progressOf(
  { worker, role, status, plan_path }: Pick<Worklog, 'worker' | 'role' | 'status' | 'plan_path'>,
  { sections, decisions: loose }: Account,
  verified: ReadonlySet<number> = NONE,
): Progress {
  const completed: string[] = []
  const left: TaskSection[] = []
  const counts = { subtasks_completed: 0, subtasks_total: 0, wards_failed: 0, wards_passed: 0, wards_verified: 0 }
  const tasks = lastAttempts(sections)
  for (const task of tasks) {
    const verdict = task.ward === null ? 'unknown' : wardVerdict(task.ward)
    let done = 0
    for (const subtask of task.subtasks) if (subtask.done) done++
    counts.subtasks_completed += done
    counts.subtasks_total += task.subtasks.length
    if (verdict === 'failed') counts.wards_failed++
    if (isCompleted(task)) {
      completed.push(taskKey(task))
      if (verdict === 'passed') {
        counts.wards_passed++
        if (verified.has(task.number)) counts.wards_verified++
      }
    }
    if (!isCompleted(task) || verdict === 'failed' || done < task.subtasks.length) left.push(task)
  }
  const decided: Decision[] = []
  for (const { number: task, completed: ended, claimed, decisions } of sections) {
    for (const text of decisions) decided.push({ text, task, at: ended ?? claimed })
  }
  for (const text of loose) decided.push({ text, task: null, at: null })
  return {
    worker,
    role: role ?? 'unknown',
    status,
    plan_path,
    tasks_completed: completed.length,
    tasks_total: tasks.length,
    ...counts,
    tasks: tasks.map(taskKey),
    completed,
    left,
    decisions: decided,
  }
}

const NONE: ReadonlySet<number> = new Set()

/** How far the workers of a session are, together. */
export interface Overview {
  readonly workers: readonly Progress[]
  /** Files that could not be read: their workers are missing. */
  readonly unread: readonly Unreadable[]
  /** Every plan that a worker names. */
  readonly plans: readonly string[]
  readonly total_tasks: number
  readonly completed_tasks: number
  readonly total_subtasks: number
  readonly completed_subtasks: number
  /** A task that several workers had counts once here. */
  readonly unique_tasks: number
  readonly unique_completed: number
  readonly wards: SessionVerdict
}

/** `claimed`: that wards passed is what workers wrote; punchlist did not run them. */
export type SessionVerdict = WardVerdict | 'claimed'

/** `wards` where they were just run: what was seen counts more than what is written. */
export function overviewOf(
  progress: readonly Progress[],
  unread: readonly Unreadable[],
  wards?: WardVerdict,
): Overview {
  const workers = progress.toSorted((one, other) => (one.worker < other.worker ? -1 : 1))
  const sum = (count: (one: Progress) => number) => workers.reduce((total, one) => total + count(one), 0)
  const completed_tasks = sum(one => one.tasks_completed)
  return {
    workers,
    unread,
    plans: [...new Set(workers.flatMap(({ plan_path }) => plan_path || []))],
    total_tasks: sum(one => one.tasks_total),
    completed_tasks,
    total_subtasks: sum(one => one.subtasks_total),
    completed_subtasks: sum(one => one.subtasks_completed),
    unique_tasks: new Set(workers.flatMap(one => one.tasks)).size,
    unique_completed: new Set(workers.flatMap(one => one.completed)).size,
    wards:
      wards ??
      verdictOn(
        sum(one => one.wards_failed),
        sum(one => one.wards_passed),
        sum(one => one.wards_verified),
        completed_tasks,
      ),
  }
}

export function isCompleted({ status }: TaskSection): boolean {
  return status === 'completed'
}

/** Of each task the last attempt, in the order of the file. */
export function lastAttempts(sections: readonly TaskSection[]): TaskSection[] {
  const last = new Map(sections.map((section, place) => [section.number, place]))
  return sections.filter(({ number }, place) => last.get(number) === place)
}

function verdictOn(failed: number, passed: number, verified: number, completed: number): SessionVerdict {
  if (failed > 0) return 'failed'
  if (completed === 0 || passed < completed) return 'unknown'
  return verified === completed ? 'passed' : 'claimed'
}
