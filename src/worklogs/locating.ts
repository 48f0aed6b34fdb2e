import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Whereabouts } from '../core/session.ts'
import { worklog } from './kind.ts'
import { fileOf, storeId } from './names.ts'
import type { Worklog } from './record.ts'

/**
 * The worklog that a verb writes about. Where no session is named, an open log of that worker in another session makes it
 * ambiguous: refused, with the sessions.
 */
export async function requireOne(caller: Caller, where: Whereabouts, name: string): Promise<Worklog> {
  if (caller.scope.session !== undefined) return await locate(caller, where, name)
  const { workflow } = where
  const sessions = await caller.store.names(worklog, 'session', { workflow })
  const ids = sessions.map(session => storeId({ workflow, session }, name))
  const fits = ids.length > 0 ? await caller.store.find(worklog, { where: { workflow, id: ids } }) : []
  const open = fits.filter(({ status }) => status === 'active')
  const candidates = open.length > 0 ? fits.filter(one => open.includes(one) || one.session === where.session) : []
  const [only, ...others] = candidates
  if (!only) return await locate(caller, where, name)
  if (others.length === 0) return only
  const found = candidates.map(({ session }) => session)
  throw new Problem(
    'bad_input',
    `${name} has a worklog in several sessions of ${workflow}: ${found.join(', ')}`,
    `Say which: --session ${found[0]}.`,
    { name, workflow, sessions: found },
  )
}

/** The worklog of one worker. A file that is there and cannot be read says so. */
export async function locate(caller: Caller, where: Whereabouts, name: string): Promise<Worklog> {
  const [found] = await caller.store.find(worklog, { where: { ...where, id: storeId(where, name) }, limit: 1 })
  if (found) return found
  const unreadable = await caller.store.unreadable(worklog, where)
  const broken = unreadable.find(({ file }) => file.endsWith(`/${fileOf(name)}`))
  if (broken) {
    const { file, line, message } = broken
    const hint = 'Correct the file by hand; nothing was written to it.'
    throw new Problem('unreadable_file', `${file}:${line} ${message}`, hint, { file, line })
  }
  throw new Problem(
    'not_found',
    `${name} has no worklog in session ${where.session} of ${where.workflow}`,
    `Open it first: punchlist worklog open ${name} --role implementation --plan PATH --session ${where.session}`,
    { name, ...where },
  )
}
