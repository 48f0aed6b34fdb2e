import { todo } from '../backlog/kind.ts'
import { backlogTriage } from '../backlog/operations.ts'
import type { Caller } from '../core/operation.ts'
import { harmless, harmlessLine } from '../core/text.ts'
import type { Terminal } from './terminal.ts'

type Decision = NonNullable<Parameters<typeof backlogTriage.run>[1]['decisions']>[number]
type Listed = Awaited<ReturnType<typeof backlogTriage.run>>['todos'][number]
type Input = Parameters<typeof backlogTriage.run>[1]

const KEYS: Readonly<Record<string, Decision['decision']>> = {
  a: 'approve',
  d: 'defer',
  f: 'false_positive',
  u: 'duplicate',
  o: 'out_of_scope',
  s: 'superseded',
  w: 'wont_fix',
}
const QUESTION = '[a]pprove [d]efer [f]alse positive d[u]plicate [o]ut of scope [s]uperseded [w]ont fix [v]iew [q]uit: '

/** Goes through what waits for a decision with a person: the most pressing first, ten at a time. */
export async function triageTogether(caller: Caller, { workflow }: Input, terminal: Terminal): Promise<number> {
  const deferred = new Set<string>()
  for (;;) {
    const { todos, more } = await backlogTriage.run(caller, { workflow })
    const round = todos.filter(({ id }) => !deferred.has(id))
    if (round.length === 0) {
      terminal.out(deferred.size > 0 ? 'Everything else is decided.' : 'Nothing waits for a decision.')
      return 0
    }
    terminal.out(`${todos.length + more} wait for a decision.`)
    for (const [index, one] of round.entries()) {
      const decision = await ask(caller, one, `${index + 1}/${round.length}`, terminal)
      if (!decision) return 0
      if (decision.decision === 'defer') deferred.add(one.id)
      const { triaged, refused } = await backlogTriage.run(caller, { decisions: [decision], workflow })
      for (const { id, status } of triaged) terminal.out(`${id} is ${status}`)
      for (const { message, hint } of refused) terminal.out(harmless(`${message}\n${hint}`))
    }
    if (deferred.size > 0 && todos.every(({ id }) => deferred.has(id))) return 0
    const left = (await backlogTriage.run(caller, { workflow })).todos.some(({ id }) => !deferred.has(id))
    if (!left || !/^y/i.test((await terminal.ask('Go on with the next? [y/n] ')) ?? 'n')) return 0
  }
}

/** One decision; undefined when the person has had enough. */
async function ask(caller: Caller, one: Listed, place: string, terminal: Terminal): Promise<Decision | undefined> {
  terminal.out(`\n${harmlessLine(`${place}  ${one.id}  ${one.priority}  ${one.title}`)}`)
  for (;;) {
    const key = (await terminal.ask(QUESTION))?.trim().toLowerCase()
    if (key === undefined || key === 'q') return undefined
    if (key === 'v') {
      const id = `${one.workflow}/${one.session}/${one.id}`
      terminal.out(harmless((await caller.store.texts(todo, [id])).get(id)?.['body'] ?? ''))
      continue
    }
    const decision = KEYS[key[0] ?? '']
    if (!decision) continue
    if (decision === 'approve') return { id: one.id, decision }
    const of = decision === 'duplicate' ? (await terminal.ask('Duplicate of which todo? '))?.trim() : undefined
    const reason = (await terminal.ask(decision === 'defer' ? 'Why (may be empty)? ' : 'Why? '))?.trim()
    return { id: one.id, decision, ...(of ? { of } : {}), ...(reason ? { reason } : {}) }
  }
}
