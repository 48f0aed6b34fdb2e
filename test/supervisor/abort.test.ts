import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { open } from '../../src/index.ts'
import { scratch } from '../support/scratch.ts'
import type { Cue } from '../support/scripted-model.ts'
import { aList, all, completed, planIn, planned, play, told } from './stage.ts'

const REASON = new Error('the user went away')
const never = (): Promise<never> => new Promise(() => undefined)

test('a turn that is not wanted any more before it begins does nothing', async () => {
  const list = await aList()
  await list.as({ conversationId: 'c', turnId: 'm0' }).plan.create({ items: [{ title: 'Old' }] })
  const how = { signal: AbortSignal.abort(REASON), carry: true as const }
  const { error, asked, events } = await play(list, [{ text: 'Hi' }], { how })
  expect(error).toBe(REASON)
  expect(asked).toEqual([])
  expect(events.map(({ type }) => type)).toEqual(['turn_started', 'turn_failed'])
  expect(await planIn(list)).toEqual([])
})

test.each<[string, Cue]>([
  [
    'that listens',
    ({ abortSignal }) =>
      new Promise((_, fail) => abortSignal!.addEventListener('abort', () => fail(abortSignal!.reason))),
  ],
  ['that does not listen', never],
])('a call of a model %s is not waited for', async (_, waiting) => {
  const list = await aList()
  const stop = new AbortController()
  const cue: Cue = async (asked, call) => {
    queueMicrotask(() => stop.abort(REASON))
    return typeof waiting === 'function' ? await waiting(asked, call) : waiting
  }
  const { error, events, turn } = await play(list, [planned('A'), cue], { how: { signal: stop.signal } })
  expect(error).toBe(REASON)
  expect(events.at(-1)).toMatchObject({ type: 'turn_failed', remaining: 1, left: [{ title: 'A', status: 'pending' }] })
  expect((await all(turn.stream)).at(-1)).toEqual({ type: 'abort', reason: String(REASON) })
  const again = await play(list, [{ calls: [completed(1)] }, { text: 'Done.' }])
  expect(again.result).toMatchObject({ remaining: 0, text: 'Done.' })
})

test.each([
  [
    'that listens',
    (signal: AbortSignal) =>
      new Promise<string>((_, fail) => signal.addEventListener('abort', () => fail(signal.reason))),
  ],
  ['that does not listen', never],
])('an item is back in the plan when the turn is stopped while a worker %s has it', async (_, run) => {
  const list = await aList()
  const stop = new AbortController()
  const began: string[] = []
  const worker = {
    description: 'x',
    run: async ({ task }: { task: string }, { signal }: { signal: AbortSignal }) => {
      began.push(task)
      setTimeout(() => stop.abort(REASON), 1)
      return await run(signal)
    },
  }
  const calls = ['1', '2'].map(todoId => ({ tool: 'delegate', input: { todoId, agentType: 'w', task: todoId } }))
  const { error, events } = await play(list, [planned('A', 'B'), { calls: [...calls, completed(2)] }], {
    workers: { w: worker },
    how: { signal: stop.signal },
  })
  expect(error).toBe(REASON)
  // What had not begun is not begun any more: neither the second delegation nor the completion.
  expect(began).toEqual(['1'])
  expect(told(events, 'worker_failed')).toMatchObject([{ agentType: 'w', error: REASON.message }])
  expect(events.at(-1)).toMatchObject({ type: 'turn_failed', remaining: 2 })
  const items = await planIn(list)
  expect(items.map(({ status }) => status)).toEqual(['pending', 'pending'])
  expect(items[0]!.context).toMatch(/tried by supervisor: w: the user went away\]$/)
  expect(items[1]!.context).toBe('')
  await list.close()
})

test('a tool of your own that does not listen is not waited for, and what was called after it is not begun', async () => {
  const list = await aList()
  const stop = new AbortController()
  const stuck = tool({
    inputSchema: z.object({}),
    execute: async (): Promise<string> => {
      setTimeout(() => stop.abort(REASON), 1)
      return await never()
    },
  })
  const { error } = await play(list, [planned('A'), { calls: [{ tool: 'stuck' }, completed(1)] }], {
    tools: { stuck },
    how: { signal: stop.signal },
  })
  expect(error).toBe(REASON)
  expect(await planIn(list)).toMatchObject([{ status: 'pending' }])
})

test('a worker that has failed long ago is nobody to be told that the turn is stopped', async () => {
  const stop = new AbortController()
  const workers = {
    w: {
      description: 'x',
      run: () => {
        throw new Error('at once')
      },
    },
  }
  const { error } = await play(
    await aList(),
    [
      { calls: [{ tool: 'delegate', input: { agentType: 'w', task: 'x' } }] },
      () => {
        stop.abort(REASON)
        return {}
      },
    ],
    { workers, how: { signal: stop.signal } },
  )
  expect(error).toBe(REASON)
})

test('a check that has begun is ended, decides nothing, and nothing begins after it', async () => {
  const root = scratch()
  const list = await open({ root, store: 'sqlite::memory:' })
  const began = join(root, 'began')
  const check = ['sh', '-c', `touch ${began}; while true; do sleep 600; done`]
  const stop = new AbortController()
  const whenBegun = setInterval(() => {
    if (!existsSync(began)) return
    clearInterval(whenBegun)
    stop.abort(REASON)
  }, 5)
  const { error, events } = await play(list, [planned('A', 'B'), { calls: [completed(1), completed(2)] }], {
    check,
    how: { signal: stop.signal },
  })
  expect(error).toBe(REASON)
  const counts = { completed: 0, verified: 0, cancelled: 0, blocked: 0, left: 2 }
  expect(events.at(-1)).toMatchObject({ type: 'turn_failed', remaining: 2, counts })
  expect(await planIn(list)).toMatchObject([
    { status: 'pending', verification: null },
    { status: 'pending', verification: null },
  ])
  await list.close()
})
