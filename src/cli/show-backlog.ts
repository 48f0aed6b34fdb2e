import type { InferOutput } from 'valibot'
import type * as backlog from '../backlog/operations.ts'
import type * as reports from '../backlog/reports.ts'
import type { Operation } from '../core/operation.ts'
import { harmless, harmlessLine } from '../core/text.ts'
import { type Cell, faint, lines, painter, table } from './table.ts'

type Answer<Op extends Pick<Operation, 'output'>> = InferOutput<ReturnType<Op['output']>>
type Shown = Answer<typeof backlog.backlogClaim>['todo']
type Listed = Page['todos'][number]
type Page = Answer<typeof reports.backlogList>

/** A backlog answer for people. */
export function shown(name: string, answer: unknown, { colour }: { readonly colour: boolean }): string {
  const show = Object.hasOwn(SHOWN, name) ? SHOWN[name as keyof typeof SHOWN] : undefined
  if (show) return show(answer as never, colour)
  const { todo, freed = [], notes = [] } = answer as { todo: Shown; freed?: string[]; notes?: string[] }
  return lines(
    moved(todo, colour),
    ...notes.map(note => harmlessLine(note)),
    freed.length > 0 ? `nothing keeps ${freed.join(', ')} any longer` : '',
  )
}

const painted = painter({
  ready: 'cyan',
  in_progress: 'yellow',
  complete: 'green',
  blocked: 'red',
  interrupted: 'magenta',
  pending: 'dim',
  wont_fix: 'dim',
})

const SHOWN = {
  backlog_add({ created, todo, results = [] }: Answer<typeof backlog.backlogAdd>, colour: boolean) {
    const all = results.length > 0 ? results : [{ created, todo }]
    return table(
      all.map(one => [...row(one.todo), faint(one.created ? one.todo.path : 'was there already')]),
      colour,
    )
  },

  backlog_list: (answer: Page, colour: boolean) => page(answer, colour, 'No todos here.'),

  backlog_search: (answer: Page, colour: boolean) => page(answer, colour, 'Nothing was found.'),

  backlog_show({ todo }: Answer<typeof reports.backlogShow>, colour: boolean) {
    const { id, title, status, body, history, ...rest } = todo
    const facts = Object.entries(rest).filter(
      ([name, value]) => value !== null && value !== '' && String(value) !== '' && !UNTOLD.has(name),
    )
    const moves = history.map(({ at, from, to, by, why }) => [
      at.replace('T', ' ').slice(0, 19),
      by,
      `${from ?? '—'} → ${to}`,
      faint(why ?? ''),
    ])
    return lines(
      table([[id, painted(status ?? ''), title]], colour),
      table(
        facts.map(([name, value]) => [faint(`  ${name}`), Array.isArray(value) ? value.join(', ') : String(value)]),
        colour,
      ),
      `\n${harmless(body)}\n`,
      table(moves, colour),
    )
  },

  backlog_triage(answer: Answer<typeof backlog.backlogTriage>, colour: boolean) {
    const { triaged, refused, todos, more } = answer
    return lines(
      table(
        triaged.map(({ id, decision, status }) => [id, decision, painted(status)]),
        colour,
      ),
      ...refused.map(({ id, message, hint }) => harmlessLine(`${id} refused: ${message}. ${hint}`)),
      todos.length > 0 ? `${todos.length + more} wait for a decision:` : 'Nothing waits for a decision.',
      table(todos.map(row), colour),
      more > 0 ? `${more} more after these` : '',
    )
  },

  backlog_resume: ({ todos }: Answer<typeof backlog.backlogResume>, colour: boolean) =>
    table(todos.map(row), colour) || 'Nothing was interrupted.',

  backlog_reopen: ({ created, todo }: Answer<typeof backlog.backlogReopen>, colour: boolean) =>
    table([[...row(todo), faint(created ? todo.path : 'was reopened already')]], colour),

  backlog_sweep({ interrupted, released, removed }: Answer<typeof backlog.backlogSweep>, colour: boolean) {
    if (removed) {
      const where = removed.to === null ? '' : `; they lie in ${removed.to} now`
      return harmlessLine(`${removed.count} ${removed.count === 1 ? 'todo' : 'todos'} removed${where}`)
    }
    return lines(
      table([...interrupted, ...released].map(row), colour),
      interrupted.length + released.length === 0 ? 'Nobody worked in this session.' : '',
    )
  },

  backlog_stale({ stale, quiet }: Answer<typeof reports.backlogStale>, colour: boolean) {
    const told = [...stale, ...quiet.map(one => ({ ...one, kind: 'quiet', detail: 'nothing was written for a while' }))]
    const rows = told.map(({ id, kind, since, title, workflow, session, detail }) => [
      `${workflow}/${session}/${id}`,
      kind,
      since.replace('T', ' ').slice(0, 19),
      title,
      faint(detail),
    ])
    return table(rows, colour) || 'Nothing is stale.'
  },

  backlog_graph({ todos, cycles }: Answer<typeof reports.backlogGraph>, colour: boolean) {
    const known = new Map(todos.map(one => [one.id, one]))
    const rows = todos
      .filter(({ dependsOn }) => dependsOn.length > 0)
      .flatMap(one => [
        [one.id, painted(one.status), one.title],
        ...one.dependsOn.map(id => [
          `  <- ${id}`,
          painted(known.get(id)?.status ?? 'missing'),
          known.get(id)?.title ?? '',
        ]),
      ])
    return lines(
      table(rows, colour) || 'Nothing waits for anything.',
      ...cycles.map(cycle => `in a circle: ${cycle.join(' -> ')}`),
    )
  },
}

/** Told elsewhere on the page, or of no use to people. */
const UNTOLD = new Set(['schema_version', 'issue_id', 'source', 'created', 'updated', 'token', 'workflow', 'session'])

function moved(todo: Shown, colour: boolean): string {
  const { status, assigned_to: worker, token, leaseUntil } = todo
  const until = leaseUntil ? `, until ${leaseUntil.slice(11, 16)} UTC` : ''
  const claim = status === 'in_progress' && worker ? faint(`(${worker}, token ${token}${until})`) : ''
  return table([[...row(todo).slice(0, 4), claim]], colour)
}

/** One todo in a list: id, priority, status, title, whose it is. */
function row({ id, priority, status, title = '', assigned_to: worker }: Listed): (Cell | string)[] {
  const whose = worker && (status === 'in_progress' || status === 'blocked') ? `(${worker})` : ''
  return [id, priority ?? '', painted(status ?? ''), title, faint(whose)]
}

/** The same without what only colours need: a list may have thousands. */
function plainRow({ id, priority, status, title = '', assigned_to: worker }: Listed): string[] {
  const whose = worker && (status === 'in_progress' || status === 'blocked') ? `(${worker})` : ''
  return [id, priority ?? '', status ?? '', title, whose]
}

function page({ todos, more, session, workflow }: Page, colour: boolean, none: string): string {
  const counts = new Map<string, number>()
  for (const { status } of todos) counts.set(status ?? '', (counts.get(status ?? '') ?? 0) + 1)
  const summary = [...counts].map(([status, n]) => `${n} ${status.replace('_', ' ')}`).join(', ')
  return lines(
    table(colour ? todos.map(row) : todos.map(plainRow), colour),
    more > 0 ? `${more} more; --all shows everything` : '',
    todos.length > 0 ? `${summary} in session ${session} of ${workflow}` : none,
  )
}
