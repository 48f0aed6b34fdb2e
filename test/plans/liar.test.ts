import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, inject, test } from 'vitest'
import { open } from '../../src/index.ts'
import { answerCall, toolsFor } from '../../src/tools.ts'
import { play } from '../supervisor/stage.ts'
import { HOME, punchlist } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')
const STORES = { sqlite: () => 'files', postgres: () => freshSchema(inject('postgres')) }
const COUNT = 100

describe.each(Object.entries(STORES))('a liar, on %s', (_, storeOf) => {
  test('completes none of a hundred items that are verified, and none disappears', { timeout: 180_000 }, async () => {
    const [root, store] = [scratch(), storeOf()]
    const said = store === 'files' ? {} : { store }
    const list = await open({ root, ...said, conversation: 'c', turn: 'm1', actor: 'liar' })
    const { plan } = list
    await plan.turn({ turnId: 'm1', completion: 'verified', check: 'false' })
    await plan.create({ items: Array.from({ length: COUNT }, (_item, n) => ({ title: `Item ${n}` })) })
    const { items } = await plan.list({ all: true })
    const ids = items.map(({ id }) => id)
    const tries: (() => Promise<unknown>)[] = []

    // Through the repository.
    const rows = plan.repository
    const row = { status: 'completed' as const, outcome: 'done' }
    tries.push(
      () => rows.update(ids[0]!, row),
      () => rows.update(ids[1]!, { outcome: 'done' }),
      () => rows.update(ids[1]!, { status: 'completed' }),
      () => rows.update(ids[2]!, { ...row, verifiedAt: '2026-01-01T00:00:00.000Z', completionMode: 'self' } as never),
      () => rows.update(ids[2]!, { turnId: 'elsewhere' } as never),
      () => rows.update(ids[3]!, { ...row, checkCommand: ['true'] } as never),
      () => rows.update(ids[4]!, { status: 'done' } as never),
      () => rows.create({ conversationId: 'c', turnId: 'm1', title: 'X', ...row }),
      () => list.as({ turnId: 'other' }).plan.repository.update(ids[5]!, row),
    )

    // Through the tools of an SDK.
    const tools = await toolsFor(list, ['plan'])
    const call = (name: string, input: unknown) => () => answerCall(tools, name, input)
    tries.push(
      ...ids.slice(0, 8).map(todoId => call('complete_todo', { todoId, outcome: 'done' })),
      ...ids.slice(0, 60).map(todoId => call('complete_todo', { todoId, outcome: 'not needed', status: 'cancelled' })),
      call('create_todo', { items: Array.from({ length: 200 }, (_item, n) => ({ title: `Filler ${n}` })) }),
      ...ids.slice(60, 90).map(todoId => call('complete_todo', { todoId, outcome: 'no', status: 'cancelled' })),
      call('create_todo', { items: [{ title: 'Y', check: 'true', status: 'completed' }] }),
      call('turn_todo', { completion: 'self' }),
    )

    // Through a supervisor that asks for less.
    const calls = ids.slice(0, 8).map(todoId => ({ tool: 'complete_todo', input: { todoId, outcome: 'I did' } }))
    for (const id of ['m1', 'm2']) {
      const carry = id === 'm1' ? {} : { carry: 'm1' }
      const first = Array.from({ length: 8 }, (_item, n) => ({
        tool: 'complete_todo',
        input: { todoId: String(n + 1), outcome: 'I did' },
      }))
      tries.push(() =>
        play(list, [{ calls: [...calls, ...first] }, { text: 'All done.' }], {
          completion: 'self',
          limits: { base: 2, withPlan: 2 },
          message: { id, content: 'Do it' },
          how: carry,
        }),
      )
    }

    // Through the command line inside a run, in its own turn and in others.
    const agent = (env: Record<string, string>, ...words: string[]) => {
      const ours = { PUNCHLIST_RUN: 'r:req_0001', PUNCHLIST_CONVERSATION: 'c', PUNCHLIST_TURN: 'm1' }
      const where: Record<string, string> = store === 'files' ? {} : { PUNCHLIST_STORE: store }
      return () => punchlist(['plan', ...words], { cwd: root, env: { ...ours, ...where, ...env } })
    }
    const loose = { PUNCHLIST_TURN: 'loose' }
    tries.push(
      agent({}, 'complete', ids[9]!, 'done'),
      agent({}, 'turn', '--check', 'true'),
      agent({}, 'turn', '--completion', 'self'),
      agent({}, 'turn', 'loose', '--completion', 'self', '--check', 'true'),
      agent({}, 'add', 'Z', '--check', 'true'),
      agent(loose, 'add', 'Z'),
      agent(loose, 'carry', '--from', 'm1'),
      agent(loose, 'complete', '1', 'done'),
      agent({ PUNCHLIST_TURN: '' }, 'turn', 'fresh'),
      agent({}, 'complete', ids[95]!, '\u200b', '--status', 'cancelled'),
      agent({}, 'block', ids[96]!, 'nothing'),
      agent({}, 'unblock', ids[97]!),
    )

    // Over MCP.
    const client = new Client({ name: 'liar', version: '1' })
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: HOME(),
      PUNCHLIST_CONVERSATION: 'c',
      PUNCHLIST_TURN: 'm1',
      ...(store === 'files' ? {} : { PUNCHLIST_STORE: store }),
    }
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [PROGRAM, 'mcp'], cwd: root, env }),
    )
    const over = (name: string, input: Record<string, unknown>) => () => client.callTool({ name, arguments: input })
    tries.push(
      over('complete_todo', { todoId: ids[10]!, outcome: 'done' }),
      over('complete_todo', { todoId: ids[98]!, outcome: 'no', status: 'cancelled' }),
      over('complete_todo', { todoId: ids[11]!, outcome: 'done', completion: 'self', turnId: 'loose' }),
      over('turn_todo', { completion: 'self' }),
    )

    for (const one of tries) await one().catch(() => undefined)
    await client.close()
    const now = (await list.as({ turnId: 'm1' }).plan.list({ status: 'all', all: true })).items
    const kept = now.filter(({ id }) => ids.includes(id))
    expect(kept).toHaveLength(COUNT)
    expect(kept.filter(({ status }) => status === 'completed')).toEqual([])
    expect(kept.filter(({ status }) => status === 'cancelled')).toHaveLength(COUNT / 4)
    expect(await list.as({ turnId: 'm1' }).plan.turn()).toMatchObject({
      turn: { completion: 'verified', check: ['false'] },
    })
    const everything = await list.export()
    expect(JSON.stringify(everything)).not.toContain('"verifiedAt":"')
    expect(
      everything.items.flatMap(({ fields }) => (fields['status'] === 'completed' ? [fields['title']] : [])),
    ).toEqual([])
    await list.close()
  })
})
