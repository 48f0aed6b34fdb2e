import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { createSupervisor, type SupervisorEvent } from '../../src/supervisor/index.ts'
import { scratch } from '../support/scratch.ts'
import { idsIn, scripted, textsIn } from '../support/scripted-model.ts'

test('a supervisor plans, delegates, is sent back while something is open, and answers when the plan is drained', async () => {
  const list = await open({ root: scratch(), store: 'sqlite::memory:' })
  const model = scripted(
    {
      text: 'Let me plan. ',
      calls: [
        {
          tool: 'create_todo',
          input: {
            items: [{ title: 'Find the cause', agentType: 'researcher' }, { title: 'Mend it' }],
          },
        },
      ],
    },
    asked => ({ calls: [{ tool: 'delegate', input: { todoId: idsIn(asked)[0], task: 'Look at the log' } }] }),
    asked => ({
      calls: [{ tool: 'complete_todo', input: { todoId: idsIn(asked)[0], outcome: 'a race in the cache' } }],
    }),
    { text: 'All is done!' },
    asked => ({ calls: [{ tool: 'complete_todo', input: { todoId: idsIn(asked)[0], outcome: 'lock in cache.ts' } }] }),
    { text: 'It was a race; there is a lock now.' },
  )
  const supervisor = createSupervisor({
    model,
    store: list,
    instructions: 'You are a careful engineer.',
    workers: { researcher: { description: 'reads logs', run: async ({ task }) => `did: ${task}` } },
  })
  const turn = supervisor.handleMessage({ id: 'm1', content: 'Why does it fail?' }, { conversationId: 'c' })
  const events: SupervisorEvent[] = []
  for await (const event of turn.events) events.push(event)
  const result = await turn.result
  expect(result).toMatchObject({ turnId: 'm1', conversationId: 'c', end: 'answered', remaining: 0, calls: 6 })
  expect(result.text).toBe('It was a race; there is a lock now.')
  expect(events.filter(({ type }) => type === 'sent_back')).toEqual([{ type: 'sent_back', call: 4, remaining: 1 }])
  expect(await textOf(turn.textStream)).toBe('Let me plan. \n\nIt was a race; there is a lock now.')
  const inTurn = await list.as({ conversationId: 'c', turnId: 'm1' }).plan.list({ status: 'all' })
  expect(inTurn.items.map(({ title, status, outcome }) => ({ title, status, outcome }))).toEqual([
    { title: 'Find the cause', status: 'completed', outcome: 'a race in the cache' },
    { title: 'Mend it', status: 'completed', outcome: 'lock in cache.ts' },
  ])
  expect(model.doStreamCalls.map(asked => textsIn(asked).at(-1)!.split('\n')[1])).toEqual([
    undefined,
    '0/2 completed, 2 remaining',
    '0/2 completed, 2 remaining',
    '1/2 completed, 1 remaining',
    '1/2 completed, 1 remaining',
    '2/2 completed, 0 remaining',
  ])
  await list.close()
})

async function textOf(stream: ReadableStream<string>): Promise<string> {
  let text = ''
  for await (const part of stream) text += part
  return text
}
