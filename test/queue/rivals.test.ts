import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { everywhere, punchlist } from '../support/cli.ts'
import { type Claimed, ids, Typist } from '../support/queue.ts'
import { Rivals } from '../support/queue-rivals.ts'
import { scratch } from '../support/scratch.ts'

describe.each(ENGINES)('eight processes at one queue at once, on %s', (engine, environment) => {
  let cwd: string
  let typist: Typist
  let rivals: Rivals
  beforeAll(async () => {
    everywhere.env = environment()
    cwd = scratch()
    typist = new Typist(cwd)
    await typist.add(['the only one'])
    rivals = await new Rivals(cwd).ready()
  })
  afterAll(async () => {
    await rivals.end()
    everywhere.env = {}
  })

  test('who want the same task: one has it, and the others are told whose it is', async () => {
    const claim = ['--json', 'queue', 'claim', '1', '--worker']
    const ran = await Promise.all(rivals.names.map(worker => punchlist([...claim, worker], { cwd })))
    const won = ran.filter(({ status }) => status === 0)
    expect(won).toHaveLength(1)
    const { task } = JSON.parse(won[0]!.stdout) as Claimed
    for (const { status, stderr } of ran.filter(one => one !== won[0])) {
      expect([status, stderr]).toEqual([5, expect.stringContaining(`req_0001 is ${task.owner}'s`)])
    }
    expect((await typist.list()).tasks).toMatchObject([{ owner: task.owner, token: 1 }])
    const complete = ['--json', 'queue', 'complete', '1', '--token', '1']
    const ended = await Promise.all(rivals.names.map(() => punchlist(complete, { cwd })))
    expect(ended.map(({ status }) => status)).toEqual(rivals.names.map(() => 0))
    expect((await typist.show('1')).history.filter(({ to }) => to === 'completed')).toHaveLength(1)
  })

  test('who add ten tasks each get eighty different ones', async () => {
    const added = (await rivals.all('add 10')).flat()
    expect(added).toHaveLength(80)
    expect(new Set(added).size).toBe(80)
    const { tasks } = await typist.list('--state', 'to_execute', '--all')
    expect(new Set(ids(tasks))).toEqual(new Set(added))
    if (engine === 'files') expect(readdirSync(join(cwd, 'coordination/to_execute'))).toHaveLength(80)
  })

  test('who divide one task get parts with different numbers, without a gap', async () => {
    const parts = (await rivals.all('add 12 req_0002')).flat()
    const numbers = parts.map(id => /^req_0002_(\d{2})$/.exec(id)?.[1] ?? id).toSorted()
    expect(numbers).toEqual(Array.from({ length: 96 }, (_, n) => String(n + 1).padStart(2, '0')))
    const whole = await typist.show('2')
    expect([whole.blockers, whole.children.length]).toEqual([96, 96])
  })

  test('who claim until nothing is left get every task once, but for the one that waits for its parts', async () => {
    const claimed = await rivals.all('claim')
    expect(claimed.flat()).toHaveLength(175)
    expect(new Set(claimed.flat()).size).toBe(175)
    const { tasks } = await typist.list('--state', 'in_progress', '--all')
    for (const [n, name] of rivals.names.entries()) {
      const own = tasks.filter(({ owner }) => owner === name)
      expect(ids(own).toSorted()).toEqual(claimed[n]!.toSorted())
      expect(own.every(({ token }) => token === 1)).toBe(true)
    }
    expect(await typist.show('2')).toMatchObject({ state: 'to_execute', owner: null })
  })
})
