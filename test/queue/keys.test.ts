import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { copyOf, stageOf, struckIn } from '../support/answer-sweep.ts'
import { ENGINES } from '../support/backlog.ts'
import { acceptAll, everywhere } from '../support/cli.ts'
import { ids, Typist } from '../support/queue.ts'
import { Rivals } from '../support/queue-rivals.ts'
import { scratch } from '../support/scratch.ts'

/** `npm run soak` sets it. */
const long = process.env['STORM'] !== undefined
const ROUNDS = long ? 200 : 6

/** Adds under one key at once, round after round: the ids that were answered, by round. */
async function roundsOf(rivals: Rivals, rounds: number): Promise<string[][]> {
  const { length } = rivals.names
  const answered: string[][] = []
  for (let round = 1; round <= rounds; round++)
    answered.push([...new Set((await rivals.all(`key ${length}-${round}`)).flat())])
  return answered
}

describe.each(ENGINES)('processes that add under one key at once, on %s', (engine, environment) => {
  beforeAll(() => {
    everywhere.env = environment()
  })
  afterAll(() => {
    everywhere.env = {}
  })

  test.each(
    long
      ? [
          [8, ROUNDS],
          [32, 50],
        ]
      : [[8, ROUNDS]],
  )(
    '%i of them get one task, and it is the only one: %i rounds',
    async (count, rounds) => {
      const cwd = scratch()
      const typist = new Typist(cwd)
      await typist.add(['first'])
      const rivals = await new Rivals(cwd, count).ready()
      const answered = await roundsOf(rivals, rounds)
      await rivals.end()
      expect(answered.filter(got => got.length !== 1)).toEqual([])
      const { tasks } = await typist.list('--all')
      const keyed = tasks.filter(({ title }) => title.startsWith(`Keyed ${count}-`))
      expect(ids(keyed).toSorted()).toEqual(answered.flat().toSorted())
      if (engine === 'files') expect(readdirSync(join(cwd, 'coordination/.punchlist/new'))).toEqual([])
    },
    1_800_000,
  )
})

test('processes of two workspaces that share a queue get one task under one key', async () => {
  const top = scratch()
  const roots = ['one', 'two'].map(name => join(top, name))
  for (const cwd of roots) {
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ paths: { queue: '../shared' } }))
    await acceptAll({ cwd })
  }
  const rivals = await new Rivals(roots).ready()
  const answered = await roundsOf(rivals, ROUNDS)
  await rivals.end()
  expect(answered.filter(got => got.length !== 1)).toEqual([])
  for (const cwd of roots) expect(ids((await new Typist(cwd).list('--all')).tasks)).toHaveLength(ROUNDS)
  // What the other workspace has finished meanwhile holds its key all the same.
  const [one, two] = roots.map(cwd => new Typist(cwd))
  const [late] = await one!.add([{ title: 'Late', key: 'late' }])
  await one!.claim('w', late!.id)
  await one!.run('complete', late!.id)
  expect(ids(await two!.add([{ title: 'Late', key: 'late' }]))).toEqual([late!.id])
}, 1_800_000)

describe('a key whose adder was killed', () => {
  test('at any call: adding it again makes the task, or answers with the one that is there', async () => {
    const stage = await stageOf('queue add with a key')
    const kills = stage.strikes.filter(({ fault }) => fault === 'signal=KILL')
    expect(kills.length).toBeGreaterThan(10)
    const wrong: string[] = []
    for (const strike of long ? kills : kills.filter((_, n) => n % 4 === 0)) {
      const root = await struckIn(stage, strike)
      const list = await open({ root, store: 'files', actor: 'tester' })
      const again = async () => {
        const items = [{ title: 'C', description: 'All of it.', expect: 'It is done.', key: 'k' }]
        return (await list.queue.add({ items })).task.id
      }
      const got = [await again(), await again()]
      const there = (await list.queue.list({})).tasks.filter(({ title }) => title === 'C').map(({ id }) => id)
      await list.queue.recover({})
      const left = readdirSync(join(root, 'coordination/.punchlist/new'))
      await list.close()
      if (new Set([...got, ...there]).size !== 1 || there.length !== 1 || left.length > 0)
        wrong.push(`${strike.call} ${strike.when}: ${got.join()} of ${there.join()}, left ${left.join()}`)
      else rmSync(root, { recursive: true })
    }
    expect(wrong).toEqual([])
  })

  test('belongs to another task once its own was removed by hand', async () => {
    const { root } = await stageOf('queue add with a key')
    const cwd = copyOf(root)
    const list = await open({ root: cwd, store: 'files', actor: 'tester' })
    const items = [{ title: 'C', description: 'All of it.', expect: 'It is done.', key: 'k' }]
    const first = (await list.queue.add({ items })).task
    rmSync(join(cwd, first.dir!), { recursive: true })
    const second = (await list.queue.add({ items })).task
    expect(second.id).not.toBe(first.id)
    expect((await list.queue.add({ items })).task.id).toBe(second.id)
    await list.close()
  })

  test('is answered by nobody whose note came with another one’s files', async () => {
    const { root } = await stageOf('queue add with a key')
    const cwd = copyOf(root)
    const list = await open({ root: cwd, store: 'files', actor: 'tester' })
    const items = [{ title: 'C', description: 'All of it.', expect: 'It is done.', key: 'k' }]
    const first = (await list.queue.add({ items })).task
    const keys = join(cwd, 'coordination/.punchlist/keys')
    const [name] = readdirSync(keys)
    expect(name).toMatch(/^[0-9a-f]{64}\.1$/)
    rmSync(join(cwd, first.dir!), { recursive: true })
    // Without the seal it names req_0001, which is there.
    writeFileSync(join(keys, name!), JSON.stringify({ id: 'req_0001' }))
    expect((await list.queue.add({ items })).task.id).not.toBe('req_0001')
    await list.close()
  })
})
