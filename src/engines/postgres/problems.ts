import { Problem } from '../../core/problem.ts'

/** No connection came about: nothing was sent. */
export class Unconnected extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** Somebody else was first to add what was to be added: nothing was, and theirs is there now. */
export class Beaten extends Error {
  constructor(cause: unknown) {
    super('it is there already', { cause })
  }
}

/** Whether the connection broke, which leaves open what became of the last thing sent over it. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof Unconnected) return false
  const code = codeOf(error)
  return code === undefined ? BROKEN.test(error.message) : LOST.has(code) || code.startsWith('08')
}

/** Whether the same thing may well succeed in a moment. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Unconnected)
    return isLost(error.cause) || TRANSIENT.has(codeOf(error.cause) ?? '') || isFull(error)
  return isLost(error) || RIVAL.has(codeOf(error) ?? '') || violates(error, '_identity') || error instanceof Beaten
}

/** Whether a unique index, named by its ending, refused a row. */
export function violates(error: unknown, ending: string): boolean {
  return codeOf(error) === '23505' && String((error as { constraint?: string }).constraint).endsWith(ending)
}

export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Shut down, crashed, or cut off for having been idle; or what the operating system says of a socket. */
const LOST = new Set(['57P01', '57P02', '57P05', '25P03', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_DESTROYED'])

/** What the driver says without a code. */
const BROKEN = /^(Connection terminated|timeout expired|Query read timeout|Client has encountered a connection error)/

/** Starting or recovering, no slot free; nobody listens for the moment. */
const TRANSIENT = new Set(['57P03', '53300', 'ECONNREFUSED', 'ENOENT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'])

/** Refused for the sake of another transaction, and without a trace. */
const RIVAL = new Set(['40001', '40P01'])

function isFull(error: Unconnected): boolean {
  return error.message === 'timeout exceeded when trying to connect'
}

/** What the server and the driver report, as something a person can act on. Everything else is a bug and stays one. */
export function problemFor(error: unknown, server: string): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  const cause = error instanceof Unconnected ? error.cause : error
  const details = { server, reason: error.message }
  if (error instanceof Unconnected && isFull(error)) return busy('Every connection is in use', details)
  switch (codeOf(cause)) {
    case '28P01':
    case '28000':
      return unreachable(`${server} refused the user or the password`, 'Check user and password in the URL.', details)
    case '3D000':
      return unreachable(
        `${server}: there is no such database`,
        'Create the database, or name another in the URL.',
        details,
      )
    case '53300':
      return unreachable(
        `${server} has no connection left`,
        'Try again; if it stays so, raise max_connections or put a connection pooler in front.',
        details,
      )
    case '25006':
      return readOnly(`${server} does not take writes`, 'Name the primary server in the URL, not a replica.', details)
    case '42501':
      return readOnly(
        `${server} does not allow this: ${error.message}`,
        'Grant the user the right to use and change the schema, or create it with CREATE SCHEMA … AUTHORIZATION user.',
        details,
      )
    case '53100':
    case '58030':
      return new Problem(
        'store_full',
        `${server} has no space left, or cannot write: ${error.message}`,
        'Free some space on the server and try again; nothing was half written.',
        details,
      )
    case '57014':
    case '55P03':
    case '53200':
    case '40001':
    case '40P01':
      return busy(`${server} did not get to it in time: ${error.message}`, details)
    default:
  }
  if (!(error instanceof Unconnected) && !isLost(error)) return error
  const message = `${server} cannot be reached: ${error.message}`
  return unreachable(
    message,
    'Check that the server runs and that host and port in the URL are right, then try again.',
    details,
  )
}

type Details = Record<string, unknown>

function unreachable(message: string, hint: string, details: Details): Problem {
  return new Problem('store_unreachable', message, hint, details)
}

function readOnly(message: string, hint: string, details: Details): Problem {
  return new Problem('store_read_only', message, hint, details)
}

function busy(message: string, details: Details): Problem {
  return new Problem(
    'store_busy',
    message,
    'Try again; if it stays so, find out what holds the locks (pg_stat_activity).',
    details,
  )
}
