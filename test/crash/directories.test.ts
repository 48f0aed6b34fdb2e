import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { move } from '../../src/core/move.ts'
import type { Store } from '../../src/core/store.ts'
import { task } from '../../src/queue/kind.ts'
import { acceptFolder } from '../support/accept-folder.ts'
import { type Point, pointsOf, struck } from '../support/directories-struck.ts'
import { addTasks, claimTask, endTask, leftovers, placesOf, QUEUE, stamp } from '../support/directory-queue.ts'
import { filesOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

/** What a verb is told beside its root: the task and its token. */
type Args = readonly string[]

/** How a queue stands before each verb. */
const BEFORE: Readonly<Record<string, (store: Store, root: string) => Promise<Args>>> = {
  add: async store => (await addTasks(store, 'a'), []),
  claim: async store => (await addTasks(store, 'a', 'b'), []),
  complete: async store => await claimed(store, 600_000),
  fail: async store => await claimed(store, 600_000),
  takeover: async store => await claimed(store, 1),
  retry: async store => {
    const [id, token] = await claimed(store, 600_000)
    await endTask(store, { id: id!, token: Number(token) }, 'error')
    return [id!]
  },
  recover: brokenEverywhere,
}

async function claimed(store: Store, leaseMs: number): Promise<Args> {
  await addTasks(store, 'a', 'b')
  const { id, token } = (await claimTask(store, 'w', leaseMs))!
  return [id, String(token)]
}

/** One of everything that a script or a dead process can leave. */
async function brokenEverywhere(store: Store, root: string): Promise<Args> {
  const at = (...parts: string[]) => join(root, QUEUE, ...parts)
  const [, b, , d, e] = await addTasks(store, 'a', 'b', 'c', 'd', 'e', 'f', 'g')
  for (const [item, leaseMs] of [
    [b!, 600_000],
    [d!, 1],
    [e!, 600_000],
  ] as const)
    await claimTask(store, 'w', leaseMs, item.id)
  // Claimed half-way by a process of an earlier run of the machine.
  renameSync(at('to_execute/req_0001_a'), at('.punchlist/private/req_0001_a~to_execute~7.7.aaaaaaaa.1'))
  writeFileSync(at('.punchlist/tasks/req_0001/lease.1'), '')
  // Reported as done, and not moved.
  const worker = { pid: 7, start: '7', boot: 'aaaaaaaa' }
  const report = { id: b!.id, name: 'req_0002_b', token: 1, from: 'in_progress', to: 'completed', ...stamp('w') }
  const texts = { 'execution_log.md': '# Execution Log\n' }
  const text = JSON.stringify({ ...report, fields: { status: 'completed' }, texts, lapsed: false, worker })
  writeFileSync(at('.punchlist/reports/req_0002~1~completed'), text)
  renameSync(at('.punchlist/tasks/req_0002/lease.1'), at('.punchlist/tasks/req_0002/completed.1'))
  // Moved by a script that was stopped before, or after, it touched a flag.
  for (const name of ['req_0003_c', 'req_0006_f', 'req_0007_g'])
    renameSync(at('to_execute', name), at('in_progress', name))
  writeFileSync(at('in_progress/req_0003_c/req_0003_20260101T000000_completed'), '')
  writeFileSync(at('in_progress/req_0007_g/req_0007_20260101T000000_started'), '')
  writeFileSync(at('in_progress/req_0007_g/error_report.md'), '# Error Report\n')
  // Started twice.
  writeFileSync(at('in_progress/req_0005_e/req_0005_20260101T000000_started'), '')
  mkdirSync(at('.punchlist/new/req_0009_x~7.7.aaaaaaaa.1'))
  return []
}

/** Everything that is wrong after a verb was stopped somewhere: nothing, if every task is there once and can be brought to its end. */
async function wrongAfter(verb: string, root: string, [id, token]: Args): Promise<string[]> {
  const wrong: string[] = []
  const once = (when: string) => {
    for (const [name, places] of Object.entries(placesOf(root)))
      if (places.length !== 1) wrong.push(`${when}: ${name} is in ${places.join(' and ')}`)
  }
  once('at first')
  const store = await filesOf(root)
  const there = Object.keys(placesOf(root)).length
  const least = { add: 1, recover: 7 }[verb] ?? 2
  if (there < least || there > least + (verb === 'add' ? 2 : 0)) wrong.push(`${there} directories`)
  const ends = { complete: 'completed', fail: 'error' }[verb]
  if (ends !== undefined) {
    const again = await endTask(store, { id: id!, token: Number(token) }, ends)
    if (again.status !== ends) wrong.push(`reported again: ${again.status}`)
    const told = (await store.events({ of: { kind: task, id: id! } })).filter(
      ({ to, from }) => to === ends && from !== to,
    )
    if (told.length !== 1) wrong.push(`told ${told.length} times of ${ends}`)
  }
  const found = await store.find(task, {})
  if (found.length !== Object.keys(placesOf(root)).length) wrong.push(`${found.length} known of ${there}`)
  await store.recover(task, stamp(), { graceMs: 0 })
  const second = await store.recover(task, stamp(), { graceMs: 0 })
  if (second.length > 0) wrong.push(`a second recovery: ${JSON.stringify(second)}`)
  once('recovered')
  if (verb === 'takeover' && (await store.find(task, { where: { id: id! } }))[0]?.status !== 'to_execute')
    wrong.push('not given back')
  await toTheEnd(store)
  once('at the end')
  const left = Object.entries(placesOf(root)).filter(([, [place]]) => place !== 'completed')
  if (left.length > 0) wrong.push(`at the end: ${JSON.stringify(left)}`)
  const events = await store.events({})
  for (const item of await store.find(task, {})) {
    const times = events.filter(event => event.id === item.id && event.to === 'completed' && event.from !== 'completed')
    if (times.length !== 1) wrong.push(`${item.id} completed ${times.length} times`)
  }
  if (leftovers(root).length > 0) wrong.push(`left: ${leftovers(root).join()}`)
  const ill = (await store.inspect()).filter(({ ok }) => !ok)
  if (ill.length > 0) wrong.push(JSON.stringify(ill))
  await store.close()
  return wrong
}

async function toTheEnd(store: Store): Promise<void> {
  for (const item of await store.find(task, { status: ['error'] }))
    await move(store, task, { id: item.id, to: 'to_execute', ...stamp() })
  for (const item of await store.find(task, { status: ['in_progress'] })) await endTask(store, item, 'completed')
  for (let item; (item = await claimTask(store, 'finisher')); ) await endTask(store, item, 'completed')
}

async function base(verb: string): Promise<{ root: string; args: Args }> {
  const root = scratch()
  const store = await filesOf(root)
  const args = await BEFORE[verb]!(store, root)
  await store.close()
  return { root, args }
}

function copyOf(root: string): string {
  const copy = scratch()
  // The order in which files were written tells what came first.
  cpSync(root, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  acceptFolder(copy)
  return copy
}

/** Two at a time: there are two cores. More where most of the time is spent waiting. */
async function each<T>(all: readonly T[], work: (one: T) => Promise<void>, atOnce = 2): Promise<void> {
  const rest = [...all]
  const worker = async () => {
    for (let one; (one = rest.shift()) !== undefined; ) await work(one)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const FROZEN_AT_ONCE = 5

describe.each(Object.keys(BEFORE))(
  '%s',
  verb => {
    test('killed before any of its system calls: every task is there once, and can be brought to its end', async () => {
      const { root, args } = await base(verb)
      const points = await pointsOf([copyOf(root), verb, ...args], join(scratch(), 'trace'))
      expect(points.length).toBeGreaterThan(5)
      const wrong: Record<string, string[]> = {}
      const missed: Point[] = []
      await each(points, async point => {
        const copy = copyOf(root)
        const ran = await struck([copy, verb, ...args], point, 'signal=KILL')
        if (ran.signal !== 'SIGKILL' && ran.status !== 137) missed.push(point)
        const found = await wrongAfter(verb, copy, args).catch((error: Error) => [error.stack ?? error.message])
        if (found.length > 0) wrong[`${point.call} ${point.n}`] = found
        else rmSync(copy, { recursive: true })
      })
      expect(wrong).toEqual({})
      // Calls are counted over the whole life of a process, whose beginning is the runtime's own.
      expect(missed.length).toBeLessThan(points.length / 4)
      expect(existsSync(root)).toBe(true)
    })
  },
  300_000,
)

describe.each(['add', 'claim', 'complete', 'fail'])(
  '%s',
  verb => {
    test('failing at any of its system calls: nothing is half done, and it can be asked for again', async () => {
      const { root, args } = await base(verb)
      const points = await pointsOf([copyOf(root), verb, ...args], join(scratch(), 'trace'))
      const wrong: Record<string, string[]> = {}
      await each(points, async point => {
        const copy = copyOf(root)
        const fault = point.n % 2 ? 'error=ENOSPC' : 'error=EIO'
        const ran = await struck([copy, verb, ...args], point, fault)
        const found = await wrongAfter(verb, copy, args).catch((error: Error) => [error.stack ?? error.message])
        // What the runtime reads for itself is none of ours.
        if (ran.status !== 0 && !/Problem:|\/proc\//.test(ran.stderr)) found.push(ran.stderr)
        if (found.length > 0) wrong[`${point.call} ${point.n} ${fault}`] = found
      })
      expect(wrong).toEqual({})
    })
  },
  300_000,
)

describe.each(['complete'])(
  '%s',
  verb => {
    test('frozen at any of its system calls while the task is taken away: one of the two has it, and the other is refused', async () => {
      const { root, args } = await base(verb)
      const [id = ''] = args
      const points = await pointsOf([copyOf(root), verb, ...args], join(scratch(), 'trace'))
      const wrong: Record<string, unknown> = {}
      await each(
        points,
        async point => {
          const copy = copyOf(root)
          const store = await filesOf(copy)
          const ready = Promise.withResolvers<void>()
          const running = struck([copy, verb, ...args], point, 'delay_enter=1500000', () => ready.resolve())
          await ready.promise
          await sleep(200)
          const taken = await move(store, task, { id, to: 'to_execute', ...stamp('boss') }).then(
            () => true,
            () => false,
          )
          const theirs = taken ? await claimTask(store, 'other', 60_000, id) : undefined
          if (theirs) await endTask(store, theirs, 'completed', 'other')
          const ran = await running
          const item = (await store.find(task, { where: { id } }))[0]
          const ends = verb === 'complete' ? 'completed' : 'error'
          const right = taken
            ? item?.status === 'completed' && ran.status !== 0 && ran.stderr.includes('no longer yours')
            : item?.status === ends && ran.status === 0
          const places = Object.entries(placesOf(copy)).filter(([, where]) => where.length !== 1)
          const told = (await store.events({ of: { kind: task, id } })).filter(
            ({ from, to }) => to === ends && from !== to,
          )
          if (!right || places.length > 0 || told.length !== (taken && verb === 'fail' ? 0 : 1))
            wrong[`${point.call} ${point.n}`] = { taken, status: item?.status, ran, places, told }
          await store.close()
        },
        FROZEN_AT_ONCE,
      )
      expect(wrong).toEqual({})
    })
  },
  300_000,
)

test('a heartbeat that was answered holds, wherever somebody is frozen who takes the lease for lapsed', async () => {
  const { root, args } = await base('takeover')
  const [id = '', token = ''] = args
  const points = await pointsOf([copyOf(root), 'takeover', ...args], join(scratch(), 'trace'))
  const outcomes: Record<string, unknown> = {}
  await each(
    points,
    async point => {
      const copy = copyOf(root)
      const store = await filesOf(copy)
      const ready = Promise.withResolvers<void>()
      const running = struck([copy, 'takeover', ...args], point, 'delay_enter=1500000', () => ready.resolve())
      await ready.promise
      await sleep(200)
      const answered = async (work: Promise<unknown>) =>
        await work.then(
          () => 'ok',
          (error: { code?: string }) => error.code,
        )
      const beat = await answered(store.renew(task, id, Number(token), 60_000))
      const ran = await running
      const done = await answered(endTask(store, { id, token: Number(token) }, 'completed'))
      outcomes[`${point.call} ${point.n}`] = { beat, done, taken: ran.status === 0 }
      await store.close()
    },
    FROZEN_AT_ONCE,
  )
  const held = { beat: 'ok', done: 'ok', taken: false }
  const lost = { beat: 'lease_lost', done: 'lease_lost', taken: true }
  for (const [point, outcome] of Object.entries(outcomes)) expect([held, lost], point).toContainEqual(outcome)
  expect(Object.values(outcomes)).toContainEqual(held)
  expect(Object.values(outcomes)).toContainEqual(lost)
}, 300_000)

test('recover goes on wherever it is frozen while the owner reports, and tells only of what it did itself', async () => {
  const { root, args } = await base('takeover')
  const [id = '', token = ''] = args
  const points = await pointsOf([copyOf(root), 'recover'], join(scratch(), 'trace'))
  const outcomes: Record<string, unknown> = {}
  await each(
    points,
    async point => {
      const copy = copyOf(root)
      const store = await filesOf(copy)
      const ready = Promise.withResolvers<void>()
      const running = struck([copy, 'recover'], point, 'delay_enter=1500000', () => ready.resolve())
      await ready.promise
      await sleep(200)
      const done = await endTask(store, { id, token: Number(token) }, 'completed').then(
        () => 'ok',
        (error: { code?: string }) => error.code,
      )
      const ran = await running
      const [, answer = '[]'] = ran.stdout.split('\n')
      const told = (JSON.parse(answer || '[]') as { id: string; to: string }[]).map(one => `${one.id} ${one.to}`)
      const { status } = (await store.find(task, { where: { id } }))[0]!
      outcomes[`${point.call} ${point.n}`] = { exit: ran.status, done, told, status }
      await store.close()
    },
    FROZEN_AT_ONCE,
  )
  const held = { exit: 0, done: 'ok', told: [], status: 'completed' }
  const lost = { exit: 0, done: 'lease_lost', told: [`${id} to_execute`], status: 'to_execute' }
  for (const [point, outcome] of Object.entries(outcomes)) expect([held, lost], point).toContainEqual(outcome)
  expect(Object.values(outcomes)).toContainEqual(held)
  expect(Object.values(outcomes)).toContainEqual(lost)
}, 300_000)

test('of two that recover the same, wherever one is frozen, each thing is told by one of them', async () => {
  const { root } = await base('recover')
  const points = await pointsOf([copyOf(root), 'recover'], join(scratch(), 'trace'))
  const whole = await struck([copyOf(root), 'recover'], { call: 'rename', n: 60_000 }, 'delay_enter=1')
  const tellingOf = (stdout: string) =>
    (JSON.parse(stdout.split('\n')[1] || '[]') as { id: string; to: string }[]).map(one => `${one.id} ${one.to}`)
  const alone = tellingOf(whole.stdout).toSorted()
  expect(alone.length).toBeGreaterThan(3)
  const twice: Record<string, unknown> = {}
  const few = points.filter((_, index) => index % 4 === 0)
  await each(
    few,
    async point => {
      const copy = copyOf(root)
      const store = await filesOf(copy)
      const ready = Promise.withResolvers<void>()
      const running = struck([copy, 'recover'], point, 'delay_enter=1500000', () => ready.resolve())
      await ready.promise
      await sleep(200)
      const own = (await store.recover(task, stamp(), { graceMs: 0 })).map(one => `${one.id} ${one.to}`)
      const ran = await running
      const all = [...own, ...tellingOf(ran.stdout)].toSorted()
      if (ran.status !== 0 || new Set(all).size !== all.length) twice[`${point.call} ${point.n}`] = [ran, all]
      await store.close()
    },
    FROZEN_AT_ONCE,
  )
  expect(twice).toEqual({})
}, 300_000)
