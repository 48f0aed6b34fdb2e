import type { Unreadable } from '../core/store.ts'
import type { Account, TaskSection, Worklog, WorklogStatus } from './record.ts'
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
  /** Of each task the last attempt, in the order of the file. */
  readonly tasks: readonly TaskSection[]
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

export function progressOf(
  { worker, role, status, plan_path }: Pick<Worklog, 'worker' | 'role' | 'status' | 'plan_path'>,
  { sections, decisions: loose }: Account,
): Progress {
  const tasks = lastAttempts(sections)
  const subtasks = tasks.flatMap(task => task.subtasks)
  const decided = sections.flatMap(({ number, completed, claimed, decisions }) =>
    decisions.map(text => ({ text, task: number, at: completed ?? claimed })),
  )
  return {
    worker,
    role: role ?? 'unknown',
    status,
    plan_path,
    tasks_completed: tasks.filter(isCompleted).length,
    tasks_total: tasks.length,
    subtasks_completed: subtasks.filter(({ done }) => done).length,
    subtasks_total: subtasks.length,
    tasks,
    decisions: [...decided, ...loose.map(text => ({ text, task: null, at: null }))],
  }
}

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
  readonly wards: WardVerdict
}

/** `wards` where they were just run: what was seen counts more than what is written. */
export function overviewOf(
  progress: readonly Progress[],
  unread: readonly Unreadable[],
  wards?: WardVerdict,
): Overview {
  const workers = progress.toSorted((one, other) => (one.worker < other.worker ? -1 : 1))
  const tasks = workers.flatMap(one => one.tasks)
  const sum = (count: (one: Progress) => number) => workers.reduce((total, one) => total + count(one), 0)
  return {
    workers,
    unread,
    plans: [...new Set(workers.flatMap(({ plan_path }) => plan_path || []))],
    total_tasks: tasks.length,
    completed_tasks: sum(one => one.tasks_completed),
    total_subtasks: sum(one => one.subtasks_total),
    completed_subtasks: sum(one => one.subtasks_completed),
    unique_tasks: new Set(tasks.map(({ number }) => number)).size,
    unique_completed: new Set(tasks.filter(isCompleted).map(({ number }) => number)).size,
    wards: wards ?? verdictOn(tasks),
  }
}

export function isCompleted({ status }: TaskSection): boolean {
  return status === 'completed'
}

function lastAttempts(sections: readonly TaskSection[]): TaskSection[] {
  const last = new Map(sections.map((section, place) => [section.number, place]))
  return sections.filter(({ number }, place) => last.get(number) === place)
}

function verdictOn(tasks: readonly TaskSection[]): WardVerdict {
  const verdicts = tasks.map(task => (task.ward === null ? 'unknown' : wardVerdict(task.ward)))
  if (verdicts.includes('failed')) return 'failed'
  const completed = verdicts.filter((_, place) => isCompleted(tasks[place]!))
  return completed.length > 0 && completed.every(verdict => verdict === 'passed') ? 'passed' : 'unknown'
}
