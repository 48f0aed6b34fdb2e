import { requireToken } from '../core/authority.ts'
import { whyNot } from '../core/keeping.ts'
import type { Texts } from '../core/kind.ts'
import { refusalFor } from '../core/lifecycle.ts'
import { oneLine } from '../core/markdown.ts'
import { amend, move, refused } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { acting, namedToken, tokenFor } from './acting.ts'
import { task } from './kind.ts'
import { childrenOf, locate } from './locating.ts'
import { logging, noteInstead } from './logging.ts'
import { readTaskId } from './names.ts'
import type { Task } from './record.ts'
import { stillWaits, waitsFor } from './waiting.ts'
import { renderWaivers, WAIVERS } from './waivers.ts'
import { refuseUnlessFrom } from './ways-back.ts'

/** Lets workers have a staged task. */
export async function releaseTask(caller: Caller, name: string): Promise<Task> {
  const item = await locate(caller, name)
  refuseUnlessFrom(item, 'staged')
  const at = caller.now().toISOString()
  return await move(caller.store, task, { id: item.id, known: item, to: 'to_execute', by: caller.by, at })
}

/** Goes on without tasks that one waits for, parts of it or others, and says why. */
export async function waive(
  caller: Caller,
  name: string,
  without: readonly string[],
  reason: string | undefined,
  given?: number,
): Promise<Task> {
  const item = await locate(caller, name)
  if (reason === undefined) {
    throw new Problem(
      'bad_input',
      'reason: is missing; a task does not go on without another for no reason',
      'Say why: --reason TEXT.',
      { wrong: [{ field: 'reason', message: 'is missing' }] },
    )
  }
  const parts = (await childrenOf(caller, item)).map(({ id }) => id)
  const ids = without.map(one => readTaskId(one) ?? one)
  const stranger = ids.find(id => !item.dependsOn.includes(id) && !parts.includes(id))
  if (stranger !== undefined) {
    const known = [...item.dependsOn, ...parts]
    throw new Problem(
      'bad_input',
      `${item.id} does not wait for ${stranger}`,
      known.length > 0 ? `Name some of these: ${known.join(', ')}.` : 'It waits for nothing: leave out --without.',
      { id: item.id, waitsFor: known },
    )
  }
  const added = Object.fromEntries(ids.map(id => [id, oneLine(reason)]))
  const who = await acting(caller, item, given, `without ${ids.join(', ')}: ${oneLine(reason)}`)
  let waived: Readonly<Record<string, string>> = {}
  return await amend(caller.store, task, {
    id: item.id,
    known: item,
    ...who,
    fields: now => ({ waived: (waived = { ...now.waived, ...added }) }),
    texts: () => ({ [WAIVERS]: renderWaivers(waived) }),
  })
}

/** The same for a task that is being completed: only if that leaves nothing to wait for, so that a refusal changes nothing. */
export async function waiveTheRest(
  caller: Caller,
  name: string,
  without: readonly string[],
  reason: string | undefined,
  given?: number,
): Promise<void> {
  const item = await locate(caller, name)
  await requireToken(caller, task, item, namedToken(caller, item.id, given))
  const own = tokenFor(caller, item.id, given) ?? item.token
  if (item.status !== 'in_progress' || own !== item.token) return
  const left = new Set(without.map(one => readTaskId(one) ?? one))
  const rest = (await waitsFor(caller, item)).filter(({ id }) => !left.has(id))
  if (rest.length > 0) throw await stillWaits(caller, item, 'completed')
  await waive(caller, name, without, reason, given)
}

/** Tries a failed task again. */
export async function retryTask(caller: Caller, name: string, reason?: string): Promise<Task> {
  const item = await locate(caller, name)
  refuseUnlessFrom(item, 'error')
  if (item.status === 'to_execute') return item
  const at = caller.now().toISOString()
  const texts = reason === undefined ? undefined : logging({ at, by: caller.by, what: 'retried', note: reason })
  return await move(caller.store, task, {
    id: item.id,
    known: item,
    to: 'to_execute',
    by: caller.by,
    at,
    why: reason ?? 'retried',
    texts,
  })
}

/** Says that a task will not be done; with its parts, where those are open. */
export async function cancelTask(
  caller: Caller,
  name: string,
  { reason, token, children = false }: { reason: string; token?: number | undefined; children?: boolean | undefined },
): Promise<{ task: Task; parts: Task[] }> {
  const item = await locate(caller, name)
  const open = (await childrenOf(caller, item)).filter(({ status }) => status !== 'completed' && status !== 'cancelled')
  if (open.length > 0 && !children) {
    throw new Problem(
      'move_refused',
      `${item.id} has parts that are open: ${open.map(({ id }) => id).join(', ')}`,
      `Cancel them with it: punchlist queue cancel ${item.id} --children --reason TEXT.`,
      { id: item.id, from: item.status, to: 'cancelled', open: open.map(({ id }) => id) },
    )
  }
  if (open.length > 0) refuseBefore(item, tokenFor(caller, item.id, token))
  const own = namedToken(caller, item.id, token)
  await requireToken(caller, task, item, own)
  const covers = item.status === 'in_progress' && own !== undefined
  if (!covers) for (const part of open) await requireToken(caller, task, part, undefined)
  const parts: Task[] = []
  // A token is that of the task: whoever may cancel it may cancel its parts, whoever has those.
  const authority = covers ? async () => ({ who: 'program', tasks: [] }) as const : caller.authority
  const within = { ...caller, authority, scope: { ...caller.scope, token: undefined } }
  for (const part of open) {
    const gone = await cancelTask(within, part.id, { reason, children })
    parts.push(...gone.parts, gone.task)
  }
  const who = await acting(caller, item, token, reason)
  const texts = logging({ at: who.at, by: who.by, what: 'cancelled', note: reason })
  const recorded = (kept: Texts) => noteInstead(kept, 'cancelled', reason)
  const wanted = { id: item.id, known: item, to: 'cancelled', ...who, texts, recorded }
  return { task: await move(caller.store, task, wanted), parts }
}

/** What would be refused of a task itself is refused before its parts are cancelled. */
function refuseBefore(item: Task, token: number | undefined): void {
  if (token !== undefined && token !== item.token) throw whyNot(task, item, { id: item.id, token })
  const refusal = refusalFor(task.lifecycle, item.status, { ...item, status: 'cancelled' })
  if (refusal) throw refused(task, item, 'cancelled', refusal)
}
