import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { todo } from '../../src/backlog/kind.ts'
import { RESOLUTIONS } from '../../src/backlog/record.ts'
import { refusalFor } from '../../src/core/lifecycle.ts'
import { open, Problem, type Punchlist } from '../../src/index.ts'
import { scratch } from '../support/scratch.ts'

type Backlog = Punchlist['backlog']
type Verb = Exclude<keyof Backlog, 'list' | 'show' | 'search' | 'stale' | 'graph'>

/** One thing that someone does to one todo, with what may or may not come along. */
interface Step {
  readonly verb: Verb
  readonly by: string
  readonly id: string
  readonly other: string
  readonly reason: string | undefined
  readonly resolution: (typeof RESOLUTIONS)[number] | undefined
  /** Whether a token is sent, and how old it is. */
  readonly token: 'none' | 'current' | 'older'
  readonly flag: boolean
}

const verbs: Verb[] = [
  'add',
  'next',
  'triage',
  'approve',
  'dismiss',
  'claim',
  'release',
  'complete',
  'block',
  'unblock',
  'interrupt',
  'resume',
  'reopen',
  'log',
  'sweep',
]
const id = fc.constantFrom('1', '2', '3', 'review/004')
const anyStep: fc.Arbitrary<Step> = fc.record({
  // What leads somewhere is done more often, or most todos would never get there.
  verb: fc.constantFrom(...verbs, 'approve', 'claim', 'claim', 'block', 'block', 'complete', 'unblock'),
  by: fc.constantFrom('ann', 'bob'),
  id,
  other: id,
  reason: fc.constantFrom('x', 'x', 'y', undefined),
  resolution: fc.constantFrom(...RESOLUTIONS, 'duplicate', undefined),
  token: fc.constantFrom('none', 'none', 'current', 'older'),
  flag: fc.boolean(),
})

async function take(backlog: Backlog, step: Step, current: number | undefined): Promise<string> {
  try {
    // Of a list of decisions the refused ones are told, not thrown.
    const { refused: [refused] = [] } = (await does(backlog, step, current)) as { refused?: unknown[] }
    return refused ? JSON.stringify(refused) : 'ok'
  } catch (error) {
    if (error instanceof Problem) return `${error.code}: ${error.message} ${JSON.stringify(error.details)}`
    throw error
  }
}

async function does(backlog: Backlog, step: Step, current: number | undefined): Promise<unknown> {
  const { verb, id: name, other, reason, resolution, flag } = step
  const token = step.token === 'none' || current === undefined ? undefined : current - (step.token === 'older' ? 1 : 0)
  const of = flag ? other : undefined
  const dismissal = resolution === 'fixed' ? undefined : resolution
  const about = { id: name, reason, ...(token !== undefined && token >= 0 ? { token } : {}) }
  const status = flag ? 'ready' : 'pending'
  if (verb === 'add') {
    const item = { title: `by ${step.by}`, source: 'review', status, findingId: reason, sourceRef: 'r' } as const
    return await backlog.add({ items: [item] })
  }
  if (verb === 'next') return await backlog.next({ claim: flag })
  if (verb === 'triage') {
    const decision = dismissal ?? 'approve'
    return await backlog.triage({ decisions: [{ id: name, decision, reason, of, priority: 'p1' }] })
  }
  if (verb === 'claim') return await backlog.claim({ id: name, triage: flag })
  if (verb === 'block') return await backlog.block({ ...about, on: [other] })
  if (verb === 'unblock') return await backlog.unblock({ ...about, as: flag ? step.by : undefined })
  if (verb === 'dismiss') return await backlog.dismiss({ ...about, as: dismissal, of })
  if (verb === 'complete') return await backlog.complete({ ...about, resolution: flag ? undefined : resolution, of })
  if (verb === 'log') return await backlog.log({ ...about, text: reason ?? 'z' })
  if (verb === 'resume') return await backlog.resume(flag ? { id: name } : {})
  if (verb === 'sweep') return await backlog.sweep({})
  return await backlog[verb](about)
}

/** Everything that can be asked about a session, but for what an engine's own clock says. */
async function everything(backlog: Backlog) {
  const { todos } = await backlog.list({ all: true })
  const shown = []
  for (const one of todos) shown.push({ ...(await backlog.show({ id: one.id })).todo, leaseUntil: null })
  return shown
}

/** The files of a folder, byte for byte. */
function written(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.md'))
  return Object.fromEntries(names.map(name => [name, readFileSync(join(folder, name), 'utf8')]))
}

describe('whatever is done to a backlog, by whomever, in whatever order', () => {
  test('rows and files tell the same, no record breaks its own status, and a refusal leaves no trace', {
    timeout: 180_000,
  }, async () => {
    const root = scratch()
    let tick = Date.parse('2026-01-02T03:04:05.000Z')
    const now = () => new Date(tick)
    const rows = await open({ store: 'sqlite::memory:', root: scratch(), now })
    const files = await open({ root, now })
    let run = 0
    const seen = new Set<string | null>()
    const all = Object.keys(todo.lifecycle.statuses).length
    // Chance alone now and then leaves one out: then it goes on.
    for (let round = 0; round === 0 || (round < 5 && seen.size < all); round++)
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 25 }), async sequence => {
          const session = `s${++run}`
          const folder = join(root, 'tmp/work', session)
          const both = [rows, files].map(store => store.as({ session, actor: 'ann' })) as [Punchlist, Punchlist]
          const items = ['a', 'b', 'c'].map((title, n) => ({
            title,
            source: 'review',
            status: n === 0 ? ('pending' as const) : ('ready' as const),
          }))
          for (const one of both) await one.backlog.add({ items })
          let before = await everything(both[0].backlog)
          for (const one of sequence) {
            tick += 1000
            const bytes = written(folder)
            const current = before.find(({ issue_id }) => Number(issue_id) === Number(one.id.split('/').at(-1)))?.token
            const outcomes: string[] = []
            for (const store of both) outcomes.push(await take(store.as({ actor: one.by }).backlog, one, current))
            expect(outcomes[1], JSON.stringify(one)).toBe(outcomes[0])
            const after = await everything(both[0].backlog)
            expect(await everything(both[1].backlog), JSON.stringify(one)).toEqual(after)
            if (outcomes[0] !== 'ok') {
              expect(after).toEqual(before)
              expect(written(folder)).toEqual(bytes)
            }
            for (const store of both) {
              for (const record of await store.store.find(todo, { where: { workflow: 'work', session } }))
                expect(refusalFor(todo.lifecycle, record.status, { ...record })).toBeUndefined()
            }
            for (const { status } of after) seen.add(status)
            before = after
          }
        }),
        { numRuns: 40 },
      )
    // The steps are chosen well if they have been everywhere.
    expect(seen).toEqual(new Set(Object.keys(todo.lifecycle.statuses)))
    await rows.close()
    await files.close()
  })
})
