import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { everywhere } from '../support/cli.ts'
import { type Claimed, ids, leaseless, path, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

const acting = (actor: string) => ({ PUNCHLIST_ACTOR: actor })

describe.each(ENGINES)('a claimed task, from the command line, on %s', (engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('is the most pressing one that is free, and meant for anyone or for this worker', async () => {
    const typist = new Typist(scratch())
    await typist.add([
      { title: 'low', priority: 'LOW' },
      { title: 'for another', priority: 'CRITICAL', targetWorker: 'w9' },
      { title: 'first' },
      { title: 'second' },
      { title: 'waits', priority: 'URGENT', dependsOn: ['#1'] },
    ])
    const claimed = await typist.run<Claimed>('claim', '--worker', 'w1', '--lease', '10m')
    expect(claimed).toEqual({ task: expect.anything(), token: 1 })
    expect(claimed.task).toMatchObject({
      id: 'req_0003',
      state: 'in_progress',
      owner: 'w1',
      token: 1,
      dir: engine === 'files' ? 'coordination/in_progress/req_0003_first' : null,
    })
    expect(Date.parse(claimed.task.leaseUntil!)).toBeGreaterThan(Date.parse(claimed.task.startedAt!))
    const batch = await typist.run<Claimed>('claim', '--worker', 'w1', '--limit', '5')
    expect(ids(batch.tasks!)).toEqual(['req_0004', 'req_0001'])
    const nothing = await typist.refused('claim', '--worker', 'w1')
    expect(nothing).toMatchObject({ status: 3, code: 'nothing_to_do' })
    expect(nothing.message).toContain('2 wait for other tasks or are meant for other workers, 3 in progress')
    expect(await typist.refused('claim', '2', '--worker', 'w1')).toMatchObject({
      status: 5,
      details: { targetWorker: 'w9' },
      hint: expect.stringContaining('--worker w9'),
    })
    expect((await typist.claim('w9')).id).toBe('req_0002')
    expect(await typist.refused('claim', '3', '--worker', 'w2')).toMatchObject({
      status: 5,
      details: { owner: 'w1', leaseUntil: expect.any(String) },
    })
    expect(await typist.refused('claim', '77', '--worker', 'w1')).toMatchObject({ status: 4, code: 'not_found' })
  })

  test('is lost with its lease: whoever had it is refused, whatever they report', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A'])
    const ann = typist.with(acting('ann'))
    const { token } = await ann.claim('ann', '--lease', '300ms')
    await sleep(350)
    const taken = await typist.claim('bob')
    expect(taken).toMatchObject({ id: 'req_0001', owner: 'bob', state: 'in_progress' })
    expect(taken.token).toBeGreaterThan(token)
    const before = leaseless(await typist.show('1'))
    for (const args of [
      ['heartbeat', '1'],
      ['checkpoint', '1', '--summary', 'late'],
      ['complete', '1'],
      ['complete', '1', '--note', 'late'],
      ['fail', '1', '--type', 't', '--what', 'w'],
      ['return', '1'],
      ['cancel', '1', '--reason', 'late'],
    ]) {
      const late = await ann.refused(...args, '--token', String(token))
      expect([late.status, late.code], args[0]).toEqual([6, 'lease_lost'])
      expect(late.hint).toContain('claim something else')
    }
    const stale = ann.with({ PUNCHLIST_TOKEN: String(token) })
    expect((await stale.refused('complete', '1')).status).toBe(6)
    for (const PUNCHLIST_TASK of ['1', 'req_0001', 'req_0001_a'])
      expect((await stale.with({ PUNCHLIST_TASK }).refused('complete', '1')).status).toBe(6)
    expect(leaseless(await typist.show('1'))).toEqual(before)
    expect(path(await typist.show('1'))).toEqual(['to_execute', 'in_progress', 'to_execute', 'in_progress'])
    expect(before.history.at(-2)!.why).toContain('the lease of ann ran out')
    const bob = typist.with({ ...acting('bob'), PUNCHLIST_TOKEN: String(taken.token), PUNCHLIST_TASK: 'req_0001' })
    const done = await bob.run('complete', '1')
    expect(done.task).toMatchObject({ state: 'completed', owner: 'bob', leaseUntil: null })
    expect((await ann.refused('complete', '1', '--token', String(token))).status).toBe(6)
  })

  test('is held longer by a worker that renews it, until it is over', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A'])
    const claimed = await typist.claim('ann', '--lease', '20s')
    const renewed = (await typist.run('heartbeat', '1', '--token', '1')).task
    expect(leaseless(renewed)).toEqual(leaseless(claimed))
    expect(Date.parse(renewed.leaseUntil!)).toBeGreaterThan(Date.parse(claimed.leaseUntil!) + 800_000)
    await typist.run('complete', '1', '--token', '1')
    expect(await typist.refused('heartbeat', '1', '--token', '1')).toMatchObject({ status: 6, code: 'lease_lost' })
  })

  test('is given back by recover once its lease has run out, and says so', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A', 'B'])
    await typist.claim('bob', '2')
    await typist.claim('ann', '--lease', '50ms')
    await sleep(100)
    const recovered = await typist.run<{ recovered: unknown[]; stale: unknown[] }>('recover')
    expect(recovered).toMatchObject({
      recovered: [
        { id: 'req_0001', from: 'in_progress', to: 'to_execute', what: expect.stringMatching(/lease of ann/) },
      ],
      stale: [],
    })
    expect(await typist.run('recover')).toMatchObject({ recovered: [], stale: [] })
    expect((await typist.show('1')).owner).toBeNull()
    expect((await typist.show('2')).owner).toBe('bob')
    expect((await typist.refused('complete', '1', '--token', '1')).status).toBe(6)
  })

  test('is reported on in checkpoints, waits for a reply, and gets it', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A', 'B'])
    await typist.claim('w1')
    expect((await typist.refused('checkpoint', '2', '--summary', 's')).hint).toContain('queue claim req_0002')
    const worker = typist.with({ ...acting('w1'), PUNCHLIST_TOKEN: '1', PUNCHLIST_TASK: 'req_0001' })
    const first = await worker.run('checkpoint', '1', '--summary', '3 of 8\n\n## converted')
    expect(first.task).toMatchObject({ checkpoints: 1, waiting: false, state: 'in_progress' })
    expect((await typist.list('--waiting')).tasks).toEqual([])
    expect(await typist.refused('reply', '1', 'x')).toMatchObject({ status: 5, code: 'move_refused' })
    const second = await worker.run('checkpoint', '1', '--summary', 'stuck', '--needs', 'which indentation?')
    expect(second.task).toMatchObject({ checkpoints: 2, waiting: true })
    expect(ids((await typist.list('--waiting')).tasks)).toEqual(['req_0001'])
    const replied = await typist.run('reply', '1', 'two spaces')
    expect(replied.task).toMatchObject({ checkpoints: 2, waiting: false, owner: 'w1', token: 1 })
    expect((await typist.refused('reply', '1', 'no, four')).status).toBe(5)
    // The same question after a reply is another one.
    expect(
      (await worker.run('checkpoint', '1', '--summary', 'stuck', '--needs', 'which indentation?')).task,
    ).toMatchObject({ checkpoints: 3, waiting: true })
    const { texts } = await typist.show('1')
    expect(Object.keys(texts).toSorted()).toEqual([
      'checkpoint_001.md',
      'checkpoint_002.md',
      'checkpoint_002_reply.md',
      'checkpoint_003.md',
    ])
    expect(texts['checkpoint_002.md']).toMatch(/\*\*Status:\*\* awaiting_input[^]*## Needs\n\nwhich indentation\?/)
    expect(texts['checkpoint_002_reply.md']).toContain('two spaces')
    // A task that is over waits for nobody.
    await worker.run('complete', '1')
    expect((await typist.list('--waiting')).tasks).toEqual([])
  })

  test('is completed once, by its token or on somebody’s own authority, which the log tells', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A', 'B', 'C'])
    for (const worker of ['w1', 'w2', 'w3']) await typist.claim(worker)
    const done = await typist.run('complete', '1', '--token', '1', '--note', 'converted\n\n214 tests green')
    expect(done.task).toMatchObject({ state: 'completed', owner: 'w1', leaseUntil: null, token: 1 })
    expect(done.task.finishedAt).toEqual(expect.any(String))
    const shown = await typist.show('1')
    expect(shown.texts['execution_log.md']).toMatch(
      /^# Execution Log\n\n## .* - completed\n\n\*\*By:\*\* tester\n\nconverted/,
    )
    expect(await typist.run('complete', '1', '--token', '1')).toEqual(done)
    expect(await typist.run('complete', '1')).toEqual(done)
    expect(await typist.refused('complete', '1', '--token', '7')).toMatchObject({ status: 6, code: 'lease_lost' })
    await typist.run('complete', '2')
    expect((await typist.show('2')).history.at(-1)).toMatchObject({ by: 'tester', why: '(without a token)' })
    await typist.run('complete', '3', '--note', 'by hand')
    expect((await typist.show('3')).history.at(-1)!.why).toBe('by hand (without a token)')
    for (const args of [
      ['claim', '1', '--worker', 'w1'],
      ['fail', '1', '--type', 't', '--what', 'w'],
      ['retry', '1'],
      ['return', '1'],
      ['release', '1'],
      ['cancel', '1', '--reason', 'no'],
      ['checkpoint', '1', '--summary', 's'],
    ]) {
      expect(await typist.refused(...args), args[0]).toMatchObject({ status: 5, code: 'move_refused' })
    }
    expect(await typist.show('1')).toEqual(shown)
  })

  test('fails with a report, is tried again, and keeps every report', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A'])
    await typist.claim('w1')
    const what = ['--what', 'the compiler crashes', '--tried', 'an older version']
    const failed = await typist.run('fail', '1', '--type', 'build', ...what, '--token', '1')
    expect(failed.task).toMatchObject({ state: 'error', owner: 'w1', leaseUntil: null })
    expect((await typist.show('1')).history.at(-1)!.why).toContain('build: the compiler crashes')
    expect(await typist.refused('claim', '1', '--worker', 'w1')).toMatchObject({
      status: 5,
      hint: expect.stringContaining('queue retry req_0001'),
    })
    expect((await typist.refused('claim', '--worker', 'w1')).hint).toContain('queue retry')
    for (const kind of ['second', 'third']) {
      const again = await typist.run('retry', '1', '--reason', 'updated')
      expect(again.task).toMatchObject({ state: 'to_execute', owner: null, startedAt: null, finishedAt: null })
      const { token } = await typist.claim('w1')
      await typist.run('fail', '1', '--type', kind, '--what', 'again', '--token', String(token))
    }
    const { texts } = await typist.show('1')
    const types = Object.entries(texts).map(([name, text]) => [name, /Error Type:\*\* (\w+)/.exec(text)?.[1]])
    expect(Object.fromEntries(types)).toEqual({
      'error_report.md': 'third',
      'error_report_001.md': 'build',
      'error_report_002.md': 'second',
      'execution_log.md': undefined,
    })
    expect(texts['error_report_001.md']).toMatch(
      /## What Happened\n\nthe compiler crashes\n\n## What Was Tried\n\nan older/,
    )
    expect((await typist.run('cancel', '1', '--reason', 'enough')).task.state).toBe('cancelled')
  })

  test('is given back for anyone, with the reason in its log', async () => {
    const typist = new Typist(scratch())
    await typist.add(['A'])
    await typist.claim('w1')
    const { task } = await typist.run('return', '1', '--token', '1', '--reason', 'needs a GPU')
    expect(task).toMatchObject({ state: 'to_execute', owner: null, leaseUntil: null, startedAt: null })
    expect((await typist.show('1')).texts['execution_log.md']).toContain('needs a GPU')
    expect((await typist.refused('complete', '1', '--token', '1')).status).toBe(6)
    const second = await typist.claim('w2')
    expect(second.token).toBeGreaterThan(1)
    expect((await typist.refused('return', '1', '--token', '1')).status).toBe(6)
    expect((await typist.refused('retry', '1')).hint).toContain('queue return req_0001')
  })

  test('that is over is refused as such, whomever it was meant for', async () => {
    const typist = new Typist(scratch())
    await typist.add([
      { title: 'A', targetWorker: 'w1' },
      { title: 'B', targetWorker: 'w1' },
    ])
    await typist.claim('w1')
    await typist.run('complete', '1')
    await typist.run('cancel', '2', '--reason', 'no')
    for (const [id, state] of [
      ['1', 'completed'],
      ['2', 'cancelled'],
    ] as const) {
      const refused = await typist.refused('claim', id, '--worker', 'w2')
      expect(refused).toMatchObject({ status: 5, code: 'move_refused' })
      expect(refused.message).toContain(`req_000${id} is ${state}`)
    }
  })
})
