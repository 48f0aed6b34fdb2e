import type { Verification } from '../core/check.ts'
import type { CompletionMode } from '../core/completion.ts'
import type { Item, Kind } from '../core/kind.ts'

export type PlanStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled'

/** One thing a turn must get done. */
export interface PlanItem extends Item {
  readonly status: PlanStatus
  readonly conversationId: string
  readonly turnId: string
  readonly context: string
  readonly completionCriteria: string
  /** The specialist it is meant for; null when whoever holds the plan does it. */
  readonly agentType: string | null
  /** Its place in the plan, counted from 0. */
  readonly priority: number
  readonly outcome: string | null
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** The mode its completion was judged by. */
  readonly completionMode: CompletionMode | null
  /** The command that must exit 0 for it to count as done, word by word. */
  readonly checkCommand: readonly string[] | null
  /** The files, commands and artifacts its outcome names. */
  readonly evidence: readonly string[] | null
  /** What the check said when it was last run: kept whether it passed or not. */
  readonly verification: Verification | null
  /** When a check passed; a completion without it stands on the worker's word. */
  readonly verifiedAt: string | null
  /** The item of an earlier turn that this one carries on. */
  readonly carriedFrom: string | null
  /** What it waits for from a person; null while it can be worked on. */
  readonly needs: string | null
  /** The item of the host's own list that it stands for. */
  readonly mirrors: string | null
}

const CHECK_HINT =
  'Whoever runs the agent sets a check: punchlist plan turn --check COMMAND, or punchlist plan add TITLE --check COMMAND.'

export const planItem: Kind<PlanItem> = {
  name: 'plan_item',
  table: 'turn_todos',
  list: ['conversationId', 'turnId'],
  place: 'priority',
  fields: {
    conversationId: 'text',
    turnId: 'text',
    context: 'text',
    completionCriteria: 'text',
    agentType: 'text',
    priority: 'integer',
    outcome: 'text',
    createdAt: 'text',
    startedAt: 'text',
    completedAt: 'text',
    completionMode: 'text',
    checkCommand: 'json',
    evidence: 'json',
    verification: 'json',
    verifiedAt: 'text',
    carriedFrom: 'text',
    needs: 'text',
    mirrors: 'text',
  },
  hints: {
    evidence:
      'Say in the outcome which file, `command` or artifact (link, commit, #number) shows that the criteria are met.',
    checkCommand: CHECK_HINT,
    verifiedAt: CHECK_HINT,
  },
  lifecycle: {
    initial: ['pending'],
    statuses: {
      pending: {
        phase: 'waiting',
        to: ['in_progress', 'completed', 'cancelled'],
        clears: ['startedAt', 'owner', 'leaseUntil'],
      },
      in_progress: {
        phase: 'active',
        to: ['pending', 'completed', 'cancelled'],
        stamps: ['startedAt'],
        clears: ['needs'],
      },
      // What is finished gives up its identity: the same thing may have to be done again later in the turn.
      completed: {
        phase: 'done',
        to: [],
        needs: ['outcome'],
        stamps: ['completedAt'],
        clears: ['identity', 'leaseUntil', 'needs'],
      },
      cancelled: {
        phase: 'dropped',
        to: [],
        needs: ['outcome'],
        stamps: ['completedAt'],
        clears: ['identity', 'leaseUntil', 'needs'],
      },
    },
    whenever: [
      { when: { status: 'completed', completionMode: 'evidence', completionCriteria: true }, needs: ['evidence'] },
      { when: { status: 'completed', completionMode: 'verified' }, needs: ['checkCommand', 'verifiedAt'] },
    ],
  },
}

/** One turn of a conversation: what its plan belongs to, and how its completions are believed. */
export interface Turn extends Item {
  readonly status: 'open' | 'ended'
  readonly conversationId: string
  readonly turnId: string
  /** 1 when it was opened by name from outside; 0 when it began by itself with a plan, or an agent opened it. */
  readonly named: number
  readonly completionMode: CompletionMode
  /** The check for items that have none of their own. */
  readonly checkCommand: readonly string[] | null
  readonly createdAt: string
  /** When the user last spoke in it, as far as that is known; null where only its beginning is. */
  readonly spokenAt: string | null
  readonly endedAt: string | null
}

export const turn: Kind<Turn> = {
  name: 'turn',
  table: 'turns',
  list: ['conversationId'],
  fields: {
    conversationId: 'text',
    turnId: 'text',
    named: 'integer',
    completionMode: 'text',
    checkCommand: 'json',
    createdAt: 'text',
    spokenAt: 'text',
    endedAt: 'text',
  },
  lifecycle: {
    initial: ['open'],
    statuses: {
      open: { phase: 'active', to: ['ended'], needs: ['completionMode'] },
      ended: { phase: 'done', to: [], stamps: ['endedAt'] },
    },
  },
}
