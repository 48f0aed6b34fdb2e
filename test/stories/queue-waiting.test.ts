import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { ended, everywhere } from '../support/cli.ts'
import { answered, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

/** Long enough for a process to have begun to wait, on a machine that is busy. */
const SETTLED_MS = 1500

describe.each(ENGINES)('a worker that waits for work, on %s', (_engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('is woken by a task that is added, one that is freed, and one whose lease runs out', async () => {
    const [empty, blocked, held] = [scratch(), scratch(), scratch()].map(cwd => new Typist(cwd))
    // Each folder is a queue of its own; a database is one for all of them.
    const one = everywhere.env['PUNCHLIST_STORE']?.startsWith('postgres')
    const schemas = [0, 1, 2].map(() => (one ? environment() : {}))
    const [adding, freeing, lapsing] = [empty!, blocked!, held!].map((typist, n) => typist.with(schemas[n]!))
    await freeing!.add(['A', { title: 'B', dependsOn: ['#1'] }])
    await freeing!.claim('w1')
    await lapsing!.add(['C'])
    await lapsing!.claim('w1', '--lease', '4s')
    const waiting = [adding!, freeing!, lapsing!].map(typist =>
      ended(typist.begin('claim', '--worker', 'w2', '--wait', '--for', '45s')),
    )
    await sleep(SETTLED_MS)
    await adding!.add(['New'])
    await freeing!.run('complete', '1', '--token', '1')
    const [added, freed, lapsed] = (await Promise.all(waiting)).map(ran => answered(ran).task)
    expect(added).toMatchObject({ id: 'req_0001', title: 'New', owner: 'w2', token: 1 })
    expect(freed).toMatchObject({ id: 'req_0002', title: 'B', owner: 'w2', token: 1 })
    expect(lapsed).toMatchObject({ id: 'req_0001', title: 'C', owner: 'w2', token: 3 })
  })

  test('gives up when the time it was given is over, and goes on waiting past tasks that are not for it', async () => {
    const typist = new Typist(scratch())
    await typist.add([{ title: 'A', targetWorker: 'w9' }])
    const patient = ended(typist.begin('claim', '--worker', 'w1', '--wait'))
    expect(await typist.refused('claim', '--worker', 'w2', '--for', '300ms')).toMatchObject({
      status: 3,
      code: 'nothing_to_do',
      message: expect.stringContaining('1 wait for other tasks or are meant for other workers'),
    })
    await typist.add([{ title: 'B', targetWorker: 'w9' }, 'C'])
    expect(answered(await patient).task).toMatchObject({ title: 'C', owner: 'w1' })
  })

  test('shares what comes with others that wait: each gets one', async () => {
    const typist = new Typist(scratch())
    await typist.add(['first'], '--stage')
    const waiting = ['w1', 'w2', 'w3'].map(worker => ended(typist.begin('claim', '--worker', worker, '--wait')))
    await sleep(SETTLED_MS)
    await typist.run('release', '1')
    await typist.add(['second', 'third'])
    const tasks = (await Promise.all(waiting)).map(ran => answered(ran).task)
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(3)
    expect(tasks.map(({ owner }) => owner)).toEqual(['w1', 'w2', 'w3'])
    // Whoever saw it first, the log tells who released it.
    expect((await typist.show('1')).history.slice(0, 2)).toMatchObject([
      { to: 'staged', by: 'tester', why: null },
      { to: 'to_execute', by: 'tester', why: null },
    ])
  })
})
