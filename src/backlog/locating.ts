import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Whereabouts, Workflow } from '../core/session.ts'
import type { Unreadable } from '../core/store.ts'
import { todo } from './kind.ts'
import { digits, qualified, storeId } from './names.ts'
import type { Todo } from './record.ts'

/**
 * A todo by its number, by source and number, or by all of its names. Numbers
 * are compared as numbers. A file that is there and cannot be read says so.
 */
export async function locate(caller: Caller, where: Whereabouts, name: string): Promise<Todo> {
  const wanted = await candidates(caller, where, name)
  const found: Todo[] = []
  for (const { list, id } of wanted)
    found.push(...(await caller.store.find(todo, { where: { ...list, id }, limit: 1 })))
  const [only, ...others] = found
  if (only && others.length === 0) return only
  if (only) {
    const names = found.map(qualified)
    throw new Problem('bad_input', `${name} could be ${names.join(' or ')}`, `Name the source too: ${names[0]}.`, {
      id: name,
      candidates: names,
    })
  }
  const unreadable = await caller.store.unreadable(todo, where)
  const file = unreadable.find(({ file: path }) => isAbout(path, wanted))
  if (file) throw cannotRead(file)
  throw new Problem(
    'not_found',
    `There is no todo ${name} in session ${where.session} of ${where.workflow}`,
    'List what is there (punchlist backlog list --all) and use an id from it.',
    { id: name, ...where },
  )
}

/** The parts of a todo's name; absent where it is a short one. */
export function nameIn(name: string): {
  readonly number: number
  readonly source: string | undefined
  readonly session: string | undefined
  readonly workflow: string | undefined
} {
  const [last, source, session, workflow] = name.trim().split('/').toReversed()
  return { number: Number(last), source, session, workflow }
}

/** A todo of one session, by any of its names; one of another session is refused. */
export async function locateWithin(caller: Caller, where: Whereabouts, name: string): Promise<Todo> {
  const item = await locate(caller, where, name)
  if (item.session === where.session && item.workflow === where.workflow) return item
  throw new Problem(
    'bad_input',
    `${item.id} is a todo of another session than ${where.session} of ${where.workflow}`,
    'Name a todo of the same session.',
    { id: item.id, ...where },
  )
}

/** The todos of one session that carry these qualified ids; absent ones are absent. */
export async function lookUp(
  caller: Caller,
  where: Whereabouts,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, Todo>> {
  const found = new Map<string, Todo>()
  for (const id of new Set(ids)) {
    const [source = '', number = ''] = id.split('/')
    const [item] = await caller.store.find(todo, {
      where: { ...where, source, id: storeId({ ...where, source }, number) },
      limit: 1,
    })
    if (item) found.set(id, item)
  }
  return found
}

export function sessionOf({ workflow, session }: Todo): Whereabouts {
  return { workflow: workflow as Workflow, session }
}

interface Candidate {
  readonly list: Whereabouts & { readonly source: string }
  readonly id: string
  readonly number: number
}

async function candidates(caller: Caller, where: Whereabouts, name: string): Promise<Candidate[]> {
  const { number, source, session = where.session, workflow = where.workflow } = nameIn(name)
  const at = (list: Candidate['list']) => ({ list, id: storeId(list, digits(number)), number })
  if (source !== undefined) return [at({ workflow: workflow as Workflow, session, source })]
  const sources = await caller.store.names(todo, 'source', where)
  return sources.map(one => at({ ...where, source: one }))
}

function isAbout(path: string, wanted: readonly Candidate[]): boolean {
  const [folder = '', name = ''] = path.split('/').slice(-2)
  const number = Number(/\d+/.exec(name)?.[0])
  return wanted.some(({ list, number: one }) => list.source === folder && one === number)
}

function cannotRead({ file, line, message }: Unreadable): Problem {
  return new Problem(
    'unreadable_file',
    `${file}:${line} ${message}`,
    'Correct the file by hand; nothing was written to it.',
    { file, line },
  )
}
