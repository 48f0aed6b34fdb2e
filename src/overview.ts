import * as v from 'valibot'
import { todo } from './backlog/kind.ts'
import { qualified } from './backlog/names.ts'
import { judge } from './continuation/judging.ts'
import { recalled } from './continuation/keeping.ts'
import { configFrom } from './continuation/settings.ts'
import { foretold, leftBy } from './continuation/telling.ts'
import type { Event } from './core/event.ts'
import { wholeNumber } from './core/input.ts'
import type { Caller } from './core/operation.ts'
import { operation } from './core/operation.ts'
import { whereabouts } from './core/session.ts'
import { currentTurn, itemsOf } from './plans/current-turn.ts'
import { countsOf, outlookOf } from './plans/outlook.ts'
import { planItem, type Turn, turn } from './plans/record.ts'
import { task } from './queue/kind.ts'
import { worklog as worklogKind } from './worklogs/kind.ts'

const nullableText = () => v.nullable(v.string())
const openPlan = () => v.object({ conversationId: v.string(), turnId: v.string(), remaining: v.number() })

/** One screen: what is open, who works on what, what comes next. */
export const status = operation({
  name: 'status',
  command: 'status',
  readOnly: true,
  summary: 'Show what is open, who works on it and what comes next.',
  example: 'punchlist status',
  input: () => v.object({}),
  output: () =>
    v.object({
      root: v.string(),
      plan: v.nullable(
        v.object({
          ...openPlan().entries,
          completion: v.string(),
          pending: v.number(),
          inProgress: v.number(),
          completed: v.number(),
          cancelled: v.number(),
          waiting: v.pipe(v.number(), v.description('of those that remain: wait for a person')),
          counts: v.pipe(
            v.object({
              completed: v.number(),
              verified: v.number(),
              cancelled: v.number(),
              blocked: v.number(),
              left: v.number(),
            }),
            v.description('verified: of the completed; blocked: of those left'),
          ),
          working: v.array(
            v.object({ id: v.string(), title: v.string(), owner: nullableText(), startedAt: nullableText() }),
          ),
          next: v.array(v.object({ id: v.string(), title: v.string() })),
        }),
      ),
      elsewhere: v.array(openPlan()),
      continuation: v.pipe(
        v.array(
          v.object({
            session: v.string(),
            host: nullableText(),
            endedAt: v.pipe(nullableText(), v.description('when its host closed it; null while it is open')),
            goesOn: v.boolean(),
            why: v.pipe(nullableText(), v.description('why it may stop; null where it goes on')),
            text: v.string(),
            injections: v.number(),
          }),
        ),
        v.description('for each session with a plan that is not done: what would happen if it stopped now'),
      ),
      backlog: v.nullable(
        v.object({
          workflow: v.string(),
          session: v.string(),
          counts: v.record(v.string(), v.number()),
          working: v.array(v.object({ id: v.string(), title: v.string(), owner: nullableText() })),
        }),
      ),
      queue: v.nullable(
        v.object({
          counts: v.record(v.string(), v.number()),
          working: v.array(v.object({ id: v.string(), title: v.string(), owner: nullableText() })),
          waiting: v.pipe(
            v.array(v.object({ id: v.string(), title: v.string() })),
            v.description('wait for a reply from a person'),
          ),
        }),
      ),
      worklog: v.nullable(
        v.object({
          workflow: v.string(),
          session: v.string(),
          counts: v.record(v.string(), v.number()),
          active: v.array(v.string()),
        }),
      ),
    }),
  async run(caller) {
    const of = await currentTurn(caller)
    const plan = of ? await planOf(caller, of) : null
    const backlog = await backlogOf(caller)
    const queue = await queueOf(caller)
    const worklog = await worklogOf(caller)
    const others = await elsewhere(caller, of)
    const continuation = []
    for (const one of [...(plan && of ? [of] : []), ...others.map(({ turn: other }) => other)]) {
      const next = await continuationOf(caller, one)
      if (next) continuation.push(next)
    }
    const told = others.map(({ turn: { conversationId, turnId }, remaining }) => ({
      conversationId,
      turnId,
      remaining,
    }))
    return { root: caller.root, plan, elsewhere: told, continuation, backlog, queue, worklog }
  },
})

const limits = () => ({
  limit: v.optional(v.pipe(wholeNumber(1, 10_000), v.description('events at most; 50 if absent'))),
  after: v.optional(
    v.pipe(
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
      v.description('only what happened after this number; the newest events if absent'),
    ),
  ),
})

/** Every move, as it was recorded. */
export const log = operation({
  name: 'log',
  command: 'log',
  readOnly: true,
  summary: 'Show every move: when, who, what, from where to where, and why.',
  example: 'punchlist log --follow',
  input: () => v.object(limits()),
  output: () =>
    v.object({
      events: v.array(
        v.object({
          seq: v.number(),
          at: v.string(),
          kind: v.string(),
          id: v.string(),
          title: v.string(),
          from: nullableText(),
          to: v.string(),
          by: v.string(),
          why: nullableText(),
          revision: v.number(),
          token: v.number(),
        }),
      ),
    }),
  async run(caller, { limit = 50, after }) {
    return { events: await caller.store.events(after === undefined ? { last: limit } : { after, limit }) }
  },
  async *follow(caller, { limit = 50, after }, signal) {
    let events: Event[] = await caller.store.events(after === undefined ? { last: limit } : { after, limit })
    let seen = after ?? 0
    while (!signal.aborted) {
      if (events.length > 0) yield { events }
      seen = events.at(-1)?.seq ?? seen
      if (events.length === 0) await caller.store.changed(seen, 60_000, signal)
      events = await caller.store.events({ after: seen, limit: 1000 })
    }
  },
})

async function planOf(caller: Caller, of: Turn) {
  const counts = await caller.store.count(planItem, { where: itemsOf(of) })
  const told = await countsOf(caller, of)
  const working = await caller.store.find(planItem, { where: itemsOf(of), status: ['in_progress'], limit: 20 })
  const free = { ...itemsOf(of), needs: null }
  const coming = await caller.store.find(planItem, { where: free, status: ['pending'], limit: 3 })
  const { conversationId, turnId, completionMode } = of
  return {
    conversationId,
    turnId,
    completion: completionMode,
    remaining: (counts['pending'] ?? 0) + (counts['in_progress'] ?? 0),
    pending: counts['pending'] ?? 0,
    inProgress: counts['in_progress'] ?? 0,
    completed: counts['completed'] ?? 0,
    cancelled: counts['cancelled'] ?? 0,
    waiting: told.blocked,
    counts: told,
    working: working.map(({ id, title, owner, startedAt }) => ({ id, title, owner, startedAt })),
    next: coming.map(({ id, title }) => ({ id, title })),
  }
}

/** The todos of the session that verbs are about unless told otherwise. */
async function backlogOf(caller: Caller) {
  const where = await whereabouts(caller)
  const counts = await caller.store.count(todo, { where })
  if (Object.keys(counts).length === 0) return null
  const working = await caller.store.find(todo, { where, status: ['in_progress'], limit: 20 })
  return {
    ...where,
    counts,
    working: working.map(item => ({ id: qualified(item), title: item.title, owner: item.owner })),
  }
}

async function queueOf(caller: Caller) {
  const counts = await caller.store.count(task, {})
  if (Object.keys(counts).length === 0) return null
  const working = await caller.store.find(task, { status: ['in_progress'], limit: 20 })
  const waiting = await caller.store.find(task, {
    where: { awaiting: 1 },
    status: ['in_progress', 'to_execute'],
    limit: 20,
  })
  return {
    counts,
    working: working.map(({ id, title, owner }) => ({ id, title, owner })),
    waiting: waiting.map(({ id, title }) => ({ id, title })),
  }
}

/** The workers of the session that verbs are about unless told otherwise. */
async function worklogOf(caller: Caller) {
  const where = await whereabouts(caller)
  const counts = await caller.store.count(worklogKind, { where })
  if (Object.keys(counts).length === 0) return null
  const active = await caller.store.find(worklogKind, { where, status: ['active'], limit: 20 })
  return { ...where, counts, active: active.map(({ worker }) => worker) }
}

/** What would happen if the session of a turn stopped now, as far as that is in the store; nothing where all is done. */
async function continuationOf(caller: Caller, of: Turn) {
  const work = await outlookOf(caller, of)
  if (work.open + work.waiting === 0) return undefined
  const { row, standing, off } = await recalled(caller.store, of)
  const config = configFrom(caller.continuation)
  // What only the host knows at that moment is taken to be as usual.
  const usual = { background: 0, recovering: false, asked: false, agent: undefined, mayWrite: true, planning: false }
  const facts = { ...usual, work, off, cut: false, atOnce: true }
  const judgement = judge(standing, facts, config, caller.now().getTime())
  return {
    session: of.conversationId,
    host: row?.host ?? null,
    endedAt: row?.endedAt ?? null,
    goesOn: judgement.go,
    why: judgement.go ? null : judgement.why,
    text: row?.endedAt ? leftBy(work) : foretold(judgement, standing, work, config),
    injections: standing.injections,
  }
}

/** Open plans of other conversations, the newest first. */
async function elsewhere(caller: Caller, here: Turn | undefined) {
  const turns = await caller.store.find(turn, { status: ['open'], newest: true, limit: 20 })
  const found = []
  for (const of of turns.filter(({ id }) => id !== here?.id)) {
    const { open, waiting } = await outlookOf(caller, of)
    if (open + waiting > 0) found.push({ turn: of, remaining: open + waiting })
  }
  return found
}
