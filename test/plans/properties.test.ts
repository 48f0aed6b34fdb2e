import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { refusalFor } from '../../src/core/lifecycle.ts'
import { open, Problem, type Punchlist, planItem } from '../../src/index.ts'
import { evidenceIn } from '../../src/plans/evidence.ts'
import { scratch } from '../support/scratch.ts'

/** A plan as a person would keep it on paper: the oracle the real one is held against. */
class Paper {
  items: { title: string; status: string; outcome: string | null }[] = []

  add(titles: readonly string[], at?: number): void {
    titles.forEach((title, n) => {
      const place = at === undefined ? this.items.length : Math.min(at - 1 + n, this.items.length)
      this.items.splice(place, 0, { title, status: 'pending', outcome: null })
    })
  }

  start(): string {
    const next = this.items.find(({ status }) => status === 'pending')
    if (!next) return 'nothing_to_do'
    next.status = 'in_progress'
    return 'ok'
  }

  end(number: number, status: string, outcome: string): string {
    const item = this.items[number - 1]
    if (!item) return 'not_found'
    const closed = item.status === 'completed' || item.status === 'cancelled'
    if (closed) return item.status === status && item.outcome === outcome ? 'ok' : 'move_refused'
    item.status = status
    item.outcome = outcome
    return 'ok'
  }
}

type Step =
  | { readonly do: 'add'; readonly count: number; readonly at: number | undefined }
  | { readonly do: 'start' }
  | {
      readonly do: 'end'
      readonly number: number
      readonly status: 'completed' | 'cancelled'
      readonly outcome: string
    }

const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('add' as const),
      count: fc.integer({ min: 1, max: 3 }),
      at: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    }),
    fc.record({ do: fc.constant('start' as const) }),
    fc.record({
      do: fc.constant('end' as const),
      number: fc.integer({ min: 1, max: 8 }),
      status: fc.constantFrom('completed' as const, 'cancelled' as const),
      outcome: fc.constantFrom('x', 'y'),
    }),
  ),
  { maxLength: 25 },
)

async function take(punchlist: Punchlist, step: Step, titles: readonly string[]): Promise<string> {
  try {
    if (step.do === 'add') {
      const order = (n: number) => (step.at === undefined ? {} : { order: step.at + n })
      await punchlist.plan.create({ items: titles.map((title, n) => ({ title, ...order(n) })) })
    } else if (step.do === 'start') await punchlist.plan.start()
    else await punchlist.plan.complete({ todoId: String(step.number), outcome: step.outcome, status: step.status })
    return 'ok'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

describe('whatever is done to a plan, in whatever order', () => {
  test('it agrees with a plan kept on paper, no record breaks its own status, and a refusal leaves no trace', async () => {
    const punchlist = await open({ store: 'sqlite::memory:', root: scratch() })
    let run = 0
    await fc.assert(
      fc.asyncProperty(steps, async sequence => {
        run++
        const plan = punchlist.as({ turnId: `t${run}` })
        const paper = new Paper()
        let named = 0
        // An empty plan has nothing to be found in yet.
        await take(plan, { do: 'add', count: 1, at: undefined }, ['first'])
        paper.add(['first'])
        for (const step of sequence) {
          const before = await plan.plan.list({ status: 'all', all: true })
          const events = (await plan.events()).length
          const titles = step.do === 'add' ? Array.from({ length: step.count }, () => `item ${named++}`) : []
          const expected =
            step.do === 'add'
              ? (paper.add(titles, step.at), 'ok')
              : step.do === 'start'
                ? paper.start()
                : paper.end(step.number, step.status, step.outcome)
          expect(await take(plan, step, titles)).toBe(expected)
          const after = await plan.plan.list({ status: 'all', all: true })
          expect(after.items.map(({ title, status, outcome }) => ({ title, status, outcome }))).toEqual(paper.items)
          expect(after.items.map(({ priority }) => priority)).toEqual(paper.items.map((_, n) => n))
          expect(after.summary.total).toBe(paper.items.length)
          if (expected !== 'ok') {
            expect(after).toEqual(before)
            expect((await plan.events()).length).toBe(events)
          }
          const records = await plan.store.find(planItem, { where: { turnId: `t${run}` } })
          for (const record of records)
            expect(refusalFor(planItem.lifecycle, record.status, { ...record })).toBeUndefined()
        }
      }),
      { numRuns: 60 },
    )
    await punchlist.close()
  })

  test('the log alone is enough to tell how every item stands', async () => {
    const punchlist = await open({ store: 'sqlite::memory:', root: scratch() })
    let run = 0
    await fc.assert(
      fc.asyncProperty(steps, async sequence => {
        run++
        const plan = punchlist.as({ turnId: `t${run}` })
        let named = 0
        for (const step of sequence) {
          await take(plan, step, step.do === 'add' ? Array.from({ length: step.count }, () => `item ${named++}`) : [])
        }
        const told = new Map<string, string>()
        for (const { kind, id, from, to } of await plan.events()) {
          if (kind !== 'plan_item') continue
          expect(told.get(id) ?? null).toBe(from)
          told.set(id, to)
        }
        for (const { id, status } of await plan.store.find(planItem, {})) expect(told.get(id)).toBe(status)
      }),
      { numRuns: 20 },
    )
    await punchlist.close()
  })
})

describe('evidence', () => {
  const named = [
    'see src/parse.ts',
    'ran `npm test`',
    'commit 4be1f7a',
    'PR #12',
    'https://example.org/report',
    'CHANGELOG.md',
    './run.sh works',
    'wrote docs/',
  ]
  const nothing = [
    'done',
    'all good, trust me',
    'it works now!',
    'finished e.g. everything',
    'version 1.2 of it',
    'I did what was asked...',
    'and/or so',
    'n/a',
    '',
  ]
  for (const outcome of named) test(`"${outcome}" names something`, () => expect(evidenceIn(outcome)).not.toEqual([]))
  for (const outcome of nothing) test(`"${outcome}" names nothing`, () => expect(evidenceIn(outcome)).toEqual([]))
})
