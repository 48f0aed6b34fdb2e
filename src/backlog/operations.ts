import * as v from 'valibot'
import { described, line, parsedJson, prose } from '../core/input.ts'
import { endedSession, sessional, whereabouts, workflow } from '../core/session.ts'
import { addTodos, reopenTodo } from './adding.ts'
import { about, finished, page, paged, told, views, warnings } from './answering.ts'
import { id, ids, lasting, lease, priority, reason, source, todoName, token, worker } from './asking.ts'
import { claimTodo, interruptTodo, nextTodo, releaseTodo, unblockTodo } from './claiming.ts'
import { approveTodo, completeTodo, dismissTodo, logWork } from './deciding.ts'
import { blockTodo } from './dependencies.ts'
import { hasHistory } from './file/body.ts'
import { todo } from './kind.ts'
import { DISMISSALS, PRIORITIES, RESOLUTIONS, type Todo } from './record.ts'
import { interruptedTodos, removeSession, resumeTodos, sweepSession } from './sessions.ts'
import { requireOne } from './short-ids.ts'
import { AT_A_TIME, DECISIONS, reprioritise, triageTodos, untriaged } from './triage.ts'
import { todoShape, viewOf } from './view.ts'

/** A duplicate names another todo: that is said when it is dismissed. */
const NEW_RESOLUTIONS = RESOLUTIONS.filter(name => name !== 'duplicate')

const newTodo = () => ({
  title: v.pipe(line(300), v.description('what is wrong or to be done, in one line')),
  source: source(),
  priority: priority(),
  status: described(v.picklist(['pending', 'ready', 'complete']), 'pending if absent'),
  resolution: described(v.picklist(NEW_RESOLUTIONS), 'what came of one that is complete'),
  reason: reason('why, or what was done, of one that is complete'),
  findingId: described(line(200), 'with sourceRef, makes adding it twice safe'),
  sourceRef: described(line(400), 'the document the finding stands in'),
  severity: described(line(50), 'as the finding has it'),
  dependsOn: ids('todos that must be complete first'),
  files: described(v.pipe(v.array(line(1000)), v.maxLength(500, 'must be at most 500')), 'files it is about'),
  tags: described(v.pipe(v.array(line(100)), v.maxLength(100, 'must be at most 100')), 'tags'),
  body: described(
    v.pipe(
      prose(500_000),
      v.check(text => !hasHistory(text), 'must have no section Status History: it is kept for you'),
    ),
    'markdown: sections, or the problem in words',
  ),
})

export const backlogAdd = sessional({
  name: 'backlog_add',
  command: 'backlog add',
  tools: 'backlog',
  summary: 'Add findings or todos to the backlog. A finding that is there already is given back, not added again.',
  example: 'punchlist backlog add "Escape user input in the report" --source review --priority p1 --file src/report.ts',
  input: () =>
    v.object({
      items: v.pipe(
        v.array(v.object(newTodo())),
        v.minLength(1, 'must have at least one item'),
        v.maxLength(5000, 'must have at most 5000 items'),
      ),
      ...workflow(),
    }),
  output: () =>
    v.object({
      created: v.boolean(),
      todo: todoShape(),
      results: v.optional(
        v.pipe(v.array(v.object({ created: v.boolean(), todo: todoShape() })), v.description('of a batch, in order')),
      ),
    }),
  positional: ['title'],
  form: {
    args: () => {
      const { title, source: from, files, tags, body: _, ...rest } = newTodo()
      return v.object({
        title: v.optional(title),
        source: v.optional(from),
        ...rest,
        file: files,
        tag: tags,
        body: described(v.string(), 'markdown file, or - for standard input'),
        items: described(v.string(), 'JSON file with {"items":[…]}, or - for standard input'),
        ...workflow(),
      })
    },
    async input({ items, workflow: flow, session: _, file, tag, body, ...single }, read) {
      const given = Object.entries(single).filter(([, value]) => value !== undefined)
      if (typeof items === 'string')
        return {
          ...(parsedJson(await read(items), items, 'Send one JSON document, as --help describes it.') as object),
          workflow: flow,
        }
      const item = { ...Object.fromEntries(given), files: file, tags: tag }
      return {
        items: [typeof body === 'string' ? { ...item, body: (await read(body)).replace(/^\uFEFF/, '') } : item],
        workflow: flow,
      }
    },
  },
  async run(caller, { items, workflow: flow }) {
    const added = await addTodos(caller, await whereabouts(caller, flow), items)
    const results = added.map(({ created, item }) => ({ created, todo: viewOf(caller, item) }))
    const answer = { created: results.some(({ created }) => created), todo: results[0]!.todo }
    return results.length > 1 ? { ...answer, results } : answer
  },
})

export const backlogNext = sessional({
  name: 'backlog_next',
  command: 'backlog next',
  tools: 'backlog',
  summary: "Say what to work on next, or why nothing is; with claim, make it the caller's in one step.",
  example: 'punchlist backlog next --claim',
  readOnly: input => !(input as { claim?: boolean }).claim,
  input: () => v.object({ claim: described(v.boolean(), 'claim it'), ...worker(), ...lease(), ...workflow() }),
  output: () => v.object({ todo: todoShape(), ...warnings() }),
  async run(caller, { claim, as, lease: held, workflow: flow }) {
    const where = await whereabouts(caller, flow)
    const item = await nextTodo(caller, where, claim ? { as, leaseMs: lasting(held) } : undefined)
    return { todo: viewOf(caller, item), warnings: await caller.store.unreadable(todo, where) }
  },
})

const decision = () =>
  v.object({
    ...id(),
    decision: v.picklist(DECISIONS),
    reason: reason('why; needed unless approved or deferred'),
    of: described(todoName(), 'the todo it duplicates'),
    priority: described(v.picklist(PRIORITIES), 'sets it'),
  })

export const backlogTriage = sessional({
  name: 'backlog_triage',
  command: 'backlog triage',
  tools: 'backlog',
  summary: 'Decide about pending todos; without decisions, show the ten most pressing that wait for one.',
  example: 'punchlist backlog triage --decisions decisions.json',
  readOnly: input => !(input as { decisions?: unknown }).decisions,
  input: () =>
    v.object({
      decisions: v.optional(v.pipe(v.array(decision()), v.maxLength(1000, 'must be at most 1000'))),
      ...workflow(),
    }),
  output: () =>
    v.object({
      triaged: v.array(v.object({ id: v.string(), decision: v.string(), status: v.string() })),
      refused: v.array(v.object({ id: v.string(), code: v.string(), message: v.string(), hint: v.string() })),
      ...page(),
    }),
  form: {
    args: () =>
      v.object({
        decisions: described(
          v.string(),
          'JSON file with {"decisions":[{"id","decision","reason"}…]}, or - for standard input',
        ),
        ...workflow(),
      }),
    async input({ decisions: file, workflow: flow }, read) {
      if (typeof file !== 'string') return { workflow: flow }
      const json = parsedJson(await read(file), file, 'Send one JSON document, as --help describes it.')
      return Array.isArray(json)
        ? { decisions: json as unknown[], workflow: flow }
        : { ...(json as object), workflow: flow }
    },
  },
  async run(caller, { decisions = [], workflow: flow }) {
    const where = await whereabouts(caller, flow)
    const outcome = await triageTodos(caller, where, decisions)
    const waiting = await untriaged(caller, where)
    const first = waiting.slice(0, AT_A_TIME)
    return { ...outcome, ...(await paged(caller, where, views(caller, first), waiting.length - first.length, false)) }
  },
})

export const backlogApprove = sessional({
  name: 'backlog_approve',
  command: 'backlog approve',
  tools: 'backlog',
  summary: 'Approve a pending todo for work.',
  example: 'punchlist backlog approve review/001',
  input: () =>
    v.object({ ...id(), priority: described(v.picklist(PRIORITIES), 'sets it'), reason: reason('why'), ...workflow() }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, priority: wanted, reason: why, workflow: flow }) {
    const item = await requireOne(caller, flow, name)
    const approved = await approveTodo(caller, item, why)
    return told(caller, wanted === undefined ? approved : await reprioritise(caller, approved, wanted))
  },
})

export const backlogDismiss = sessional({
  name: 'backlog_dismiss',
  command: 'backlog dismiss',
  tools: 'backlog',
  summary: 'Say that a todo will not be done, and why.',
  example: 'punchlist backlog dismiss review/002 --as duplicate --of review/001 --reason "the same line"',
  input: () =>
    v.object({
      ...id(),
      as: described(v.picklist(DISMISSALS), 'what it is'),
      reason: reason('why'),
      of: described(todoName(), 'the todo it duplicates, or that takes its place'),
      ...token(),
      ...workflow(),
    }),
  output: () => v.object({ todo: todoShape(), freed: v.array(v.string()) }),
  positional: ['id'],
  async run(caller, { id: name, as, reason: why, of, token: own, workflow: flow }) {
    const repeats = (item: Todo) =>
      item.status === 'wont_fix' && item.resolved_by === caller.by && item.resolution_reason === why
    const item = await requireOne(caller, flow, name, { token: own, repeats })
    return finished(caller, await dismissTodo(caller, item, { resolution: as, reason: why, of, token: own }))
  },
})

export const backlogClaim = sessional({
  name: 'backlog_claim',
  command: 'backlog claim',
  tools: 'backlog',
  summary: "Make a ready todo one worker's. Claiming one's own again renews the lease.",
  example: 'punchlist backlog claim review/001 --as worker-1',
  input: () =>
    v.object({
      ...id(),
      ...worker(),
      ...lease(),
      triage: described(v.boolean(), 'approve it first if it is pending'),
      without: ids('dependencies that turned out not to be needed'),
      reason: reason('why it goes on without them'),
      ...workflow(),
    }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, lease: held, workflow: flow, ...claiming }) {
    const item = await requireOne(caller, flow, name, claiming)
    return told(caller, await claimTodo(caller, item, { ...claiming, leaseMs: lasting(held) }))
  },
})

export const backlogRelease = sessional({
  name: 'backlog_release',
  command: 'backlog release',
  tools: 'backlog',
  summary: 'Give a claimed todo back, so that anyone may take it.',
  example: 'punchlist backlog release review/001',
  input: () => v.object({ ...id(), reason: reason('why'), ...token(), ...workflow() }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, reason: why, token: own, workflow: flow }) {
    return told(
      caller,
      await releaseTodo(caller, await requireOne(caller, flow, name, { token: own }), { token: own }, why),
    )
  },
})

export const backlogComplete = sessional({
  name: 'backlog_complete',
  command: 'backlog complete',
  tools: 'backlog',
  summary: 'Say that a todo is done, and what was done about it.',
  example: 'punchlist backlog complete review/001 --reason "escaped in report.ts, test added"',
  input: () =>
    v.object({
      ...id(),
      reason: reason('what was done'),
      resolution: described(v.picklist(RESOLUTIONS), 'fixed if absent; others only for a todo nobody worked on'),
      of: described(todoName(), 'the todo it duplicates'),
      without: ids('dependencies that turned out not to be needed'),
      ...token(),
      ...workflow(),
    }),
  output: () => v.object({ todo: todoShape(), freed: v.array(v.string()) }),
  positional: ['id'],
  async run(caller, { id: name, workflow: flow, ...resolving }) {
    const { token: own, reason: why } = resolving
    const repeats = (item: Todo) =>
      item.status === 'complete' && item.completed_by === caller.by && item.resolution_reason === why
    const item = await requireOne(caller, flow, name, { token: own, repeats })
    return finished(caller, await completeTodo(caller, item, resolving))
  },
})

export const backlogBlock = sessional({
  name: 'backlog_block',
  command: 'backlog block',
  tools: 'backlog',
  summary: 'Say that a todo waits for others. Its owner keeps it.',
  example: 'punchlist backlog block review/001 --on work/003',
  input: () => v.object({ ...id(), on: ids('what it waits for'), ...token(), ...workflow() }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, on = [], token: own, workflow: flow }) {
    return told(
      caller,
      await blockTodo(caller, await requireOne(caller, flow, name, { token: own }), on, { token: own }),
    )
  },
})

export const backlogUnblock = sessional({
  name: 'backlog_unblock',
  command: 'backlog unblock',
  tools: 'backlog',
  summary: 'Go on with a blocked todo whose dependencies are complete, or without those that are not needed.',
  example: 'punchlist backlog unblock review/001',
  input: () =>
    v.object({
      ...id(),
      without: ids('dependencies that turned out not to be needed'),
      ...worker(),
      ...lease(),
      ...token(),
      ...workflow(),
    }),
  output: () => v.object({ todo: todoShape(), notes: v.array(v.string()) }),
  positional: ['id'],
  async run(caller, { id: name, without, as, lease: held, token: own, workflow: flow }) {
    const item = await requireOne(caller, flow, name, { as, token: own })
    const claiming = { as, token: own, leaseMs: lasting(held), without }
    const { todo: freed, warnings: notes } = await unblockTodo(caller, item, claiming)
    return { ...told(caller, freed), notes }
  },
})

export const backlogInterrupt = sessional({
  name: 'backlog_interrupt',
  command: 'backlog interrupt',
  tools: 'backlog',
  summary: 'Stop work on a todo; it can be resumed later.',
  example: 'punchlist backlog interrupt review/001 --reason "the session ends"',
  input: () =>
    v.object({ ...id(), reason: reason('why; that the session ended, if absent'), ...token(), ...workflow() }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, reason: why, token: own, workflow: flow }) {
    return told(
      caller,
      await interruptTodo(caller, await requireOne(caller, flow, name, { token: own }), { token: own }, why),
    )
  },
})

export const backlogResume = sessional({
  name: 'backlog_resume',
  command: 'backlog resume',
  tools: 'backlog',
  summary: 'Bring an interrupted todo back to ready; without an id, all of the session.',
  example: 'punchlist backlog resume --session monday',
  input: () => v.object({ id: v.optional(id().id), ...workflow() }),
  output: () => v.object({ todo: v.optional(todoShape()), todos: v.array(todoShape()) }),
  positional: ['id'],
  async run(caller, { id: name, workflow: flow }) {
    const wanted = name === undefined ? await interruptedTodos(caller, flow) : [await requireOne(caller, flow, name)]
    const todos = views(caller, await resumeTodos(caller, wanted))
    return name === undefined ? { todos } : { todo: todos[0], todos }
  },
})

export const backlogReopen = sessional({
  name: 'backlog_reopen',
  command: 'backlog reopen',
  tools: 'backlog',
  summary: 'Make a new todo of a finished one, each linked to the other.',
  example: 'punchlist backlog reopen review/001 --reason "it came back"',
  input: () => v.object({ ...id(), reason: reason('why'), ...workflow() }),
  output: () => v.object({ created: v.boolean(), todo: todoShape() }),
  positional: ['id'],
  async run(caller, { id: name, reason: why, workflow: flow }) {
    const { created, item } = await reopenTodo(caller, await requireOne(caller, flow, name, { finished: true }), why)
    return { created, ...told(caller, item) }
  },
})

export const backlogLog = sessional({
  name: 'backlog_log',
  command: 'backlog log',
  tools: 'backlog',
  summary: 'Add an entry to the work log of a todo.',
  example: 'punchlist backlog log review/001 "Reproduced it with a title of 5 KB" --phase investigation',
  input: () =>
    v.object({
      ...id(),
      text: v.pipe(prose(20_000), v.trim(), v.nonEmpty('must not be empty'), v.description('what was done')),
      phase: described(line(100), 'part of the work; the status if absent'),
      learning: described(v.pipe(v.array(prose(4000)), v.maxLength(100, 'must be at most 100')), 'what was learnt'),
      ...token(),
      ...workflow(),
    }),
  output: about,
  positional: ['id', 'text'],
  async run(caller, { id: name, text, phase, learning, token: own, workflow: flow }) {
    const item = await requireOne(caller, flow, name, { token: own })
    return told(caller, await logWork(caller, item, { text, phase, learnings: learning, token: own }))
  },
})

export const backlogSweep = sessional({
  name: 'backlog_sweep',
  command: 'backlog sweep',
  tools: 'backlog',
  summary: 'End a session: its claims are interrupted, other sessions are left alone.',
  example: 'punchlist backlog sweep --session monday',
  input: () =>
    v.object({
      ...workflow(),
      remove: described(v.boolean(), 'take its todos away instead; refused while a claim is live'),
    }),
  toolInput: () => v.object(workflow()),
  output: () =>
    v.object({
      interrupted: v.array(todoShape()),
      released: v.array(todoShape()),
      removed: v.nullable(v.object({ count: v.number(), to: v.nullable(v.string()) })),
    }),
  async run(caller, { workflow: flow, remove = false }) {
    const where = { workflow: flow ?? 'work', session: endedSession(caller) }
    const none: { interrupted: Todo[]; released: Todo[] } = { interrupted: [], released: [] }
    const { interrupted, released } = remove ? none : await sweepSession(caller, where.session, flow && [flow])
    const removed = remove ? await removeSession(caller, where) : null
    return { interrupted: views(caller, interrupted), released: views(caller, released), removed }
  },
})
