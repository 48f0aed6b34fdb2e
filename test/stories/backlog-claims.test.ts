import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES, leaseless, type One, path, ready, Typist } from '../support/backlog.ts'
import { everywhere } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

interface Finished extends One {
  readonly freed: string[]
}

const acting = (actor: string) => ({ PUNCHLIST_ACTOR: actor })

describe.each(ENGINES)('a claimed todo, from the command line, on %s', (_engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('is one worker’s, with a lease and a token, until it is given back', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'), 'not triaged')
    const { todo } = await typist.run('claim', '1', '--as', 'ann', '--lease', '10m')
    expect(todo).toMatchObject({ status: 'in_progress', assigned_to: 'ann', token: 1 })
    expect(todo.claimed_at).toEqual(expect.any(String))
    const second = await typist.refused('claim', '1', '--as', 'bob')
    expect(second).toMatchObject({ status: 5, code: 'move_refused' })
    expect(second.message).toContain('ann')
    // Claiming one's own again renews the lease, and is the same claim.
    const renewed = await typist.run('claim', '1', '--as', 'ann', '--lease', '2h')
    expect(Date.parse(renewed.todo.leaseUntil!)).toBeGreaterThan(Date.parse(todo.leaseUntil!))
    expect(renewed.todo).toEqual({ ...todo, leaseUntil: renewed.todo.leaseUntil })

    const ann = typist.with(acting('ann'))
    const released = await ann.run('release', '1', '--token', '1', '--reason', 'too hard')
    expect(released.todo).toMatchObject({ status: 'ready', assigned_to: null, claimed_at: null, leaseUntil: null })
    expect(released.todo.resolution_reason).toBeNull()
    expect((await ann.run('release', '1')).todo).toEqual(released.todo)
    const shown = await typist.show('1')
    expect(path(shown)).toEqual(['ready', 'in_progress', 'interrupted', 'ready'])
    expect(shown.history[2]).toMatchObject({ by: 'ann', why: 'too hard' })
    expect((await typist.run('claim', '1', '--as', 'bob')).todo.assigned_to).toBe('bob')

    const untriaged = await typist.refused('claim', '2')
    expect(untriaged).toMatchObject({ status: 5, details: { legal: ['ready', 'complete', 'wont_fix'] } })
    await typist.run('claim', '2', '--triage')
    expect(path(await typist.show('2'))).toEqual(['pending', 'ready', 'in_progress'])
  })

  test('is not reported on by someone who has lost it', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'), ready('other'))
    const ann = typist.with(acting('ann'))
    const { token } = (await ann.run('claim', '1')).todo
    await typist.run('interrupt', '1', '--reason', 'the machine goes down')
    await typist.run('resume', '1')
    const bob = (await typist.run('claim', '1', '--as', 'bob')).todo
    expect(bob.token).toBeGreaterThan(token)
    const before = leaseless(await typist.show('1'))
    for (const args of [
      ['complete', '1', '--reason', 'late'],
      ['log', '1', 'late'],
      ['block', '1', '--on', '2'],
      ['interrupt', '1'],
      ['release', '1'],
      ['dismiss', '1', '--as', 'wont_fix', '--reason', 'late'],
    ]) {
      const late = await ann.refused(...args, '--token', String(token))
      expect([late.status, late.code], args[0]).toEqual([6, 'lease_lost'])
    }
    const stale = { PUNCHLIST_TOKEN: String(token) }
    const told = ['complete', '1', '--reason', 'late']
    expect((await ann.with(stale).refused(...told)).status).toBe(6)
    for (const PUNCHLIST_TASK of ['1', 'review/001', 'work/default/review/001']) {
      expect((await ann.with({ ...stale, PUNCHLIST_TASK }).refused(...told)).status).toBe(6)
    }
    expect(leaseless(await typist.show('1'))).toEqual(before)
    // A token for another todo says nothing about this one; a person's own authority does, and the history tells.
    await ann.with({ ...stale, PUNCHLIST_TASK: 'review/002' }).run('complete', '1', '--reason', 'by hand')
    const last = (await typist.show('1')).history.at(-1)
    expect(last).toMatchObject({ to: 'complete', by: 'ann', why: 'by hand (without a token)' })
  })

  test('is taken over once its lease has run out, and the first claimant is told', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'))
    await typist.run('claim', '1', '--as', 'ann', '--lease', '50ms')
    await sleep(100)
    const nothing = await typist.refused('next')
    expect(nothing).toMatchObject({ status: 3, details: { why: 'all_claimed' } })
    expect(nothing.hint).toContain('punchlist backlog claim review/001')
    const { todo } = await typist.run('claim', '1', '--as', 'bob')
    expect(todo).toMatchObject({ status: 'in_progress', assigned_to: 'bob', resolution_reason: null })
    const late = await typist.with(acting('ann')).refused('complete', '1', '--reason', 'mine', '--token', '1')
    expect([late.status, late.code]).toEqual([6, 'lease_lost'])
    const token = String(todo.token)
    const done = await typist.with(acting('bob')).run('complete', '1', '--reason', 'his', '--token', token)
    expect(done.todo).toMatchObject({ status: 'complete', completed_by: 'bob', resolution_reason: 'his' })
    const shown = await typist.show('1')
    expect(path(shown)).toEqual(['ready', 'in_progress', 'interrupted', 'ready', 'in_progress', 'complete'])
    expect(shown.history[2]!.why).toContain('ann')
  })

  test('is completed once, for good, and then refuses every verb', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'), 'b', ready('c'), 'd')
    await typist.run('claim', '1')
    const done = await typist.run<Finished>('complete', '1', '--reason', 'escaped in a.ts')
    expect(done).toMatchObject({
      freed: [],
      todo: {
        status: 'complete',
        resolution: 'fixed',
        resolution_reason: 'escaped in a.ts',
        resolved_by: 'tester',
        completed_by: 'tester',
        assigned_to: 'tester',
        leaseUntil: null,
      },
    })
    expect(await typist.run<Finished>('complete', '1', '--reason', 'escaped in a.ts')).toEqual(done)
    expect((await typist.show('1')).body.match(/escaped in a\.ts/g)).toHaveLength(1)
    await typist.run('dismiss', '2', '--as', 'wont_fix', '--reason', 'no')
    const before = [await typist.show('1'), await typist.show('2')]
    for (const args of [
      ['complete', '1', '--reason', 'another'],
      ['dismiss', '1', '--as', 'wont_fix', '--reason', 'x'],
      ['approve', '1'],
      ['claim', '1'],
      ['release', '1'],
      ['block', '1', '--on', '3'],
      ['unblock', '1'],
      ['interrupt', '1'],
      ['resume', '1'],
      ['dismiss', '2', '--as', 'wont_fix', '--reason', 'another'],
      ['complete', '2', '--reason', 'x'],
      ['claim', '2', '--triage'],
    ]) {
      const refused = await typist.refused(...args)
      expect([refused.status, refused.code, refused.details['legal']], args.join(' ')).toEqual([5, 'move_refused', []])
    }
    expect([await typist.show('1'), await typist.show('2')]).toEqual(before)

    // What nobody worked on may be complete for another reason; what was worked on has been fixed.
    await typist.run('claim', '3')
    const other = await typist.refused('complete', '3', '--reason', 'x', '--resolution', 'superseded')
    expect(other).toMatchObject({ status: 5, details: { field: 'resolution', allowed: ['fixed'] } })
    const direct = await typist.run('complete', '4', '--reason', 'is no fault', '--resolution', 'false_positive')
    expect(direct.todo).toMatchObject({ status: 'complete', resolution: 'false_positive', assigned_to: null })
  })

  test('waits for others, keeps its owner, and goes on when they are done or given up', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'), 'b', 'c')
    const ann = typist.with(acting('ann'))
    const { todo: claimed } = await ann.run('claim', '1')
    expect(await ann.refused('block', '1')).toMatchObject({ status: 5, details: { missing: ['dependencies'] } })
    const { todo } = await ann.run('block', '1', '--on', '2', '--on', 'review/3', '--token', '1')
    expect(todo).toMatchObject({
      status: 'blocked',
      dependencies: ['review/002', 'review/003'],
      assigned_to: 'ann',
      claimed_at: claimed.claimed_at,
    })
    expect((await ann.run('block', '1', '--on', '2')).todo).toEqual(todo)
    const rival = await typist.refused('claim', '1', '--as', 'bob')
    expect(rival).toMatchObject({ status: 5, code: 'move_refused' })
    expect(rival.hint).toContain('punchlist backlog unblock review/001 --as bob')
    const early = await ann.refused('unblock', '1')
    expect(early).toMatchObject({ status: 5, details: { open: ['review/002', 'review/003'] } })
    expect((await typist.run<Finished>('complete', '2', '--reason', 'done')).freed).toEqual([])
    const given = await typist.run<Finished>('dismiss', '3', '--as', 'out_of_scope', '--reason', 'not ours')
    expect(given.freed).toEqual(['review/001'])
    const going = await ann.run<One & { notes: string[] }>('unblock', '1', '--token', '1')
    expect(going.todo).toMatchObject({ status: 'in_progress', assigned_to: 'ann', claimed_at: claimed.claimed_at })
    expect(going.notes).toEqual([expect.stringContaining('review/003')])
    expect((await ann.run('complete', '1', '--reason', 'done', '--token', '1')).todo.status).toBe('complete')
  })

  test('goes on without what turned out not to be needed, with a lease of its own, and the history says so', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'), ready('b'), ready('c'))
    await typist.run('claim', '1')
    await typist.run('block', '1', '--on', '2', '--on', '3')
    const early = await typist.refused('unblock', '1', '--without', '2')
    expect(early).toMatchObject({ status: 5, details: { open: ['review/002', 'review/003'] } })
    expect(early.message).toBe('review/001 still waits for review/003')
    const { todo } = await typist.run('unblock', '1', '--without', '2', '--without', 'review/3')
    expect(todo).toMatchObject({ status: 'in_progress', dependencies: [], token: 1 })
    expect(todo.leaseUntil).not.toBeNull()
    const { history } = (await typist.run<{ todo: { history: { why: string | null }[] } }>('show', '1')).todo
    expect(history.at(-1)?.why).toBe('without 2, review/3')
  })

  test('never waits in a circle', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'), ready('b'), ready('c'))
    for (const id of ['1', '2', '3']) await typist.run('claim', id)
    await typist.run('block', '1', '--on', '2')
    await typist.run('block', '2', '--on', '3')
    const circle = await typist.refused('block', '3', '--on', '1')
    expect(circle).toMatchObject({ status: 5, code: 'move_refused' })
    expect(circle.details['cycle']).toEqual(['review/003', 'review/001', 'review/002', 'review/003'])
    expect(circle.message).toContain('review/003 -> review/001 -> review/002 -> review/003')
    expect(await typist.refused('block', '3', '--on', '3')).toMatchObject({ status: 2, code: 'bad_input' })
    expect(await typist.refused('block', '3', '--on', '99')).toMatchObject({ status: 4 })
    expect(await typist.show('3')).toMatchObject({ status: 'in_progress', dependencies: [] })
  })

  test('is not approved by resuming what is pending, nor resumed by approving what was interrupted', async () => {
    const typist = new Typist(scratch())
    await typist.add('not triaged', ready('b'))
    const untriaged = await typist.refused('resume', '1')
    expect(untriaged).toMatchObject({
      status: 5,
      code: 'move_refused',
      hint: expect.stringContaining('backlog approve'),
    })
    expect((await typist.show('1')).status).toBe('pending')
    await typist.run('claim', '2')
    await typist.run('interrupt', '2')
    const interrupted = await typist.refused('approve', '2')
    expect(interrupted).toMatchObject({
      status: 5,
      code: 'move_refused',
      hint: expect.stringContaining('backlog resume'),
    })
    expect((await typist.show('2')).status).toBe('interrupted')
    for (const [verb, id] of [
      ['approve', '1'],
      ['resume', '2'],
    ] as const)
      for (let time = 0; time < 2; time++) expect((await typist.run(verb, id)).todo.status).toBe('ready')
  })

  test('says to a worker who lost it that it is lost, also when he unblocks it', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('a'))
    await typist.run('claim', '1', '--as', 'ann')
    await typist.run('release', '1')
    const { todo } = await typist.run('claim', '1', '--as', 'bob')
    const late = await typist.refused('unblock', '1', '--as', 'ann', '--token', '1')
    expect(late).toMatchObject({ status: 6, code: 'lease_lost' })
    const again = await typist.run('unblock', '1', '--as', 'bob', '--token', String(todo.token))
    expect(again.todo).toMatchObject({ status: 'in_progress', assigned_to: 'bob', token: todo.token })
  })
})
