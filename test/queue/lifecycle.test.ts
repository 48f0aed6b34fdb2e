import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { refusalFor } from '../../src/core/lifecycle.ts'
import { open, Problem, type Punchlist } from '../../src/index.ts'
import { task } from '../../src/queue/kind.ts'
import { scratch } from '../support/scratch.ts'

type Queue = Punchlist['queue']
type Verb = Exclude<keyof Queue, 'list' | 'show' | 'tree' | 'migrate'>

/** One thing that someone does to one task, with what may or may not come along. */
interface Step {
  readonly verb: Verb
  readonly by: string
  readonly id: string
  readonly other: string
  readonly reason: string | undefined
  /** Whether a token is sent, and how old it is. */
  readonly token: 'none' | 'current' | 'older'
  readonly flag: boolean
}

const verbs: Verb[] = [
  'add',
  'release',
  'claim',
  'return',
  'heartbeat',
  'checkpoint',
  'reply',
  'complete',
  'fail',
  'retry',
  'cancel',
  'recover',
]
const id = fc.constantFrom('1', '1', '2', '3', '4', '1_01', '1_02', 'req_0002_01')
const anyStep: fc.Arbitrary<Step> = fc.record({
  // What leads somewhere is done more often, or most tasks would never get there.
  verb: fc.constantFrom(
    ...verbs,
    'claim',
    'claim',
    'claim',
    'complete',
    'complete',
    'checkpoint',
    'fail',
    'retry',
    'add',
  ),
  by: fc.constantFrom('ann', 'bob'),
  id,
  other: id,
  reason: fc.constantFrom('x', 'x', 'y\n\n## z', undefined),
  token: fc.constantFrom('none', 'none', 'current', 'current', 'older'),
  flag: fc.boolean(),
})

async function take(queue: Queue, step: Step, current: number | undefined): Promise<string> {
  try {
    const answer = await does(queue, step, current)
    return `ok ${told(answer)}`
  } catch (error) {
    // Until when a claim holds is told by each engine's own clock.
    if (error instanceof Problem)
      return `${error.code}: ${timeless(`${error.message} ${JSON.stringify(error.details)}`)}`
    throw error
  }
}

function told(answer: unknown): string {
  return timeless(JSON.stringify(answer, (name, value: unknown) => (name === 'dir' ? null : value)))
}

function timeless(text: string): string {
  return text.replace(/(until |"leaseUntil":)"?\d{4}-[\dT:.-]+Z"?/g, '$1…')
}

async function does(queue: Queue, step: Step, current: number | undefined): Promise<unknown> {
  const { verb, id: name, other, reason, flag } = step
  const sent = step.token === 'none' || current === undefined ? undefined : current - (step.token === 'older' ? 1 : 0)
  const token = sent !== undefined && sent >= 0 ? { token: sent } : {}
  const without = flag && reason ? [other] : undefined
  if (verb === 'add') {
    const item = { title: `by ${step.by}`, description: 'd', expect: 'e', key: reason === 'x' ? 'k' : undefined }
    const dependsOn = step.token === 'older' ? [other] : []
    return await queue.add({
      items: [{ ...item, dependsOn }],
      parent: flag ? name : undefined,
      stage: step.by === 'bob',
    })
  }
  if (verb === 'claim') return await queue.claim(flag ? { id: name, worker: step.by } : { worker: step.by })
  if (verb === 'release') return await queue.release({ id: name, without, reason })
  if (verb === 'checkpoint')
    return await queue.checkpoint({ id: name, summary: reason ?? 's', needs: flag ? 'n' : undefined, ...token })
  if (verb === 'reply') return await queue.reply({ id: name, text: reason ?? 't' })
  if (verb === 'complete') return await queue.complete({ id: name, note: reason, without, reason, ...token })
  if (verb === 'fail') return await queue.fail({ id: name, type: 't', what: reason ?? 'w', ...token })
  if (verb === 'cancel') return await queue.cancel({ id: name, reason: reason ?? 'r', children: flag, ...token })
  if (verb === 'recover') return await queue.recover()
  if (verb === 'retry') return await queue.retry({ id: name, reason })
  if (verb === 'return') return await queue.return({ id: name, reason, ...token })
  return await queue.heartbeat({ id: name, ...token })
}

/** Everything that can be asked about a queue, but for where it lies and what an engine's own clock says. */
async function everything({ queue }: Punchlist) {
  const { tasks, warnings } = await queue.list({ all: true })
  const shown = []
  for (const { id: name } of tasks) {
    const { history, ...rest } = (await queue.show({ id: name })).task
    shown.push({ ...rest, dir: null, leaseUntil: null, history: history.map(({ at: _, ...one }) => one) })
  }
  return { shown, warnings, tree: await queue.tree() }
}

/** The files of a queue, byte for byte. */
function written(root: string): Record<string, string> {
  const top = join(root, 'coordination')
  const names = readdirSync(top, { recursive: true, encoding: 'utf8' })
  const own = names.filter(name => name.endsWith('.md') && !name.startsWith('.punchlist'))
  return Object.fromEntries(own.map(name => [name, readFileSync(join(top, name), 'utf8')]))
}

describe('whatever is done to a queue, by whomever, in whatever order', () => {
  test('rows and directories tell the same, no task breaks its own state, and a refusal leaves no trace', {
    timeout: 180_000,
  }, async () => {
    let tick = Date.parse('2026-01-02T03:04:05.000Z')
    const now = () => new Date(tick)
    const seen = new Set<string>()
    const answers = new Set<string>()
    const all = Object.keys(task.lifecycle.statuses).length
    // Chance alone now and then leaves one out: then it goes on.
    for (let round = 0; round === 0 || (round < 5 && seen.size < all); round++)
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 25 }), async sequence => {
          const root = scratch()
          const rows = await open({ store: 'sqlite::memory:', root: scratch(), now })
          const files = await open({ store: 'files', root, now })
          const both = [rows, files] as const
          const items = ['a', 'b', 'c'].map(title => ({ title, description: 'd', expect: 'e' }))
          for (const { queue } of both) {
            await queue.add({ items })
            await queue.claim({ id: '1', worker: 'ann' })
            await queue.checkpoint({ id: '1', summary: 's', needs: 'n' })
          }
          let before = await everything(rows)
          for (const one of sequence) {
            tick += 1000
            const bytes = written(root)
            const meant = one.id.startsWith('req') ? one.id : `req_000${one.id}`
            const current = before.shown.find(({ id: name }) => name === meant)?.token
            const outcomes: string[] = []
            for (const store of both) outcomes.push(await take(store.as({ actor: one.by }).queue, one, current))
            expect(outcomes[1], JSON.stringify(one)).toBe(outcomes[0])
            const after = await everything(rows)
            expect(await everything(files), JSON.stringify(one)).toEqual(after)
            if (!outcomes[0]!.startsWith('ok')) {
              expect(after, JSON.stringify(one)).toEqual(before)
              expect(written(root)).toEqual(bytes)
            }
            for (const { store } of both) {
              for (const record of await store.find(task, {}))
                expect(refusalFor(task.lifecycle, record.status, { ...record })).toBeUndefined()
            }
            for (const { state } of after.shown) seen.add(state)
            answers.add(`${one.verb} ${outcomes[0]!.split(/[ :]/)[0]}`)
            before = after
          }
          for (const store of both) await store.close()
        }),
        { numRuns: 50 },
      )
    // The steps are chosen well if they have been everywhere.
    expect(seen).toEqual(new Set(Object.keys(task.lifecycle.statuses)))
    for (const verb of verbs) expect(answers).toContain(`${verb} ok`)
  })
})
