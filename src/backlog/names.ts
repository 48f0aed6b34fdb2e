import { isDevice, isSession, isWorkflow } from '../core/session.ts'
import type { Todo } from './record.ts'

/** The name of a folder: ASCII, so that no two that look alike are different ones. */
const SOURCE = /^[a-z0-9][a-z0-9-]{0,49}$/

export function isSource(name: string): boolean {
  return SOURCE.test(name) && !isDevice(name)
}

/** Whether this can name a todo: a number, a source and a number, or all of its names. */
export function isTodoName(name: string): boolean {
  const [number = '', source, session, workflow, ...more] = name.trim().split('/').toReversed()
  if (!/^\d{1,15}$/.test(number) || more.length > 0) return false
  if (source !== undefined && !isSource(source)) return false
  return session === undefined || (isSession(session) && workflow !== undefined && isWorkflow(workflow))
}

/** The number as it is written: three digits at least. */
export function digits(number: number): string {
  return String(number).padStart(3, '0')
}

/** A todo's name among those of its session. */
export function qualified({ source, issue_id }: Pick<Todo, 'source' | 'issue_id'>): string {
  return `${source}/${issue_id}`
}

/** A todo's id in the store: its name among those of all sessions. */
export function storeId(list: Readonly<Record<string, unknown>>, issueId: string): string {
  return `${String(list['workflow'])}/${String(list['session'])}/${String(list['source'])}/${issueId}`
}

/** The name among those of its session of a todo with this id. */
export function shortened(id: string): string {
  return id.slice(id.lastIndexOf('/', id.lastIndexOf('/') - 1) + 1)
}

export function fileName(issueId: string, status: string, priority: string, title: string): string {
  return `${issueId}-${status}-${priority}-${slug(title)}.md`
}

/** A title as part of a file's name; `todo` where nothing in it can be written in Latin letters and digits. */
function slug(title: string): string {
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 40)
    .replace(/-$/, '')
  return plain || 'todo'
}

/** At most one todo of a session has a finding; null where a todo is none, or is not fully named as one. */
export function identityOf(
  list: Readonly<Record<string, unknown>>,
  finding: string | null | undefined,
  ref: string | null | undefined,
): string | null {
  if (!finding || !ref) return null
  return JSON.stringify([list['workflow'], list['session'], finding, ref])
}
