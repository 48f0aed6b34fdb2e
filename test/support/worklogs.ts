import type { Draft } from '../../src/core/kind.ts'
import type { Kept } from '../../src/core/store.ts'
import { worklog } from '../../src/worklogs/kind.ts'
import { fileOf } from '../../src/worklogs/names.ts'

export interface WorklogDraft {
  readonly status?: string
  readonly body?: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/** The folder of the worker files that tests write by hand. */
export const WORKERS = 'tmp/work/s1/todos'

/** A worklog as it would be opened, in session s1 of work unless told otherwise. */
export function worklogDraft(worker: string, { status = 'active', body = '', fields: more }: WorklogDraft = {}): Draft {
  const fields = {
    workflow: 'work',
    session: 's1',
    worker,
    file: fileOf(worker),
    role: 'implementation',
    plan_path: 'plans/p.md',
    extra: null,
    ...more,
  }
  const id = worklog.idOf!(fields)
  return { id, identity: id, title: worker, status, fields, texts: { body } }
}

/** The same as another store would have kept it. */
export function keptWorklog(worker: string, more: WorklogDraft & Partial<Pick<Kept, 'token' | 'history'>> = {}): Kept {
  const { id, title, status, identity = null, fields, texts = {} } = worklogDraft(worker, more)
  const first = { at: '2026-01-02T03:04:05.000Z', from: null, to: status, by: worker, why: null }
  return {
    id: id!,
    token: more.token ?? 0,
    fields: { ...fields, title, status, identity, owner: null },
    texts,
    history: more.history ?? [first],
  }
}

/** A worker's file as it stands on disk when somebody writes it by hand. */
export function handWritten(worker: string, body = '', status = 'active'): string {
  return `---\nworker: ${worker}\nrole: test\nstatus: ${status}\nplan_path: plans/p.md\n---\n${body === '' ? '' : `\n${body}\n`}`
}
