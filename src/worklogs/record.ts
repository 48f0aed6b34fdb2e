import type { Item } from '../core/kind.ts'
import type { Lifecycle } from '../core/lifecycle.ts'

/** `unknown` is what a file says whose status is a word that we do not know: its worker is not left out for that. */
export const WORKLOG_STATUSES = ['active', 'completed', 'interrupted', 'unknown'] as const
export type WorklogStatus = (typeof WORKLOG_STATUSES)[number]

export const ROLES = ['implementation', 'test'] as const
export type Role = (typeof ROLES)[number]

/** What one worker did and decided in a session: a markdown file, or a row and its text. The sections of its tasks are the text `body`. */
export interface Worklog extends Item {
  readonly status: WorklogStatus
  readonly workflow: string
  readonly session: string
  readonly worker: string
  /** The name of its file. */
  readonly file: string
  /** One of `ROLES` where we wrote it; whatever a worker wrote by hand. */
  readonly role: string | null
  readonly plan_path: string | null
  /** What else stands in the frontmatter of its file, for a file that somebody else wrote. */
  readonly extra: Extra | null
}

/** Whole lines of the frontmatter that are none of ours, comments and unknown keys. */
export interface Extra {
  readonly lines: readonly string[]
}

/** The keys of the frontmatter, in the order they are written. */
export const FRONTMATTER = ['worker', 'role', 'status', 'plan_path'] as const
export type FrontmatterKey = (typeof FRONTMATTER)[number]

export const worklogLifecycle: Lifecycle = {
  initial: ['active'],
  statuses: {
    active: { phase: 'active', to: ['completed', 'interrupted'] },
    // Whoever takes on another task works again.
    completed: { phase: 'done', to: ['active'] },
    interrupted: { phase: 'held', to: ['active', 'completed'] },
    unknown: { phase: 'held', to: ['active', 'completed', 'interrupted'] },
  },
}

export const TASK_STATUSES = ['in_progress', 'completed', 'failed', 'unknown'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

/** How a worker's account of one task goes on. A task that failed is tried again in a section of its own. */
export const taskLifecycle: Lifecycle = {
  initial: ['in_progress'],
  statuses: {
    in_progress: { phase: 'active', to: ['completed', 'failed'] },
    completed: { phase: 'done', to: [], needs: ['completed'] },
    failed: { phase: 'dropped', to: [], needs: ['failure'] },
    unknown: { phase: 'held', to: ['completed', 'failed'] },
  },
}

interface Subtask {
  readonly text: string
  readonly done: boolean
}

/** One section of a worklog: a worker's account of one attempt at one task. */
export interface TaskSection {
  readonly number: number
  readonly subject: string
  readonly status: TaskStatus
  /** As they are written, ISO times where we wrote them. */
  readonly claimed: string | null
  readonly completed: string | null
  readonly subtasks: readonly Subtask[]
  readonly files: readonly string[]
  readonly ward: string | null
  readonly decisions: readonly string[]
  readonly failure: string | null
}

/** What a worklog's text tells. */
export interface Account {
  /** Every section in the order of the file; several of one number are attempts, of which the last counts. */
  readonly sections: readonly TaskSection[]
  /** Decisions that stand outside of every section. */
  readonly decisions: readonly string[]
}
