import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { open } from '../../src/index.ts'
import { acceptAll, answer, punchlist } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'
import { completed, planIn, planned, play, told } from './stage.ts'

const STORES = { sqlite: () => 'sqlite::memory:', postgres: () => freshSchema(inject('postgres')) }
const cancelled = (place: number, outcome: string) => ({
  tool: 'complete_todo',
  input: { todoId: String(place), outcome, status: 'cancelled' },
})
const titles = (count: number) => Array.from({ length: count }, (_item, n) => `Item ${n + 1}`)

describe.each(Object.entries(STORES))('a plan that has to be verified, on %s', (_engine, store) => {
  const opened = async () => await open({ root: scratch(), store: store() })
  const short = { check: ['false'], limits: { base: 6, withPlan: 6 } }

  test('is not cancelled away: a quarter may be, the rest waits for a person, and all of it is told', async () => {
    const list = await opened()
    const all = titles(8).map((_title, n) => cancelled(n + 1, `not needed ${n + 1}`))
    const { result } = await play(list, [planned(...titles(8)), { calls: all }, { text: 'Done.' }], short)
    const counts = { completed: 0, verified: 0, cancelled: 2, blocked: 6, left: 6 }
    expect(result).toMatchObject({ remaining: 6, counts })
    expect(result.text).toContain('Cancelled:\n- Item 1: not needed 1\n- Item 2: not needed 2')
    expect(result.text).toContain('Of the plan: 0 completed, 0 verified, 2 cancelled, 6 blocked, 6 left.')
    expect(result.text).toContain('needs you: a person decides whether it is cancelled: not needed 3')
    await list.close()
  })

  test('is not made longer in order to be cancelled, nor made anew item by item', async () => {
    const list = await opened()
    const more = planned(...Array.from({ length: 40 }, (_item, n) => `Look at file ${n}`))
    const all = titles(8).map((_title, n) => cancelled(n + 1, 'no'))
    await play(list, [planned(...titles(8)), more, { calls: all }, { text: 'x' }], {
      ...short,
      limits: { base: 4, withPlan: 4 },
    })
    const real = (await planIn(list)).filter(({ title }) => title.startsWith('Item'))
    expect(real.filter(({ status }) => status === 'cancelled')).toHaveLength(2)

    const { plan } = list.as({ conversationId: 'alone' })
    await plan.create({ items: [{ title: 'A' }] })
    await plan.turn({ completion: 'verified', check: 'false' })
    await plan.complete({ todoId: '1', outcome: 'no', status: 'cancelled' })
    await plan.create({ items: [{ title: 'B' }] })
    await expect(plan.complete({ todoId: '1', outcome: 'no', status: 'cancelled' })).rejects.toThrow(
      'was not cancelled',
    )
    await list.close()
  })

  test('is cancelled freely once the user has spoken since it was made', async () => {
    const list = await opened()
    await play(list, [planned(...titles(4)), { text: 'Shall I?' }], { ...short, limits: { base: 2, withPlan: 2 } })
    const all = titles(4).map((_title, n) => cancelled(n + 1, 'the user says so'))
    const message = { id: 'm2', content: 'Forget it' }
    const { result } = await play(list, [{ calls: all }, { text: 'Forgotten.' }], {
      ...short,
      message,
      how: { carry: true },
    })
    expect(result).toMatchObject({ remaining: 0, counts: { cancelled: 4, left: 0 } })
    await list.close()
  })

  test('runs a check that fails five times and then asks a person, who may let it run again', async () => {
    const root = scratch()
    const list = await open({ root, store: store() })
    const runs = join(root, 'runs')
    const check = ['sh', '-c', `echo ran >>${runs}; echo 3 failing; test -f ${root}/mended`]
    const insist = { calls: [{ tool: 'start_todo', input: { todoId: '1' } }, completed(1, 'done')] }
    const { result, events } = await play(
      list,
      [planned('A', 'B'), ...Array.from({ length: 9 }, () => insist), { text: 'x' }],
      { check },
    )
    expect(readFileSync(runs, 'utf8')).toBe('ran\n'.repeat(5))
    expect(result.counts).toMatchObject({ completed: 0, left: 2 })
    expect(told(events, 'tool_failed').at(-1)!.error).toContain('has failed 5 times')
    expect((await planIn(list))[0]!.needs).toContain('3 failing')
    writeFileSync(join(root, 'mended'), '')
    const { plan } = list.as({ conversationId: 'c', turnId: 'm1' })
    await expect(plan.complete({ todoId: '1', outcome: 'x' })).rejects.toThrow('has failed 5 times')
    await plan.unblock({ todoId: '1' })
    expect(await plan.complete({ todoId: '1', outcome: 'x' })).toMatchObject({ status: 'completed' })
    await list.close()
  })
})

test('a reason takes visible characters, and status counts what became of the plan', async () => {
  const here = { cwd: scratch() }
  await answer(['plan', 'add', 'A', 'B'], here)
  for (const reason of ['\u200b', '\u3164\u2800', ' \u00ad ']) {
    expect((await punchlist(['plan', 'complete', '1', reason, '--status', 'cancelled'], here)).status).toBe(2)
  }
  await answer(['plan', 'complete', '1', '…', '--status', 'cancelled'], here)
  await answer(['plan', 'block', '2', 'a password'], here)
  const counts = { completed: 0, verified: 0, cancelled: 1, blocked: 1, left: 1 }
  expect(await answer(['status'], here)).toMatchObject({ plan: { counts } })
  expect((await punchlist(['status'], here)).stdout).toContain('1 cancelled, 1 blocked')
})

test('the settings name the check of turns that have none, and it runs once its user has accepted it', async () => {
  const here = { cwd: scratch() }
  await answer(['plan', 'turn', 't', '--completion', 'verified'], here)
  await answer(['plan', 'add', 'A', 'B'], here)
  writeFileSync(
    join(here.cwd, 'punchlist.json'),
    JSON.stringify({ plan: { completion: 'verified', check: 'touch ran' } }),
  )
  expect((await punchlist(['plan', 'complete', '1', 'done'], here)).status).toBe(5)
  expect(existsSync(join(here.cwd, 'ran'))).toBe(false)
  await acceptAll(here)
  expect(await answer(['plan', 'complete', '1', 'done'], here)).toMatchObject({
    status: 'completed',
    verifiedAt: expect.any(String),
  })
  expect(existsSync(join(here.cwd, 'ran'))).toBe(true)
})
