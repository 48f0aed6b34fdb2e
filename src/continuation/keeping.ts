import type { Fields } from '../core/lifecycle.ts'
import { amend, move } from '../core/move.ts'
import type { Store } from '../core/store.ts'
import { type Facts, injected, type Judgement, judge, judged, type Standing, UNTOUCHED, type Work } from './judging.ts'
import { type Continuation, continuation } from './record.ts'
import type { TodoContinuationConfig } from './settings.ts'
import { isSame } from './standing.ts'

/** Whose continuation: one session's, or with an empty name that of all. */
export interface Session {
  readonly conversationId: string
  readonly host?: string | undefined
}

interface Doing {
  readonly by: string
  readonly now: () => Date
}

/** What is remembered of a session. */
export interface Remembered {
  readonly row: Continuation | undefined
  readonly standing: Standing
  readonly off: Facts['off']
}

export async function recalled(store: Store, { conversationId }: Session): Promise<Remembered> {
  const rows = await store.find(continuation, { where: { conversationId: [conversationId, ''] } })
  const row = rows.find(one => one.conversationId === conversationId)
  const all = rows.find(one => one.conversationId === '')
  const off = all?.status === 'off' ? 'all' : row?.status === 'off' ? 'session' : null
  return { row, standing: row ? standingOf(row) : UNTOUCHED, off }
}

/**
 * Judges a session that wants to stop, and remembers what came of it. Where it
 * is sent on, that is written before it is said: a budget that could not be
 * kept would be none.
 */
export async function judgeStop(
  store: Store,
  session: Session,
  facts: Omit<Facts, 'off'>,
  config: TodoContinuationConfig,
  { by, now }: Doing,
): Promise<Judgement> {
  const at = now()
  const { row, standing, off } = await recalled(store, session)
  const decide = (present: Standing) => judge(present, { ...facts, off }, config, at.getTime())
  let judgement = decide(standing)
  if (isSame(after(standing, judgement, facts.work, at), standing)) return judgement
  const fields = (present: Standing) => {
    judgement = decide(present)
    return fieldsOf(after(present, judgement, facts.work, at))
  }
  await written(store, session, row, item => fields(item ? standingOf(item) : UNTOUCHED), {
    by,
    at: at.toISOString(),
    why: told(judgement, facts.work),
  })
  return judgement
}

function after(standing: Standing, judgement: Judgement, work: Work, at: Date): Standing {
  return judgement.go ? injected(standing, work, judgement, at.getTime()) : judged(standing, judgement)
}

function told(judgement: Judgement, { open }: Work): string {
  return judgement.go ? `sent on: ${open} open` : `not sent on any more: ${judgement.why}`
}

/** Remembers how a session stands; nothing is written where that is nothing new. */
export async function remember(store: Store, session: Session, standing: Standing, doing: Doing): Promise<void> {
  const { row, standing: present } = await recalled(store, session)
  if (isSame(present, standing)) return
  await written(store, session, row, () => fieldsOf(standing), { by: doing.by, at: doing.now().toISOString() })
}

/** Notes that a host has begun a session we know anew, or closed it. */
export async function noted(store: Store, session: Session, what: 'begun' | 'ended', doing: Doing): Promise<void> {
  const { row } = await recalled(store, session)
  const at = doing.now().toISOString()
  if (!row || (row.endedAt !== null) === (what === 'ended')) return
  const endedAt = what === 'ended' ? at : null
  await written(store, session, row, () => ({ endedAt }), { by: doing.by, at, why: `the session has ${what}` })
}

/** Switches continuation for a session, or for all. Switching it on also forgets why it was given up. */
export async function switched(store: Store, session: Session, to: 'on' | 'off', doing: Doing): Promise<void> {
  const { row } = await recalled(store, session)
  const at = doing.now().toISOString()
  const fresh = to === 'on' ? fieldsOf(UNTOUCHED) : {}
  const note = { by: doing.by, at, why: to === 'on' ? 'switched on' : 'switched off' }
  const present = row ?? (await made(store, session, to, fresh, note))
  if (present) await move(store, continuation, { id: present.id, to, fields: fresh, ...note })
}

interface Note {
  readonly by: string
  readonly at: string
  readonly why?: string
}

async function written(
  store: Store,
  session: Session,
  row: Continuation | undefined,
  fields: (item: Continuation | undefined) => Fields,
  note: Note,
): Promise<void> {
  const present = row ?? (await made(store, session, 'on', fields(undefined), note))
  // Whoever switched it before its host was heard of could not name that host.
  const named = (item: Continuation) => ({ ...fields(item), host: item.host ?? session.host ?? null })
  if (present) await amend(store, continuation, { id: present.id, known: present, fields: named, ...note })
}

/** Undefined where it was made just now; the present one where somebody else was first. */
async function made(
  store: Store,
  { conversationId, host }: Session,
  status: 'on' | 'off',
  fields: Fields,
  note: Note,
): Promise<Continuation | undefined> {
  // One row for a session, whoever comes first: its name is its id.
  const id = conversationId === '' ? 'all' : `session:${conversationId}`
  const draft = { id, title: id, status, identity: id, fields: { conversationId, host: host ?? null, ...fields } }
  const [added] = await store.insert(continuation, [draft], note)
  return added!.created ? undefined : added!.item
}

function standingOf(row: Continuation): Standing {
  const { injections, fruitless, unshortened, openBefore, completedBefore, injectedAt, hush } = row
  return {
    injections: injections ?? 0,
    fruitless: fruitless ?? 0,
    unshortened: unshortened ?? 0,
    before: openBefore === null || completedBefore === null ? null : { open: openBefore, completed: completedBefore },
    injectedAt: injectedAt === null ? null : Date.parse(injectedAt),
    hush,
  }
}

function fieldsOf({ injections, fruitless, unshortened, before, injectedAt, hush }: Standing): Fields {
  return {
    injections,
    fruitless,
    unshortened,
    openBefore: before?.open ?? null,
    completedBefore: before?.completed ?? null,
    injectedAt: injectedAt === null ? null : new Date(injectedAt).toISOString(),
    hush,
  }
}
