import { harmlessLine } from '../core/text.ts'
import type { SupervisorEvent } from '../supervisor/events.ts'

const LONGEST = 160

/** What a person who looks on is told of an event, as one short line; undefined where it is not worth one. */
export function progressLine(event: SupervisorEvent): string | undefined {
  const line = lineFor(event)
  return line === undefined ? undefined : short(harmlessLine(line).trim())
}

function lineFor(event: SupervisorEvent): string | undefined {
  switch (event.type) {
    case 'tool_called':
      return Object.hasOwn(DONE, event.tool) ? undefined : `${event.tool} ${wordsOf(event.input)}`
    case 'tool_answered':
      return Object.hasOwn(DONE, event.tool) ? DONE[event.tool]!(fieldsOf(event.output)) : undefined
    case 'tool_failed':
      return `${event.tool} refused: ${event.error.split('\n')[0]}`
    case 'delegated':
      return `delegated to ${event.agentType}: ${event.task}`
    case 'worker_failed':
      return `${event.agentType} failed: ${event.error}`
    case 'sent_back':
      return `sent back to its plan: ${items(event.remaining)} left`
    case 'call_ended':
      return event.finishReason === 'length'
        ? 'the model has reached its limit of output: what it said is cut'
        : undefined
    default:
      return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Tools that change the plan are told of when they have. */
const DONE: Readonly<Record<string, (answer: Fields) => string | undefined>> = {
  create_todo: ({ created }) => `planned: ${items(Array.isArray(created) ? created.length : 0)}`,
  list_todo: () => undefined,
  start_todo: ({ title }) => `started: ${String(title)}`,
  complete_todo: ({ title, status, verifiedAt }) =>
    `${String(status)}${verifiedAt ? ' and checked' : ''}: ${String(title)}`,
  block_todo: ({ title, needs }) => `needs you: ${String(title)}: ${String(needs)}`,
}

function wordsOf(input: unknown): string {
  const { path, program, args = [], ...rest } = fieldsOf(input)
  if (typeof program === 'string') return [program, ...(Array.isArray(args) ? args : [])].join(' ')
  return typeof path === 'string'
    ? path
    : Object.values(rest)
        .filter(value => typeof value === 'string')
        .join(' ')
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export function items(count: number): string {
  return count === 1 ? '1 item' : `${count} items`
}

function short(line: string): string {
  return line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line
}
