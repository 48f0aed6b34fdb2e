import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { task } from '../../src/queue/kind.ts'
import { addTasks, leftovers, placesOf, stamp } from '../support/directory-queue.ts'
import { filesOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

const WORKER = join(import.meta.dirname, '../support/directories-storm-worker.ts')
/** `npm run soak` sets it. */
const long = process.env['STORM'] !== undefined
const WORKERS = long ? 16 : 8
const TASKS = long ? 2000 : 120
const LEASE_MS = 300

test('workers on directories that are killed and frozen at random complete every task once, and none is lost or stuck', async () => {
  const root = scratch()
  const store = await filesOf(root)
  const titles = Array.from({ length: TASKS }, (_, n) => `task ${n}`)
  await addTasks(store, ...titles)
  const workers: ChildProcess[] = []
  const said: string[] = []
  let failures = ''
  const hire = (n: number) => {
    const child = spawn(process.execPath, [WORKER, root, `w${n}`, String(LEASE_MS)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(...text.split('\n').filter(Boolean)))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (failures += text))
    workers.push(child)
  }
  for (let n = 0; n < WORKERS; n++) hire(n)
  for (let round = 0, left = 1; left > 0; round++) {
    const victim = workers[Math.floor(Math.random() * workers.length)]!
    if (round % 3 === 2 && round < TASKS / 2) {
      victim.kill('SIGKILL')
      workers.splice(workers.indexOf(victim), 1)
      hire(100 + round)
    } else {
      victim.kill('SIGSTOP')
      await sleep(50 + Math.random() * LEASE_MS * 1.5)
      victim.kill('SIGCONT')
    }
    const { to_execute = 0, in_progress = 0 } = await store.count(task, {})
    left = to_execute + in_progress
  }
  for (const worker of workers) worker.kill('SIGCONT')
  const running = workers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  await Promise.all(running.map(worker => new Promise(done => worker.on('close', done))))
  expect(failures).toBe('')

  const places = placesOf(root)
  expect(Object.keys(places)).toHaveLength(TASKS)
  expect(Object.entries(places).filter(([, where]) => where.join() !== 'completed')).toEqual([])
  const events = await store.events({})
  const completions = Map.groupBy(
    events.filter(({ from, to }) => to === 'completed' && from !== to),
    ({ id }) => id,
  )
  expect([...completions.values()].filter(list => list.length !== 1)).toEqual([])
  expect(completions.size).toBe(TASKS)
  // Whoever was told that it is done had the claim under which it was done.
  for (const line of said.filter(one => one.startsWith('done'))) {
    const [, id, name, token] = line.split(' ')
    expect(completions.get(id!)![0]).toMatchObject({ by: name, token: Number(token) })
  }
  expect(await store.recover(task, stamp())).toEqual([])
  expect(leftovers(root)).toEqual([])
  await store.close()
}, 1_800_000)
