import { tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aiTools, createSupervisor, type SupervisorOptions } from '../../src/supervisor/index.ts'
import { scripted } from '../support/scripted-model.ts'
import { aList } from './stage.ts'

const run = async () => 'x'

test('what cannot work is refused when the supervisor is made, all of it at once', async () => {
  const list = await aList()
  const tools = await aiTools(list)
  const mine = tool({ inputSchema: z.object({}), execute: run })
  const refusal = (options: Partial<SupervisorOptions>) => {
    try {
      createSupervisor({ model: scripted(), store: list, ...options })
    } catch (error) {
      return error
    }
    return undefined
  }
  expect(refusal({ workers: { w: { description: 'x', tools } } })).toMatchObject({
    code: 'bad_input',
    details: { mistakes: Object.keys(tools).map(name => `workers.w.tools.${name}: workers do not see the plan`) },
  })
  const { execute: _, ...unable } = mine
  expect(
    refusal({
      tools: { delegate: mine, complete_todo: mine, unable },
      workers: { ' ': { description: 'x', run }, late: { description: 'x', run, timeoutMs: 1e10 } },
      limits: { base: 0, withPlan: 1.5 },
      completion: 'self',
      check: [],
    }),
  ).toMatchObject({
    details: {
      mistakes: [
        "tools.delegate: is the supervisor's own",
        "tools.complete_todo: is the supervisor's own",
        'tools.unable: has no execute, and the supervisor carries its tools out itself',
        'workers: one has no name',
        'workers.late.timeoutMs: must be a whole number from 1 to 2147483647',
        'limits.base: must be a whole number from 1',
        'limits.withPlan: must be a whole number from 1',
        'check: names no command',
        'check: is not run with completion self',
      ],
    },
  })
  expect(refusal({ completion: 'verified' })).toMatchObject({
    details: { mistakes: ['completion: verified needs a check'] },
  })
  expect(refusal({ workers: { w: { description: 'x', maxSteps: 0 } } })).toMatchObject({ code: 'bad_input' })
})

test('tools that the provider carries out itself are welcome', async () => {
  const search = {
    type: 'provider' as const,
    id: 'x.search' as const,
    args: {},
    inputSchema: z.object({}),
    isProviderExecuted: true as const,
  }
  expect(() => createSupervisor({ model: scripted(), store: undefined as never, tools: { search } })).not.toThrow()
})
