import { todo } from '../backlog/kind.ts'
import { qualified } from '../backlog/names.ts'
import { backlogTriage } from '../backlog/operations.ts'
import type { Todo } from '../backlog/record.ts'
import { AT_A_TIME, untriaged } from '../backlog/triage.ts'
import type { Caller } from '../core/operation.ts'
import { whereabouts } from '../core/session.ts'
import { harmless, harmlessLine } from '../core/text.ts'
import type { Terminal } from './terminal.ts'

type Decision = NonNullable<Parameters<typeof backlogTriage.run>[1]['decisions']>[number]
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
  const where = await whereabouts(caller, workflow)
  const seen = new Set<string>()
  for (;;) {
    const waiting = (await untriaged(caller, where)).filter(({ id }) => !seen.has(id))
    if (waiting.length === 0) {
      terminal.out(seen.size > 0 ? 'That was the last.' : 'Nothing waits for a decision.')
      return 0
    }
    if (seen.size > 0 && !/^y/i.test((await terminal.ask(`${waiting.length} more. Go on? [y/n] `)) ?? 'n')) return 0
    const round = waiting.slice(0, AT_A_TIME)
    if (seen.size === 0) terminal.out(`${waiting.length} wait for a decision.`)
    for (const [index, one] of round.entries()) {
      seen.add(one.id)
      const decision = await ask(caller, one, `${index + 1}/${round.length}`, terminal)
      if (!decision) return 0
      const { triaged, refused } = await backlogTriage.run(caller, { decisions: [decision], workflow })
      for (const { id, status } of triaged) terminal.out(`${id} is ${status}`)
      for (const { message, hint } of refused) terminal.out(harmless(`${message}\n${hint}`))
    }
  }
}

/** One decision; undefined when the person has had enough. */
async function ask(caller: Caller, one: Todo, place: string, terminal: Terminal): Promise<Decision | undefined> {
  const id = qualified(one)
  terminal.out(`\n${harmlessLine(`${place}  ${id}  ${one.priority}  ${one.title}`)}`)
  for (;;) {
    const key = (await terminal.ask(QUESTION))?.trim().toLowerCase()
    if (key === undefined || key === 'q') return undefined
    if (key === 'v') {
      terminal.out(harmless((await caller.store.texts(todo, [one.id])).get(one.id)?.['body'] ?? ''))
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
