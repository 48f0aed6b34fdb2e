import * as v from 'valibot'
import { described } from './input.ts'
import type { Kind } from './kind.ts'
import { type Caller, type InputSchema, type OperationSpec, type OutputSchema, operation } from './operation.ts'
import { Problem } from './problem.ts'

export const WORKFLOWS = ['work', 'reviews', 'audit', 'arc'] as const
export type Workflow = (typeof WORKFLOWS)[number]

/** The items that are meant where none is named: those of one session. */
export type Whereabouts = { readonly workflow: Workflow; readonly session: string }

/** The fields that say which session is meant, where the environment does not. */
export const workflow = () => ({
  workflow: described(v.picklist(WORKFLOWS), 'work if absent'),
  session: described(v.string(), 'the session; the newest if absent'),
})

/** The caller in the session that an input names; refused where the environment fixes another. */
function inSession(caller: Caller, session: string | undefined): Caller {
  if (session === undefined) return caller
  const fixed = caller.scope.session
  if (fixed === undefined) return { ...caller, scope: { ...caller.scope, session: checkedSession(session) } }
  if (fixed === session) return caller
  const hint = 'Leave session out; a todo of another session is named in full: WORKFLOW/SESSION/SOURCE/NUMBER.'
  throw new Problem('bad_input', `session: it is ${fixed} here`, hint, { session: fixed })
}

/** Writes an operation down whose items belong to sessions: the session that its input names is the caller's. */
export function sessional<const S extends InputSchema, const R extends OutputSchema>(
  spec: OperationSpec<S, R>,
): ReturnType<typeof operation<S, R>> {
  const run: typeof spec.run = (caller, input) =>
    spec.run(inSession(caller, (input as { session?: string }).session), input)
  return operation<S, R>({ ...spec, run })
}

/** Sessions become folders: ASCII, so that no two that look alike are different ones. */
const SESSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
/** Taken as devices by Windows, whatever comes after a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** The caller's session, else the newest of the workflow, else `default`. */
export async function whereabouts(caller: Caller, flow: Workflow = 'work'): Promise<Whereabouts> {
  const { session } = caller.scope
  if (session !== undefined) return { workflow: flow, session: checkedSession(session) }
  return { workflow: flow, session: (await newestSession(caller, flow)) ?? 'default' }
}

/** The session that began last, whichever kind of item it began with. */
async function newestSession(caller: Caller, flow: Workflow): Promise<string | undefined> {
  const kinds = await caller.sessional()
  const begun = await Promise.all(kinds.map(kind => caller.store.names(kind, 'session', { workflow: flow })))
  const last = [...new Set(begun.flatMap(names => names.slice(-1)))]
  if (last.length < 2) return last[0]
  const when = await Promise.all(last.map(session => beginning(caller, kinds, { workflow: flow, session })))
  return last.toSorted((one, other) => (when[last.indexOf(one)]! < when[last.indexOf(other)]! ? 1 : -1))[0]
}

/** When the first of its items was made. */
async function beginning({ store }: Caller, kinds: readonly Kind[], where: Whereabouts): Promise<string> {
  const times: string[] = []
  for (const kind of kinds) {
    const [first] = await store.find(kind, { where, limit: 1 })
    const [event] = first ? await store.events({ of: { kind, id: first.id }, limit: 1 }) : []
    if (event) times.push(event.at)
  }
  return times.toSorted()[0] ?? ''
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
