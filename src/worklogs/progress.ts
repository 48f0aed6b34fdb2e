// PLACEHOLDER by the lead until the real one is here: replace all of it.
import type { Unreadable } from '../core/store.ts'
import type { Account, TaskSection, Worklog } from './record.ts'

export interface Progress {
  readonly worker: string
  readonly role: string
  readonly status: string
  readonly plan_path: string | null
  readonly tasks_completed: number
  readonly tasks_total: number
  readonly subtasks_completed: number
  readonly subtasks_total: number
  readonly tasks: readonly TaskSection[]
  readonly decisions: readonly { readonly text: string; readonly task: number | null; readonly at: string | null }[]
}

export interface Overview {
  readonly workers: readonly Progress[]
  readonly plans: readonly string[]
  readonly total_tasks: number
  readonly completed_tasks: number
  readonly total_subtasks: number
  readonly completed_subtasks: number
  readonly unique_tasks: number
  readonly unique_completed: number
  readonly wards: 'passed' | 'failed' | 'unknown'
  readonly unread: readonly Unreadable[]
}

export function progressOf(_: Pick<Worklog, 'worker' | 'role' | 'status' | 'plan_path'>, __: Account): Progress {
  throw new Error('not yet')
}
export function overviewOf(_: readonly Progress[], __: readonly Unreadable[], ___?: Overview['wards']): Overview {
  throw new Error('not yet')
}
