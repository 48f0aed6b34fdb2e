import { isOurs } from './prompt.ts'
import type { Signal, Stumble } from './signals.ts'

/** What a host tells: which event, in which session, and what came along. */
export interface HookContext {
  readonly event: string
  readonly sessionId: string
  readonly data?: unknown
}

/** What an event means to a session; undefined for those that mean nothing to it. Whatever comes along may be missing. */
export function signalFrom({ event, data }: HookContext, at: number): Signal | undefined {
  switch (event) {
    case 'session.idle':
      return { type: 'idle', at }
    case 'session.error':
      return { type: 'failed', at, ended: endingOf(record(data)['error'] ?? {}) ?? 'error' }
    case 'session.deleted':
      return { type: 'deleted', at }
    case 'session.compacted':
      return { type: 'compacted', at }
    case 'message.updated':
    case 'message.after':
      return messageFrom(record(data), at)
    case 'tool.before':
    case 'tool.after':
      return { type: 'tool', at }
    default:
      return undefined
  }
}

/** How a run ended by what it left as its error; undefined where it left none. */
export function endingOf(error: unknown): Stumble | undefined {
  if (error === undefined || error === null || error === false || error === '') return undefined
  const name = typeof error === 'string' ? error : record(error)['name']
  return name === 'MessageAbortedError' || name === 'AbortError' ? 'aborted' : 'error'
}

/** The agent that a host names; what cuts a context is none that could be sent on. */
export function agentFrom(name: unknown): string | undefined {
  return typeof name === 'string' && name !== '' && name.toLowerCase() !== 'compaction' ? name : undefined
}

type Fields = Readonly<Record<string, unknown>>

function messageFrom(data: Fields, at: number): Signal | undefined {
  const info = record(data['info'])
  const createdAt = timeFrom(record(info['time'])['created'] ?? info['createdAt'])
  const agent = agentFrom(info['agent'])
  if (info['role'] === 'assistant') {
    return { type: 'assistant_message', at, createdAt, agent, ended: endingOf(info['error']) }
  }
  if (info['role'] !== 'user') return undefined
  const id = typeof info['id'] === 'string' ? info['id'] : undefined
  return { type: 'user_message', at, createdAt, agent, id, ours: isSentByUs(data, info) }
}

/** Undefined where the event does not show what the message says. */
function isSentByUs(data: Fields, info: Fields): boolean | undefined {
  const parts = [data['parts'], info['parts'], info['content']].flatMap(list => (Array.isArray(list) ? list : []))
  if (info['synthetic'] === true || data['synthetic'] === true) return true
  if (parts.length > 0 && parts.every(part => record(part)['synthetic'] === true)) return true
  const texts = [data['text'], info['text'], info['content'], ...parts.map(part => record(part)['text'])]
  const shown = texts.filter(text => typeof text === 'string')
  return shown.length > 0 ? shown.some(isOurs) : undefined
}

/** Milliseconds, or a date as text. */
function timeFrom(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value instanceof Date ? value.getTime() : value
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined
}

function record(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
