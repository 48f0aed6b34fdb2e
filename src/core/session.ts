import * as v from 'valibot'
import { described } from './input.ts'
import type { Kind } from './kind.ts'
import type { Caller } from './operation.ts'
import { Problem } from './problem.ts'

export const WORKFLOWS = ['work', 'reviews', 'audit', 'arc'] as const
export type Workflow = (typeof WORKFLOWS)[number]

/** The items that are meant where none is named: those of one session. */
export type Whereabouts = { readonly workflow: Workflow; readonly session: string }

/** The field that names a workflow. */
export const workflow = () => ({ workflow: described(v.picklist(WORKFLOWS), 'work if absent') })

/** Sessions become folders: ASCII, so that no two that look alike are different ones. */
const SESSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
/** Taken as devices by Windows, whatever comes after a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** The caller's session, else the newest of the workflow in which there are such items, else `default`. */
export async function whereabouts(caller: Caller, kind: Kind, flow: Workflow = 'work'): Promise<Whereabouts> {
  const { session } = caller.scope
  if (session !== undefined) return { workflow: flow, session: checkedSession(session) }
  const known = await caller.store.names(kind, 'session', { workflow: flow })
  return { workflow: flow, session: known.at(-1) ?? 'default' }
}

export function isWorkflow(name: string): name is Workflow {
  return (WORKFLOWS as readonly string[]).includes(name)
}

export function isSession(name: string): boolean {
  return SESSION.test(name) && !name.endsWith('.') && !isDevice(name)
}

export function isDevice(name: string): boolean {
  return DEVICE.test(name)
}

export function checkedSession(name: string): string {
  if (isSession(name)) return name
  throw new Problem(
    'bad_input',
    `session: "${name.slice(0, 100)}" cannot be the name of a folder`,
    'Use letters, digits, dots, dashes and underscores, beginning with a letter or a digit, 100 at most.',
    { session: name.slice(0, 200) },
  )
}

/** Which session has ended must be said: to guess would end somebody else's. */
export function endedSession(caller: Caller): string {
  const { session } = caller.scope
  if (session !== undefined) return checkedSession(session)
  throw new Problem(
    'bad_input',
    'session: is missing',
    'Say which session has ended: --session ID, or PUNCHLIST_SESSION.',
  )
}
