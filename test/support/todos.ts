import { todo } from '../../src/backlog/kind.ts'
import { identityOf } from '../../src/backlog/names.ts'
import type { Draft, Texts } from '../../src/core/kind.ts'
import { tidy } from '../../src/core/markdown.ts'
import type { Kept } from '../../src/core/store.ts'

const nothing = {
  source_ref: null,
  finding_id: null,
  finding_severity: null,
  tags: [],
  dependencies: [],
  files: [],
  assigned_to: null,
  work_session: null,
  resolution: null,
  resolution_reason: null,
  resolved_by: null,
  resolved_at: null,
  claimed_at: null,
  completed_by: null,
  completed_at: null,
  mend_fixer_claim: null,
  duplicate_of: null,
  related_todos: [],
  workflow_chain: [],
  execution_order: null,
  wave: null,
  extra: null,
}

export interface TodoDraft {
  readonly status?: string
  readonly body?: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/** A todo as it would be added, in the list work/s1/review unless told otherwise; a finding when it is named as one. */
export function todoDraft(title: string, { status = 'pending', body, fields: more }: TodoDraft = {}): Draft {
  const fields: Record<string, unknown> = {
    workflow: 'work',
    session: 's1',
    source: 'review',
    schema_version: 2,
    priority: 'p2',
    created: '2026-01-02',
    updated: '2026-01-02',
    ...nothing,
    ...more,
  }
  const identity = identityOf(fields, fields['finding_id'] as string | null, fields['source_ref'] as string | null)
  const texts: Texts = { body: tidy(body ?? '## Problem Statement\n\nAs it was found.') }
  return { title, status, identity: identity ?? undefined, fields, texts }
}

/** The same as another store would have kept it, with this number. */
export function keptTodo(
  title: string,
  number: number,
  more: TodoDraft & Partial<Pick<Kept, 'token' | 'history'>> = {},
): Kept {
  const draft = todoDraft(title, more)
  const { id, fields } = todo.numbers!.give(draft, number)
  const { status, identity = null, texts = {} } = draft
  const first = { at: '2026-01-02T03:04:05.000Z', from: null, to: status, by: 'finder', why: null }
  return {
    id,
    token: more.token ?? 0,
    fields: { ...draft.fields, ...fields, title, status, identity, owner: draft.fields['assigned_to'] ?? null },
    texts,
    history: more.history ?? [first],
  }
}
