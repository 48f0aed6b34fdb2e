import type { FieldType, Item } from '../core/kind.ts'
import type { Lifecycle } from '../core/lifecycle.ts'

export const TODO_STATUSES = [
  'pending',
  'ready',
  'in_progress',
  'complete',
  'blocked',
  'wont_fix',
  'interrupted',
] as const
export type TodoStatus = (typeof TODO_STATUSES)[number]

export const PRIORITIES = ['p1', 'p2', 'p3'] as const
export type Priority = (typeof PRIORITIES)[number]

/** Why something will not be done. */
export const DISMISSALS = ['false_positive', 'duplicate', 'wont_fix', 'out_of_scope', 'superseded'] as const
export const RESOLUTIONS = ['fixed', ...DISMISSALS] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Said of a todo whose session ended while someone worked on it. */
export const SESSION_ENDED = 'Session ended before completion'

/** Something found, or to be done: a markdown file, or a row. */
export interface Todo extends Item {
  readonly status: TodoStatus
  readonly workflow: string
  readonly session: string
  readonly source: string
  /** The name of its file, given when it was made and kept for good. */
  readonly file: string
  readonly schema_version: number
  readonly priority: Priority
  readonly issue_id: string
  readonly source_ref: string | null
  readonly finding_id: string | null
  readonly finding_severity: string | null
  readonly tags: readonly string[]
  /** The todos that must be complete before this one can be: `source/number`, in the same session. */
  readonly dependencies: readonly string[]
  readonly files: readonly string[]
  readonly assigned_to: string | null
  /** Older files name their session here; the folder does that now. */
  readonly work_session: string | null
  /** Days. */
  readonly created: string | null
  readonly updated: string | null
  readonly resolution: Resolution | null
  readonly resolution_reason: string | null
  readonly resolved_by: string | null
  readonly resolved_at: string | null
  readonly claimed_at: string | null
  readonly completed_by: string | null
  readonly completed_at: string | null
  readonly mend_fixer_claim: string | null
  readonly duplicate_of: string | null
  readonly related_todos: readonly string[]
  readonly workflow_chain: readonly string[]
  readonly execution_order: number | null
  readonly wave: number | null
  /** What else stands in its file, for a file that somebody else wrote. */
  readonly extra: Extra | null
}

/** What a file holds that is none of ours: kept when a todo goes to another engine and back. */
export interface Extra {
  /** Whole lines of the frontmatter, comments and unknown keys. */
  readonly lines?: readonly string[]
  /** What comes after the history. */
  readonly tail?: string
}

/** The keys of the frontmatter, in the order they are written. */
export const FRONTMATTER = {
  schema_version: 'integer',
  status: 'text',
  priority: 'text',
  issue_id: 'text',
  source: 'text',
  source_ref: 'text',
  finding_id: 'text',
  finding_severity: 'text',
  tags: 'json',
  dependencies: 'json',
  files: 'json',
  assigned_to: 'text',
  work_session: 'text',
  created: 'text',
  updated: 'text',
  resolution: 'text',
  resolution_reason: 'text',
  resolved_by: 'text',
  resolved_at: 'text',
  claimed_at: 'text',
  completed_by: 'text',
  completed_at: 'text',
  mend_fixer_claim: 'text',
  duplicate_of: 'text',
  related_todos: 'json',
  workflow_chain: 'json',
  execution_order: 'integer',
  wave: 'integer',
} as const satisfies Readonly<Record<string, FieldType>>

export type FrontmatterKey = keyof typeof FRONTMATTER

export const todoLifecycle: Lifecycle = {
  // The statuses that a file's name may carry.
  initial: ['pending', 'ready', 'complete'],
  dated: 'updated',
  statuses: {
    pending: { phase: 'waiting', to: ['ready', 'complete', 'wont_fix'] },
    ready: {
      phase: 'waiting',
      to: ['in_progress', 'wont_fix'],
      clears: ['assigned_to', 'claimed_at', 'resolution_reason', 'owner', 'leaseUntil'],
    },
    in_progress: {
      phase: 'active',
      to: ['complete', 'blocked', 'interrupted', 'wont_fix'],
      needs: ['assigned_to', 'claimed_at'],
    },
    // Its owner keeps it: whoever found out what it waits for goes on when that is there.
    blocked: { phase: 'held', to: ['in_progress', 'wont_fix'], needs: ['dependencies'], clears: ['leaseUntil'] },
    interrupted: {
      phase: 'held',
      to: ['ready', 'wont_fix'],
      needs: ['resolution_reason'],
      clears: ['leaseUntil'],
      revokes: true,
    },
    complete: {
      phase: 'done',
      to: [],
      needs: ['resolution', 'resolution_reason', 'completed_by'],
      stamps: ['resolved_at', 'completed_at'],
      clears: ['leaseUntil'],
    },
    wont_fix: {
      phase: 'dropped',
      to: [],
      needs: ['resolution', 'resolution_reason'],
      stamps: ['resolved_at'],
      clears: ['leaseUntil'],
    },
  },
  whenever: [
    { when: { resolution: true }, needs: ['resolution_reason', 'resolved_by', 'resolved_at'] },
    { when: { resolution: 'duplicate' }, needs: ['duplicate_of'] },
    { when: { status: 'complete' }, allows: { resolution: RESOLUTIONS } },
    // What was worked on and is complete has been fixed; what turned out to need no work is told so at triage.
    { when: { status: 'complete' }, from: ['in_progress'], allows: { resolution: ['fixed'] } },
    { when: { status: 'wont_fix' }, allows: { resolution: DISMISSALS } },
  ],
}
