import type { Fields } from '../../core/lifecycle.ts'
import type { Value } from '../../core/yaml/value.ts'
import { whole } from '../../core/yaml/writing.ts'
import type { FrontmatterKey, WorklogStatus } from '../record.ts'

/** What the frontmatter says beside the name of its worker. */
export interface Values {
  readonly role: string | null
  readonly status: WorklogStatus
  readonly plan_path: string | null
}

/** A value as one text. */
export function textOf(value: Value | undefined): string | null {
  if (value === null || value === undefined) return null
  return (typeof value === 'string' ? value : value.join(', ')) || null
}

/** The status that somebody meant; undefined for a word that is none. */
export function statusWord(text: string): WorklogStatus | undefined {
  return (
    STATUSES.get(text) ??
    STATUSES.get(
      text
        .trim()
        .toLowerCase()
        .replace(/[\s-]+/g, '_'),
    )
  )
}

/** A value as it reads when it has been written. */
export function storable(fields: Fields, key: FrontmatterKey): string | null {
  const value = fields[key]
  if (key === 'status') return typeof value === 'string' ? (statusWord(value) ?? 'unknown') : 'unknown'
  return typeof value === 'string' && value !== '' ? whole(value) : null
}

const STATUSES = new Map<string, WorklogStatus>([
  ...['active', 'in_progress', 'running', 'working', 'started'].map(word => [word, 'active'] as const),
  ...['completed', 'complete', 'done', 'finished', 'closed'].map(word => [word, 'completed'] as const),
  ...['interrupted', 'stopped', 'aborted', 'killed', 'cancelled', 'canceled'].map(
    word => [word, 'interrupted'] as const,
  ),
  ['unknown', 'unknown'],
])
