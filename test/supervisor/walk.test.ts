import { tool } from 'ai'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { SupervisorEvent } from '../../src/supervisor/index.ts'
import { aList, planIn, planned, play, told } from './stage.ts'

const place = fc.integer({ min: 1, max: 5 }).map(String)
const title = fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F')
const called = (name: string, input: fc.Arbitrary<unknown>) => input.map(sent => ({ tool: name, input: sent }))

/** What a model may call, in earnest. */
const sense = fc.oneof(
  called('create_todo', fc.record({ items: fc.array(fc.record({ title }), { minLength: 1, maxLength: 3 }) })),
  called('start_todo', fc.record({ todoId: place })),
  called('complete_todo', fc.record({ todoId: place, outcome: fc.constantFrom('x', 'y') })),
  called('complete_todo', fc.record({ todoId: place, outcome: fc.constant('x'), status: fc.constant('cancelled') })),
  called('block_todo', fc.record({ todoId: place, needs: fc.constant('a key') })),
  called(
    'delegate',
    fc.record({ todoId: place, agentType: fc.constantFrom('good', 'bad'), task: fc.constant('Look') }),
  ),
)
const nonsense = fc.oneof(
  called('start_todo', fc.constant({})),
  called('list_todo', fc.constant({ turnId: 'other' })),
  called(
    'complete_todo',
    fc.constantFrom('{"todoId":"1","out', { todoId: '1', outcome: ' ' }, { todoId: '1', outcome: 'x', status: 'done' }),
  ),
  called(
    'delegate',
    fc.constantFrom({ task: 'Look' }, { task: 'Look', agentType: 'absent', todoId: '1' }, { agentType: 'good' }),
  ),
  fc.constantFrom('broken', 'unheard_of').map(name => ({ tool: name, input: {} })),
)
const calls = fc.array(fc.oneof({ weight: 4, arbitrary: sense }, { weight: 1, arbitrary: nonsense }), {
  minLength: 1,
  maxLength: 4,
})
const words = fc.constantFrom('Hm. ', 'All is done.', ' ')
const said = fc.oneof(
  { weight: 4, arbitrary: fc.record({ calls }) },
  { weight: 2, arbitrary: fc.record({ text: words, calls }) },
  { weight: 1, arbitrary: fc.record({ text: words }, { requiredKeys: [] }) },
)
const line = fc.oneof(
  { weight: 30, arbitrary: said },
  { weight: 1, arbitrary: fc.constantFrom({ fails: new Error('down') }, { text: 'Hm', breaks: new Error('down') }) },
)

const limits = { base: 5, withPlan: 12 }
const options = {
  limits,
  workers: {
    good: { description: 'x', run: async () => 'seen' },
    bad: { description: 'x', run: async () => Promise.reject(new Error('cannot')) },
  },
  tools: {
    broken: tool({
      inputSchema: z.object({}),
      execute: async (): Promise<string> => Promise.reject(new Error('broken')),
    }),
  },
}

test('whatever a model does, the plan is what its answered calls have made of it, and the answer names what is left', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 14 }), fc.boolean(), async (lines, fromPlan) => {
      const script = fromPlan ? [planned('A', 'B', 'C'), ...lines] : lines
      const list = await aList()
      const { result, error, events, asked } = await play(list, script, options)
      const items = await planIn(list)
      const paper = onPaper(events)
      expect(items.map(({ id, status, needs }) => ({ id, status, needs })).toSorted(byId)).toEqual(
        paper.items.toSorted(byId),
      )
      const log = (await list.events({})).filter(({ kind, from }) => kind === 'plan_item' && from !== null)
      expect(
        isWithin(
          log.map(({ id, to }) => `${id} ${to}`),
          paper.moves,
        ),
      ).toBe(true)
      for (const { call, allowed } of told(events, 'call_started')) expect(call).toBeLessThanOrEqual(allowed)
      expect(asked.length).toBeLessThanOrEqual(limits.withPlan)
      const open = items.filter(({ status }) => status === 'pending' || status === 'in_progress')
      if (error === undefined) {
        expect(result.remaining).toBe(open.length)
        expect(result.text.trim()).not.toBe('')
        expect(named(result.text)).toEqual(open.map(item => item.title))
        expect(result.end === 'answered' && open.some(({ needs }) => needs === null)).toBe(false)
      } else {
        expect(error).toEqual(new Error('down'))
        expect(events.at(-1)).toMatchObject({ type: 'turn_failed', remaining: open.length })
      }
      await list.close()
    }),
    { numRuns: 30 },
  )
})

interface Paper {
  id: string
  status: string
  needs: string | null
}

/** The plan as somebody would keep it who only hears what the tools were asked and answered, in the order of the calls. */
function onPaper(events: readonly SupervisorEvent[]): { items: Paper[]; moves: string[] } {
  const items = new Map<string, Paper>()
  const moves: string[] = []
  const answers = new Map(told(events, 'tool_answered').map(event => [event.id, event.output as Answered]))
  const failures = new Map(told(events, 'tool_failed').map(event => [event.id, event.error]))
  const failing = told(events, 'worker_failed').filter(({ todoId }) => todoId !== null)
  const move = (id: string, status: string, needs: string | null = null) => {
    items.set(id, { id, status, needs })
    moves.push(`${id} ${status}`)
  }
  for (const { id, tool: name } of told(events, 'tool_called')) {
    const output = answers.get(id)
    // Its item was started, and has gone back.
    if (name === 'delegate' && failures.get(id)?.includes('pending again')) {
      const { todoId } = failing.shift()!
      move(todoId!, 'in_progress')
      move(todoId!, 'pending')
    }
    if (!output) continue
    if (name === 'create_todo')
      for (const one of output.created ?? [])
        if (!items.has(one.id)) items.set(one.id, { id: one.id, status: 'pending', needs: null })
    if (name === 'start_todo') move(output.id!, 'in_progress')
    if (name === 'complete_todo') move(output.id!, output.status!)
    if (name === 'block_todo') move(output.id!, 'pending', 'a key')
    if (name === 'delegate' && output.todoId) move(output.todoId, 'in_progress')
  }
  return { items: [...items.values()], moves }
}

interface Answered {
  readonly id?: string
  readonly status?: string
  readonly todoId?: string | null
  readonly created?: readonly { readonly id: string }[]
}

function byId(one: Paper, other: Paper): number {
  return one.id < other.id ? -1 : 1
}

/** Whether everything is in the other list, in the same order: what was asked for twice was done once. */
function isWithin(few: readonly string[], many: readonly string[]): boolean {
  let next = 0
  for (const one of many) if (one === few[next]) next += 1
  return next === few.length
}

function named(text: string): string[] {
  const [, list = ''] = text.split('Left in the plan:\n')
  return [...list.matchAll(/^- (.*) \((?:pending|in_progress|needs you: a key)\)$/gm)].map(([, name]) => name!)
}
