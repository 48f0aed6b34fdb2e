import type { InferOutput } from 'valibot'
import type { Operation } from '../core/operation.ts'
import { harmless, harmlessLine } from '../core/text.ts'
import type { queueMigrate } from '../migration.ts'
import type * as queue from '../queue/operations.ts'
import type * as reports from '../queue/reports.ts'
import { type Cell, faint, lines, painter, table } from './table.ts'

type Answer<Op extends Pick<Operation, 'output'>> = InferOutput<ReturnType<Op['output']>>
type Shown = Answer<typeof queue.queueClaim>['task']
type Node = Answer<typeof reports.queueTree>['tree'][number]

/** A queue answer for people. */
export function shown(name: string, answer: unknown, { colour }: { readonly colour: boolean }): string {
  const show = Object.hasOwn(SHOWN, name) ? SHOWN[name as keyof typeof SHOWN] : undefined
  return show ? show(answer as never, colour) : table([row((answer as { task: Shown }).task)], colour)
}

const painted = painter({
  staged: 'dim',
  to_execute: 'cyan',
  in_progress: 'yellow',
  completed: 'green',
  error: 'red',
  cancelled: 'dim',
  waiting: 'magenta',
})

const SHOWN = {
  queue_add: ({ task, tasks = [task] }: Answer<typeof queue.queueAdd>, colour: boolean) =>
    table(
      tasks.map(one => [...row(one), faint(one.dir ?? '')]),
      colour,
    ),

  queue_claim: ({ task, tasks = [task] }: Answer<typeof queue.queueClaim>, colour: boolean) =>
    table(
      tasks.map(one => [...row(one).slice(0, 4), faint(claimOf(one)), faint(one.dir ?? '')]),
      colour,
    ),

  queue_heartbeat: ({ task }: Answer<typeof queue.queueHeartbeat>, colour: boolean) =>
    table([[...row(task).slice(0, 4), faint(claimOf(task))]], colour),

  queue_complete: ({ task, tasks = [task] }: Answer<typeof queue.queueComplete>, colour: boolean) =>
    table(tasks.map(row), colour),

  queue_cancel: ({ task, parts }: Answer<typeof queue.queueCancel>, colour: boolean) =>
    lines(table([row(task)], colour), parts.length > 0 ? `with its parts ${parts.join(', ')}` : ''),

  queue_list({ tasks, more }: Answer<typeof reports.queueList>, colour: boolean) {
    const counts = new Map<string, number>()
    for (const { state } of tasks) counts.set(state, (counts.get(state) ?? 0) + 1)
    const summary = [...counts].map(([state, n]) => `${n} ${state.replace('_', ' ')}`).join(', ')
    return lines(
      table(tasks.map(row), colour),
      more > 0 ? `${more} more; --all shows everything` : '',
      tasks.length > 0 ? summary : 'No tasks here.',
    )
  },

  queue_show({ task }: Answer<typeof reports.queueShow>, colour: boolean) {
    const { id, title, state, description, expect, waitsFor, texts, history, waived, waiting, claimed, ...rest } = task
    const facts = Object.entries(rest).filter(([, value]) => value !== null && value !== 0 && String(value) !== '')
    const more = Object.entries(MORE).flatMap(([name, heading]) => {
      const text = task[name as keyof typeof MORE]
      return text === null ? [] : [`\n${heading}\n${harmless(text)}`]
    })
    return lines(
      table([[id, painted(state), title, waiting ? painted('waiting') : faint(claimed ? '(claimed)' : '')]], colour),
      table(
        facts
          .filter(([name]) => !Object.hasOwn(MORE, name))
          .map(([name, value]) => [faint(`  ${name}`), Array.isArray(value) ? value.join(', ') : String(value)]),
        colour,
      ),
      table(
        waitsFor.map(one => ['  waits for', one.id, painted(one.state), one.title]),
        colour,
      ),
      ...Object.entries(waived).map(([part, why]) => harmlessLine(`  goes on without ${part}: ${why}`)),
      `\nTask Description\n${harmless(description)}`,
      `\nExpected Response\n${harmless(expect)}`,
      ...more,
      ...Object.entries(texts).map(([name, text]) => `\n${harmlessLine(name)}\n${harmless(text.trimEnd())}`),
      '',
      table(
        history.map(({ at, from, to, by, why }) => [
          at.replace('T', ' ').slice(0, 19),
          by,
          from === to ? to : `${from ?? '—'} → ${to}`,
          faint(why ?? ''),
        ]),
        colour,
      ),
    )
  },

  queue_tree({ tree, more }: Answer<typeof reports.queueTree>, colour: boolean) {
    const rows = tree.flatMap(node => branch(node, ''))
    return lines(table(rows, colour) || 'No tasks here.', more > 0 ? `more at the top; --limit shows them` : '')
  },

  queue_recover({ recovered, stale }: Answer<typeof reports.queueRecover>, colour: boolean) {
    return lines(
      table(
        recovered.map(({ id, from, to, what }) => [id, `${from} → ${to}`, what]),
        colour,
      ),
      recovered.length === 0 ? 'There was nothing to recover.' : '',
      table(
        stale.map(({ id, owner, since, what }) => ['stale', id, owner ?? '', since ?? '', what]),
        colour,
      ),
    )
  },

  queue_migrate({ changes, applied, refused }: Answer<typeof queueMigrate>, colour: boolean) {
    return lines(
      table(
        changes.map(({ from, to, why }) => [from, '→', to ?? '', faint(why)]),
        colour,
      ),
      ...refused.map(({ from, why }) => harmlessLine(`refused: ${from}: ${why}`)),
      changes.length === 0
        ? 'There is nothing to migrate.'
        : applied
          ? ''
          : 'Nothing was changed yet; --apply does it.',
    )
  },
}

const MORE = {
  entryCriteria: 'Entry Criteria',
  exitCriteria: 'Exit Criteria',
  subtasks: 'Subtasks',
  notes: 'Notes',
} as const

/** One task in a list: id, priority, state, title, whose it is. */
function row(task: Shown): (Cell | string)[] {
  const { id, priority, state, title, owner, waiting, blockers, verifiedAt, claimed } = task
  const seen = verifiedAt === null ? (claimed ? '(claimed)' : '') : '(verified)'
  const whose = state === 'in_progress' ? `(${owner ?? 'no lease'})` : ''
  const kept = blockers > 0 && OPEN.has(state) ? `waits for ${blockers}` : ''
  return [
    id,
    priority,
    painted(state),
    title,
    faint([whose, waiting ? 'waits for a reply' : kept, seen].filter(Boolean).join(' ')),
  ]
}

const OPEN = new Set(['staged', 'to_execute', 'in_progress', 'error'])

function claimOf({ owner, token, leaseUntil }: Shown): string {
  return `(${owner ?? ''}, token ${token}${leaseUntil ? `, until ${leaseUntil.slice(11, 19)} UTC` : ''})`
}

function branch(node: Node, indent: string): (Cell | string)[][] {
  const { id, title, state, owner, waiting, progress, waived } = node
  const { completed, waived: left, total } = progress
  const done = total > 0 ? `${completed}/${total}${left > 0 ? `, ${left} waived` : ''}` : ''
  const said = [
    state === 'in_progress' ? (owner ?? 'no lease') : '',
    waiting ? 'waits for a reply' : '',
    waived ? 'waived' : '',
  ]
  return [
    [`${indent}${id}`, painted(state), title, done, faint(said.filter(Boolean).join(', '))],
    ...(node.children as Node[]).flatMap(child => branch(child, `${indent}  `)),
  ]
}
