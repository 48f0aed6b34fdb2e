import type { HostEvent, HostTask, Told } from './event.ts'
import { list, record, text } from './reading.ts'

export type Payload = Readonly<Record<string, unknown>>

/** What each event of a host means, by its name. */
export type Meanings = Readonly<Record<string, (payload: Payload) => HostEvent | undefined>>

/**
 * What a host told, where it names event and session as Claude Code does; most
 * do. Of what happens within a subagent only its end is heard: a prompt there
 * is not the user's, and a list there is not the session's.
 */
export function heard(payload: Payload, meanings: Meanings): Told | undefined {
  const name = text(payload['hook_event_name'])
  const session = sessionFrom(payload['session_id'])
  if (session === undefined || name === undefined || !Object.hasOwn(meanings, name)) return undefined
  const event = meanings[name]!(payload)
  const within = text(payload['agent_id']) !== undefined
  const isEnd = event?.type === 'stopping' && event.subagent !== undefined
  if (!event || (within && !isEnd)) return undefined
  return { session, cwd: folderFrom(payload['cwd']), event }
}

/** A session's id names a conversation, so it must be one line that can. */
function sessionFrom(value: unknown): string | undefined {
  const id = text(value)
  return id !== undefined && id.length <= 200 && id.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(id) ? id : undefined
}

function folderFrom(value: unknown): string | undefined {
  const folder = text(value)
  return folder !== undefined && folder.length <= 4096 && !folder.includes('\0') ? folder : undefined
}

/** How a session begins, by the word that hosts have for it. */
export function started({ source }: Payload): HostEvent {
  return { type: 'started', how: (typeof source === 'string' && HOW.get(source)) || 'new' }
}

const HOW: ReadonlyMap<string, 'resumed' | 'cut'> = new Map([
  ['resume', 'resumed'],
  ['fork', 'resumed'],
  ['compact', 'cut'],
])

export const ended = (): HostEvent => ({ type: 'ended' })
export const cutting = (): HostEvent => ({ type: 'cutting' })

/** How many of a host's background tasks run, or wait to. */
export function unfinished(tasks: unknown): number {
  return list(tasks).filter(task => !OVER.has(String(record(task)['status']))).length
}

const OVER = new Set(['completed', 'failed', 'killed', 'cancelled', 'stopped'])

/** The whole list of a host; undefined where it is none, or where an entry says nothing. */
export function wholeList(entries: unknown, words: Words): Extract<HostEvent, { type: 'listed' }> | undefined {
  if (!Array.isArray(entries) || entries.length > MOST) return undefined
  const tasks = list(entries).map(entry => taskFrom(record(entry), words))
  return tasks.every(task => task !== undefined) ? { type: 'listed', whole: true, tasks: apart(tasks) } : undefined
}

/** What a host calls the fields and statuses of its list. */
export interface Words {
  readonly title: string
  /** The field that names an entry for good; its text does where there is none. */
  readonly key?: string
  readonly statuses: Readonly<Record<string, HostTask['status']>>
}

const MOST = 1_000

function taskFrom(entry: Payload, words: Words): HostTask | undefined {
  const title = text(entry[words.title])
  if (title === undefined || title.trim() === '') return undefined
  const status = text(entry['status'])
  // A status that we do not know is not an end.
  const known = status !== undefined && Object.hasOwn(words.statuses, status) ? words.statuses[status]! : 'pending'
  return { key: (words.key && text(entry[words.key])) || title, title, status: known }
}

/** Entries of the same name are told apart by their number. */
export function apart(tasks: readonly HostTask[]): HostTask[] {
  const seen = new Map<string, number>()
  return tasks.map(task => {
    const count = (seen.get(task.key) ?? 0) + 1
    seen.set(task.key, count)
    return count === 1 ? task : { ...task, key: `${task.key} (${count})` }
  })
}
