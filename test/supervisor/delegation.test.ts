import { tool } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Worker } from '../../src/supervisor/index.ts'
import { type Cue, scripted, textsIn } from '../support/scripted-model.ts'
import { aList, completed, planIn, play, told, typesOf } from './stage.ts'

const create = (...items: readonly object[]): Cue => ({ calls: [{ tool: 'create_todo', input: { items } }] })
const delegated = (input: object) => ({ tool: 'delegate', input: { task: 'Look', ...input } })
const A = {
  title: 'A',
  context: 'the log is in /var/log',
  completionCriteria: 'the cause is known',
  agentType: 'reader',
}

test('a worker is told the task and the item, is waited for, and the loop goes on with what it says', async () => {
  const list = await aList()
  const assignments: unknown[] = []
  const run = async (assignment: unknown) => {
    assignments.push(assignment)
    return 'a race'
  }
  const { result, events } = await play(
    list,
    [create(A), { calls: [delegated({ todoId: '1' })] }, { calls: [completed(1)] }, { text: 'A race.' }],
    { workers: { reader: { description: 'reads', run } } },
  )
  expect(result).toMatchObject({ calls: 4, text: 'A race.', remaining: 0 })
  expect(assignments).toEqual([
    {
      task: 'Look',
      todo: { title: 'A', context: 'the log is in /var/log', completionCriteria: 'the cause is known' },
      prompt:
        'Look\n\nIt is about: A\n\nWhat is known:\nthe log is in /var/log\n\nIt is done when:\nthe cause is known',
    },
  ])
  const [item] = await planIn(list)
  expect(told(events, 'delegated')).toEqual([
    { type: 'delegated', agentType: 'reader', todoId: item!.id, task: 'Look' },
  ])
  const answer = told(events, 'tool_answered').find(event => event.tool === 'delegate')
  expect(answer!.output).toEqual({ agentType: 'reader', todoId: item!.id, result: 'a race', remaining: 1, next: [] })
  expect(item).toMatchObject({ status: 'completed', startedAt: expect.any(String), owner: 'supervisor' })
})

test('the call may say who does it, and about no item; nobody and strangers are refused with who there is', async () => {
  const list = await aList()
  const workers = Object.fromEntries(
    ['reader', 'writer'].map(name => [name, { description: name, run: async () => `${name} was here` }]),
  )
  const { events } = await play(
    list,
    [
      create(A, { title: 'B' }),
      { calls: [delegated({ todoId: '1', agentType: 'writer' }), delegated({ agentType: 'reader' })] },
      {
        calls: [
          delegated({ todoId: '2' }),
          delegated({ agentType: 'constructor' }),
          delegated({ todoId: '9', agentType: 'reader' }),
          { tool: 'delegate', input: { agentType: 'reader' } },
        ],
      },
      { calls: [completed(1), completed(2)] },
      { calls: [delegated({ todoId: '1', agentType: 'reader' })] },
      { text: 'Done.' },
    ],
    { workers },
  )
  expect(told(events, 'worker_answered').map(({ text }) => text)).toEqual(['writer was here', 'reader was here'])
  expect(told(events, 'tool_failed').map(({ error }) => error.split('\n').slice(0, 2))).toEqual([
    ['not_found: It is not said who should do it', 'Send agentType, one of: reader, writer.'],
    ['not_found: There is no worker constructor', 'Send agentType, one of: reader, writer.'],
    [expect.stringMatching(/^not_found: There is no item 9/), expect.any(String)],
    ['bad_input: task: is missing', 'Correct task and send it again.'],
    [expect.stringMatching(/^move_refused: .* completed -> in_progress/), expect.any(String)],
  ])
  expect((await planIn(list))[1]).toMatchObject({ status: 'completed', startedAt: null })
})

test('null is how some models leave out what they need not say', async () => {
  const workers = { reader: { description: 'reads', run: async () => 'a race' } }
  const calls = [
    delegated({ todoId: '1', agentType: null }),
    delegated({ todoId: null, agentType: 'reader' }),
    completed(1),
  ]
  const { events, result } = await play(await aList(), [create(A), { calls }, { text: 'Done.' }], { workers })
  expect(told(events, 'tool_failed')).toEqual([])
  expect(told(events, 'worker_answered')).toHaveLength(2)
  expect(result.remaining).toBe(0)
})

test('several delegations of one call are done one after the other, in order', async () => {
  const list = await aList()
  const log: string[] = []
  const run = async ({ task }: { task: string }) => {
    log.push(`begin ${task}`)
    await new Promise(done => setTimeout(done, 5))
    log.push(`end ${task}`)
    return task
  }
  const calls = ['1', '2', '3'].map(task => ({ tool: 'delegate', input: { agentType: 'w', task, todoId: task } }))
  await play(list, [create(A, { title: 'B' }, { title: 'C' }), { calls: [...calls, completed(1)] }], {
    workers: { w: { description: 'x', run } },
    limits: { base: 3, withPlan: 3 },
  })
  expect(log).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3'])
  expect((await planIn(list)).map(({ status }) => status)).toEqual(['completed', 'in_progress', 'in_progress'])
})

const never = () => new Promise<string>(() => undefined)
const FAILING: Readonly<Record<string, readonly [worker: Partial<Worker> & object, said: string | RegExp]>> = {
  'throws an error': [{ run: async () => Promise.reject(new Error('no such log')) }, 'no such log'],
  'throws at once': [
    {
      run: () => {
        throw new Error('not even a promise')
      },
    },
    'not even a promise',
  ],
  'throws what is no error': [{ run: async () => Promise.reject('just text') }, 'just text'],
  'throws nothing': [{ run: async () => Promise.reject(undefined) }, 'undefined'],
  'throws codes for a terminal': [
    { run: async () => Promise.reject(new Error('a\u001b[2J\nb\u202e')) },
    'a\\u{1b}[2J b\\u{202e}',
  ],
  'throws a very long text': [{ run: async () => Promise.reject(new Error('😀'.repeat(5000))) }, /^(?:😀){740,750}$/u],
  'throws a credential': [
    {
      run: async () => Promise.reject(new Error(`${'x'.repeat(1480)} Bearer 0123456789abcdef of sk-0123456789abcdef`)),
    },
    /^x+ Bearer \[redacted/,
  ],
  'returns nothing': [{ run: async () => undefined as unknown as string }, 'returned nothing'],
  'returns blanks': [{ run: async () => ' \n ' }, 'returned nothing'],
  'never answers': [{ run: never, timeoutMs: 20 }, 'gave no answer within 20 ms'],
  'is a model that says nothing': [{ model: scripted({}) }, 'returned nothing'],
  'is a model that fails': [{ model: scripted({ fails: new Error('overloaded') }) }, 'overloaded'],
  'is a model that never ends': [
    {
      model: scripted({ calls: [{ tool: 'look' }] }),
      tools: { look: tool({ inputSchema: z.object({}), execute: async () => 'x' }) },
      maxSteps: 3,
    },
    'had no answer after 3 steps',
  ],
}

describe('an item goes back to the plan, with a note, when its worker', () => {
  test.each(Object.entries(FAILING))('%s', async (_, [worker, said]) => {
    const list = await aList()
    const workers = { reader: { description: 'reads', ...worker } as Worker }
    const { result, events } = await play(
      list,
      [create(A), { calls: [delegated({ todoId: '1' })] }, { calls: [{ tool: 'list_todo' }] }, { text: 'It failed.' }],
      { workers, limits: { base: 4, withPlan: 4 } },
    )
    expect(result).toMatchObject({ remaining: 1, text: 'It failed.\n\nLeft in the plan:\n- A (pending)' })
    expect(typesOf(events).filter(type => /^worker|^delegated/.test(type))).toEqual(['delegated', 'worker_failed'])
    const error = told(events, 'worker_failed')[0]!.error
    if (typeof said === 'string') expect(error).toBe(said)
    else expect(error).toMatch(said)
    const failed = told(events, 'tool_failed')
    expect(failed.map(one => one.error)).toEqual([
      `reader failed: ${error}\nIts item is pending again, and the context of it tells of the attempt.`,
    ])
    const [item] = await planIn(list)
    expect(item).toMatchObject({ status: 'pending', startedAt: null, owner: null, outcome: null })
    const [given, note, ...rest] = item!.context.split('\n')
    expect([given, rest]).toEqual([A.context, []])
    expect(note).toMatch(/^\[\d{4}-.*Z tried by supervisor: reader: /)
    expect(note!.endsWith(`${error}]`)).toBe(true)
    await list.close()
  })
})

test('a worker that failed can be asked again, and reads what was tried', async () => {
  const list = await aList()
  let attempt = 0
  const run = async ({ prompt }: { prompt: string }) => {
    if (++attempt < 3) throw new Error(`attempt ${attempt}`)
    return prompt
  }
  const { events } = await play(list, [create(A), { calls: [delegated({ todoId: '1' })] }], {
    workers: { reader: { description: 'reads', run } },
    limits: { base: 5, withPlan: 5 },
  })
  expect(told(events, 'worker_answered')[0]!.text).toMatch(/reader: attempt 1\]\n\[.*reader: attempt 2\]/)
  expect((await planIn(list)).map(({ status }) => status)).toEqual(['in_progress'])
})

test('a worker that is a model has its own instructions and tools, and none of the plan', async () => {
  const own = scripted({ calls: [{ tool: 'look' }] }, { text: 'I saw it.' })
  const look = tool({ inputSchema: z.object({}), execute: async () => 'smoke' })
  const { events, asked } = await play(
    await aList(),
    [{ calls: [delegated({ agentType: 'reader' })] }, { text: 'Done.' }],
    {
      instructions: 'You lead.',
      workers: { reader: { description: 'reads', model: own, instructions: 'You read.', tools: { look } } },
    },
  )
  expect(told(events, 'worker_answered').map(({ text }) => text)).toEqual(['I saw it.'])
  expect(own.doGenerateCalls.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([['look'], ['look']])
  expect(textsIn(own.doGenerateCalls[0]!)).toEqual(['You read.', 'Look'])
  expect(asked).toHaveLength(2)
})

test('an item that somebody finished while its worker failed stays as they left it', async () => {
  const list = await aList()
  const run = async () => {
    await list.as({ conversationId: 'c', turnId: 'm1' }).plan.complete({ todoId: '1', outcome: 'by hand' })
    throw new Error('too late')
  }
  const { events } = await play(list, [create(A), { calls: [delegated({ todoId: '1' })] }, { text: 'Hm.' }], {
    workers: { reader: { description: 'reads', run } },
  })
  expect(told(events, 'tool_failed').map(({ error }) => error)).toEqual(['reader failed: too late'])
  expect(await planIn(list)).toMatchObject([{ status: 'completed', outcome: 'by hand', context: A.context }])
})

test('however often an item is tried, what one needs to know stays, and the last ten attempts are told', async () => {
  const list = await aList()
  let attempt = 0
  const run = async () => Promise.reject(new Error(`attempt ${++attempt}`))
  const { asked } = await play(list, [create(A), { calls: [delegated({ todoId: '1' })] }], {
    workers: { reader: { description: 'reads', run } },
    limits: { base: 14, withPlan: 14 },
  })
  expect(asked).toHaveLength(14)
  const [given, ...attempts] = (await planIn(list))[0]!.context.split('\n')
  expect(given).toBe(A.context)
  expect(attempts.map(note => /attempt (\d+)\]$/.exec(note)![1])).toEqual(
    Array.from({ length: 10 }, (_, n) => String(n + 3)),
  )
})
