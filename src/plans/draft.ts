import { newId } from '../core/id.ts'
import type { Draft } from '../core/kind.ts'
import { itemsOf } from './current-turn.ts'
import type { Turn } from './record.ts'

export interface NewItem {
  readonly title: string
  readonly context?: string | undefined
  readonly completionCriteria?: string | undefined
  readonly agentType?: string | undefined
  /** Its place, counted from 1; at the end when absent. */
  readonly order?: number | undefined
  readonly checkCommand?: readonly string[] | undefined
  /** The item of the host's own list that it stands for. */
  readonly mirrors?: string | undefined
}

/** An item as it will be added to a turn's plan. */
export function draftOf(of: Turn, item: NewItem, at: string, identity: string): Draft {
  return {
    id: newId(),
    title: item.title,
    status: 'pending',
    identity,
    at: item.order === undefined ? undefined : item.order - 1,
    fields: {
      ...itemsOf(of),
      context: item.context ?? '',
      completionCriteria: item.completionCriteria ?? '',
      agentType: item.agentType ?? null,
      checkCommand: item.checkCommand ?? null,
      createdAt: at,
      mirrors: item.mirrors ?? null,
    },
  }
}
