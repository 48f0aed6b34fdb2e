import { randomUUID } from 'node:crypto'
import type { Note } from '../../src/core/event.ts'
import type { Named } from '../../src/core/keeping.ts'
import type { Draft } from '../../src/core/kind.ts'

/** A plan item as it would be added, in turn `t1` of conversation `c1` unless told otherwise. */
export function draft(title: string, more: Partial<Omit<Draft, 'title'>> = {}): Named {
  return {
    status: 'pending',
    ...more,
    id: more.id ?? randomUUID(),
    title,
    fields: {
      conversationId: 'c1',
      turnId: 't1',
      context: '',
      completionCriteria: '',
      createdAt: '2026-01-02T03:04:05.006Z',
      ...more.fields,
    },
  }
}

export const note: Note = { by: 'tester', at: '2026-01-02T03:04:05.006Z' }
