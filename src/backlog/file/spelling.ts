import { PRIORITIES, type Priority, TODO_STATUSES, type TodoStatus } from '../record.ts'

/** The status that somebody meant; undefined for a word that is none. */
export function statusWord(text: string): TodoStatus | undefined {
  const known = STATUSES.get(text)
  if (known) return known
  const word = text
    .replace(/[`*'’]/g, '')
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
  return STATUSES.get(word)
}

/** The priority that somebody meant, most important first. */
export function priorityWord(text: string): Priority | undefined {
  return PRIORITY_WORDS.get(text.trim().toLowerCase())
}

const STATUSES = new Map<string, TodoStatus>([
  ...TODO_STATUSES.map(status => [status, status] as const),
  ...['todo', 'to_do', 'open', 'new'].map(word => [word, 'pending'] as const),
  ...['doing', 'inprogress', 'wip', 'started'].map(word => [word, 'in_progress'] as const),
  ...['done', 'completed', 'closed', 'fixed', 'resolved'].map(word => [word, 'complete'] as const),
  ...['wontfix', 'cancelled', 'canceled'].map(word => [word, 'wont_fix'] as const),
])

const PRIORITY_WORDS = new Map<string, Priority>([
  ...PRIORITIES.map(priority => [priority, priority] as const),
  ['1', 'p1'],
  ['2', 'p2'],
  ['3', 'p3'],
  ['critical', 'p1'],
  ['high', 'p1'],
  ['medium', 'p2'],
  ['low', 'p3'],
])
