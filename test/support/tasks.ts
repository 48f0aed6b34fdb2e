import type { Draft } from '../../src/core/kind.ts'
import type { Kept } from '../../src/core/store.ts'
import { DEFINITION } from '../../src/queue/format.ts'
import { numbersIn, parentOf } from '../../src/queue/names.ts'
import { rankOf, type Task } from '../../src/queue/record.ts'
import { type Definition, renderTask } from '../../src/queue/task-file.ts'

export interface TaskDraft {
  readonly status?: string
  readonly identity?: string
  readonly fields?: Partial<Task>
}

/** A task as it would be added: to be executed by anyone, in no hurry, unless told otherwise. */
export function taskDraft(title: string, { status = 'to_execute', identity, fields: more }: TaskDraft = {}): Draft {
  const fields = fieldsOf(title, more)
  const compose = ({
    id,
    fields: own,
  }: {
    readonly id: string
    readonly fields: Readonly<Record<string, unknown>>
  }) => ({
    [DEFINITION]: definition(id, title, own),
  })
  return { title, status, identity, fields, compose }
}

/** The same as another store would have kept it, with this id. */
export function keptTask(id: string, { status = 'to_execute', fields: more }: TaskDraft = {}): Kept {
  const own = { ...fieldsOf(id, more), parent: parentOf(id), ...numbersIn(id) }
  const fields = { ...own, title: id, status, owner: null, leaseUntil: null, identity: null }
  const history = [{ at: own.posted, from: null, to: status, by: 'elsewhere', why: null }]
  return { id, token: 0, fields, texts: { [DEFINITION]: definition(id, id, own) }, history }
}

function fieldsOf(title: string, more: Partial<Task> = {}) {
  const { priority = 'NORMAL' } = more
  return {
    slug:
      title
        .toLowerCase()
        .replace(/[^a-z]+/g, '_')
        .replace(/^_|_$/g, '') || 'task',
    type: 'Standard' as const,
    priority,
    rank: rankOf(priority),
    posted: '2026-01-02T03:04:05.000Z',
    parent: '',
    targetWorker: '',
    session: null,
    discrete: null,
    dependsOn: [],
    waived: {},
    blockers: 0,
    children: 0,
    startedAt: null,
    finishedAt: null,
    checkpoints: 0,
    awaiting: 0,
    ...more,
  }
}

function definition(id: string, title: string, own: Partial<Task>): string {
  const { type = 'Standard', priority = 'NORMAL', posted = '', targetWorker = '', session = null } = own
  const told = {
    type,
    priority,
    posted,
    targetWorker,
    session,
    dependsOn: own.dependsOn ?? [],
    writes: own.writes ?? [],
    origin: own.origin ?? null,
    discrete: own.discrete ?? null,
  }
  const said = { description: `What to do about ${title}.`, expectedResponse: 'It is done.' }
  const rest = { entryCriteria: null, exitCriteria: null, subtasks: null, notes: null }
  return renderTask({ id, title, ...told, ...said, ...rest } satisfies Definition)
}
