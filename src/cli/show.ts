import type { InferOutput } from 'valibot'
import type { start, stop } from '../continuation/operations.ts'
import type { Operation } from '../core/operation.ts'
import { harmless, harmlessLine } from '../core/text.ts'
import type { Check } from '../doctor.ts'
import type { log, status } from '../overview.ts'
import type {
  blockTodo,
  carryTodo,
  completeTodo,
  createTodo,
  listTodo,
  returnTodo,
  startTodo,
  turnTodo,
  unblockTodo,
} from '../plans/operations.ts'
import type { Imported } from '../transfer.ts'
import { type Cell, faint, lines, painter, table } from './table.ts'

type Answer<Op extends Pick<Operation, 'output'>> = InferOutput<ReturnType<Op['output']>>

/** An answer for people: aligned text, colour only on a terminal, never control characters from stored text. */
export function shown(name: string, answer: unknown, { colour }: { readonly colour: boolean }): string {
  const show = Object.hasOwn(SHOWN, name) ? SHOWN[name as keyof typeof SHOWN] : undefined
  return show ? show(answer as never, colour) : harmless(JSON.stringify(answer, null, 2))
}

const painted = painter({
  pending: 'dim',
  in_progress: 'yellow',
  completed: 'green',
  cancelled: 'dim',
  ok: 'green',
  fixed: 'yellow',
  WRONG: 'red',
})

const SHOWN = {
  create_todo: ({ created, remaining }: Answer<typeof createTodo>, colour: boolean) =>
    lines(table(created.map(numbered), colour), leftOver(remaining)),

  list_todo({ items, summary, more }: Answer<typeof listTodo>, colour: boolean) {
    const rows = items.map(item => [
      `${item.priority + 1}.`,
      painted(item.status),
      item.title,
      faint(about(item)),
      item.outcome === null ? '' : faint(`— ${item.outcome.slice(0, 100)}`),
    ])
    const { pending, inProgress, completed, cancelled } = summary
    const counts = Object.entries({ pending, 'in progress': inProgress, completed, cancelled }).filter(([, n]) => n > 0)
    return lines(
      table(rows, colour),
      more > 0 ? `${more} more; --all shows everything` : '',
      counts.length > 0 ? counts.map(([what, n]) => `${n} ${what}`).join(', ') : 'No plan yet.',
    )
  },

  start_todo: (answer: Answer<typeof startTodo>, colour: boolean) => moved(answer, colour),

  complete_todo: (answer: Answer<typeof completeTodo>, colour: boolean) => moved(answer, colour),

  carry_todo: ({ carried, from, to, remaining }: Answer<typeof carryTodo>, colour: boolean) =>
    lines(
      table(carried.map(numbered), colour),
      harmlessLine(`carried from turn ${from} to turn ${to}; ${leftOver(remaining)}`),
    ),

  turn_todo({ turn, remaining }: Answer<typeof turnTodo>, colour: boolean) {
    if (!turn) return 'No turn is open; the first plan begins one.'
    const { conversationId, turnId, status: state, completion, check } = turn
    const facts = { turn: turnId, conversation: conversationId, status: state, completion, check: check?.join(' ') }
    const known = Object.entries(facts).filter(([, value]) => value !== undefined)
    return lines(
      table(
        known.map(([name, value]) => [name, value ?? '']),
        colour,
      ),
      leftOver(remaining),
    )
  },

  block_todo: (answer: Answer<typeof blockTodo>, colour: boolean) => moved(answer, colour),

  unblock_todo: (answer: Answer<typeof unblockTodo>, colour: boolean) => moved(answer, colour),

  return_todo: (answer: Answer<typeof returnTodo>, colour: boolean) => moved(answer, colour),

  stop_continuation: (answer: Answer<typeof stop>) => switchedOff(answer),

  start_continuation: (answer: Answer<typeof start>) => switchedOff(answer),

  status(answer: Answer<typeof status>, colour: boolean) {
    const { root, plan, elsewhere, continuation, backlog, queue, worklog } = answer
    const counts = plan && [
      `${plan.pending} pending`,
      `${plan.inProgress} in progress`,
      plan.counts.verified > 0
        ? `${plan.completed} completed (${plan.counts.verified} verified)`
        : `${plan.completed} completed`,
      `${plan.cancelled} cancelled`,
      ...(plan.counts.blocked > 0 ? [`${plan.counts.blocked} blocked`] : []),
    ]
    return lines(
      harmlessLine(`workspace ${root}`),
      plan && counts ? harmlessLine(`plan of turn ${plan.turnId}: ${counts.join(', ')}`) : 'no plan is open here',
      table(
        (plan?.working ?? []).map(({ title, owner }) => ['  in progress', title, owner ? `(${owner})` : '']),
        colour,
      ),
      table(
        (plan?.next ?? []).map(({ title }) => ['  next', title]),
        colour,
      ),
      ...elsewhere.map(({ conversationId, turnId, remaining }) =>
        harmlessLine(`also open: ${remaining} in turn ${turnId} of conversation ${conversationId}`),
      ),
      ...continuation
        .filter(({ goesOn, host }) => !goesOn || host !== null)
        .map(({ session, text }) =>
          harmlessLine(session === plan?.conversationId ? `  ${text}` : `session ${session}: ${text}`),
        ),
      backlog ? harmlessLine(`backlog of ${backlog.workflow}/${backlog.session}: ${told(backlog.counts)}`) : '',
      table(
        (backlog?.working ?? []).map(({ id, title, owner }) => ['  in progress', id, title, owner ? `(${owner})` : '']),
        colour,
      ),
      queue ? `queue: ${told(queue.counts)}` : '',
      table(
        (queue?.working ?? []).map(({ id, title, owner }) => ['  in progress', id, title, owner ? `(${owner})` : '']),
        colour,
      ),
      table(
        (queue?.waiting ?? []).map(({ id, title }) => ['  waits for a reply', id, title]),
        colour,
      ),
      worklog ? harmlessLine(`workers of ${worklog.workflow}/${worklog.session}: ${told(worklog.counts)}`) : '',
      worklog && worklog.active.length > 0 ? harmlessLine(`  active  ${worklog.active.join(', ')}`) : '',
    )
  },

  log({ events }: Answer<typeof log>, colour: boolean) {
    const rows = events.map(({ seq, at, by, kind, title, from, to, why }) => [
      faint(String(seq)),
      at.replace('T', ' ').slice(0, 19),
      by,
      kind.replaceAll('_', ' '),
      from === to ? to : `${from ?? '—'} → ${to}`,
      title,
      why === null ? '' : faint(`— ${why.slice(0, 100)}`),
    ])
    return table(rows, colour) || 'Nothing has happened yet.'
  },

  doctor: ({ checks }: { readonly checks: readonly Check[] }, colour: boolean) =>
    table(
      checks.map(({ check, ok, fixed, detail, hint }) => [
        painted(fixed ? 'fixed' : ok ? 'ok' : 'WRONG'),
        check,
        detail,
        hint,
      ]),
      colour,
    ),

  export: ({ items, to }: { readonly items: number; readonly to: string }) =>
    harmlessLine(`${items} ${items === 1 ? 'item' : 'items'} in ${to}`),

  import: ({ added, known, checks = 0 }: Omit<Imported, 'checks'> & Partial<Imported>) =>
    `${added} added${known > 0 ? `, ${known} were there already` : ''}${checks > 0 ? `\n${checks} of its check commands are run only once you accept them: punchlist trust` : ''}`,

  init: ({ root, made }: { readonly root: string; readonly made: readonly string[] }) =>
    lines(
      harmlessLine(`workspace ${root}`),
      ...made.map(path => harmlessLine(`made ${path}`)),
      made.length === 0 ? 'everything was there already' : '',
    ),
}

type Moved = Answer<typeof startTodo | typeof completeTodo | typeof blockTodo | typeof unblockTodo | typeof returnTodo>

function moved(answer: Moved, colour: boolean): string {
  const { title, status: state, remaining, next } = answer
  const verified = 'verifiedAt' in answer && answer.verifiedAt !== null ? '(verified)' : ''
  const note = 'needs' in answer ? faint(`waits for: ${answer.needs}`) : verified
  const then = next[0] ? harmlessLine(`; next: ${next[0].title}`) : ''
  return lines(table([[painted(state), title, note]], colour), `${leftOver(remaining)}${then}`)
}

function numbered({ order, title }: { readonly order: number; readonly title: string }): (Cell | string)[] {
  return [`${order}.`, painted('pending'), title]
}

function told(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name.replace('_', ' ')}`)
    .join(', ')
}

function about({ status: state, owner, verifiedAt, needs }: Answer<typeof listTodo>['items'][number]): string {
  if (needs !== null) return `(waits for: ${needs.slice(0, 100)})`
  if (state === 'in_progress' && owner) return `(${owner})`
  return verifiedAt ? '(verified)' : ''
}

function switchedOff({ session, continuation, off, offForAll }: Answer<typeof stop>): string {
  const rest = off.filter(name => name !== session)
  return lines(
    harmlessLine(`continuation is ${continuation} ${session === null ? 'for all' : `for session ${session}`}`),
    session !== null && offForAll ? 'it is off for all: punchlist start' : '',
    rest.length > 0 ? harmlessLine(`off by themselves: ${rest.join(', ')}`) : '',
  )
}

function leftOver(remaining: number): string {
  return remaining === 0 ? 'nothing remains' : `${remaining} ${remaining === 1 ? 'remains' : 'remain'}`
}
