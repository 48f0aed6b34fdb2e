import type { FieldType, Item } from '../core/kind.ts'
import type { Lifecycle } from '../core/lifecycle.ts'

export const TASK_STATES = ['staged', 'to_execute', 'in_progress', 'completed', 'error', 'cancelled'] as const
export type TaskState = (typeof TASK_STATES)[number]

export const TASK_TYPES = ['Standard', 'Research', 'Installation', 'Testing', 'Emergency', 'Maintenance'] as const
export type TaskType = (typeof TASK_TYPES)[number]

/** The most pressing first. */
export const PRIORITIES = ['CRITICAL', 'URGENT', 'HIGH', 'NORMAL', 'LOW'] as const
export type Priority = (typeof PRIORITIES)[number]

/** A task for a worker: a directory, or a row. */
export interface Task extends Item {
  readonly status: TaskState
  readonly slug: string
  /** One of `TASK_TYPES`, or the word that someone wrote into a task file. */
  readonly type: string
  readonly priority: Priority
  /** The place of its priority among them all: what is claimed first is found by it. */
  readonly rank: number
  /** ISO time, UTC. */
  readonly posted: string
  /** The first number in its id, which all parts of one task share. */
  readonly family: number
  /** The last number in its id, its own. */
  readonly number: number
  /** The id of the task it is a part of; empty for none. */
  readonly parent: string
  /** The only worker it is meant for; empty for anyone. */
  readonly targetWorker: string
  readonly session: string | null
  readonly discrete: string | null
  readonly dependsOn: readonly string[]
  /** The paths it will write, if it says: two tasks that share one are not worked on at once. */
  readonly writes: readonly string[] | null
  /** What it was made of: the id of a todo; null where it was added as it is. */
  readonly origin: string | null
  /** By id: why it goes on without a task it waited for. */
  readonly waived: Readonly<Record<string, string>>
  /** How many tasks it still waits for, its own parts among them. */
  readonly blockers: number
  /** How many parts it has. */
  readonly children: number
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly checkpoints: number
  /** 1 while its last checkpoint asks for something and has no reply. */
  readonly awaiting: number
  /** When wards that we ran passed; a completion without it stands on the worker's word. */
  readonly verifiedAt: string | null
}

export const TASK_FIELDS = {
  slug: 'text',
  type: 'text',
  priority: 'text',
  rank: 'integer',
  posted: 'text',
  family: 'integer',
  number: 'integer',
  parent: 'text',
  targetWorker: 'text',
  session: 'text',
  discrete: 'text',
  dependsOn: 'json',
  writes: 'json',
  origin: 'text',
  waived: 'json',
  blockers: 'integer',
  children: 'integer',
  startedAt: 'text',
  finishedAt: 'text',
  checkpoints: 'integer',
  awaiting: 'integer',
  verifiedAt: 'text',
} as const satisfies Readonly<Record<string, FieldType>>

export const taskLifecycle: Lifecycle = {
  initial: ['staged', 'to_execute'],
  statuses: {
    staged: { phase: 'waiting', to: ['to_execute', 'cancelled'] },
    to_execute: {
      phase: 'waiting',
      to: ['in_progress', 'cancelled'],
      clears: ['owner', 'leaseUntil', 'startedAt', 'finishedAt'],
    },
    in_progress: { phase: 'active', to: ['completed', 'error', 'to_execute', 'cancelled'], stamps: ['startedAt'] },
    completed: { phase: 'done', to: [], stamps: ['finishedAt'], clears: ['leaseUntil'] },
    error: { phase: 'held', to: ['to_execute', 'cancelled'], stamps: ['finishedAt'], clears: ['leaseUntil'] },
    cancelled: { phase: 'dropped', to: [], stamps: ['finishedAt'], clears: ['leaseUntil'] },
  },
  whenever: [
    // Nobody begins what waits for something, and nothing is done while a part of it is not.
    { when: { status: 'in_progress' }, from: ['to_execute'], allows: { blockers: ['0'] } },
    { when: { status: 'completed' }, from: ['in_progress'], allows: { blockers: ['0'] } },
  ],
}

/** The place of a priority, 0 for the most pressing. */
export function rankOf(priority: string): number {
  const rank = (PRIORITIES as readonly string[]).indexOf(priority)
  return rank === -1 ? PRIORITIES.indexOf('NORMAL') : rank
}
