import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test, vi } from 'vitest'
import { answer, ended } from '../support/cli.ts'
import { freshSchema, startPostgres } from '../support/postgres.ts'
import { addTask, begin, runHere, statesIn, type Told } from '../support/run-here.ts'
import { scratch } from '../support/scratch.ts'

const TASKS = 24

test('three runners drain one queue on PostgreSQL: each task is completed once, also when a runner is killed', async () => {
  const store = freshSchema(inject('postgres'))
  const log = join(scratch(), 'log')
  const script = `echo "$PUNCHLIST_TASK $PUNCHLIST_TOKEN" >> '${log}'; sleep 0.2`
  const machines = Array.from({ length: 3 }, () => runHere(script, { store }))
  for (let n = 1; n <= TASKS; n++) await addTask(machines[0]!, `task ${n}`)
  const runners = machines.map((here, n) =>
    begin(here, '--workers', '2', '--lease', '3s', '--name', `machine-${n + 1}`),
  )
  const outputs = runners.slice(1).map(ended)
  await vi.waitFor(() => expect(readFileSync(log, 'utf8').split('\n').length).toBeGreaterThan(5), 30_000)
  const gone = once(runners[0]!, 'close')
  runners[0]!.kill('SIGKILL')
  await gone
  for (const { status } of await Promise.all(outputs)) expect(status).toBe(0)
  // What the killed one held is claimable when its lease has run out; the others may have ended before.
  await sleep(3100)
  const last = await ended(begin(machines[1]!, '--name', 'machine-2'))
  expect(last.status).toBe(0)
  expect(Object.values(await statesIn(machines[0]!))).toEqual(Array.from({ length: TASKS }, () => 'completed'))
  const { events } = await answer<{ events: Told[] }>(['log', '--limit', '1000'], machines[0]!)
  const completions = events.filter(({ to, kind }) => to === 'completed' && kind === 'task')
  expect(new Set(completions.map(({ id }) => id)).size).toBe(TASKS)
  expect(completions).toHaveLength(TASKS)
})

test('a runner that was frozen for longer than its lease reports nothing, and ends its agent', async () => {
  const here = runHere(
    'if [ "$PUNCHLIST_TOKEN" = 1 ]; then touch begun; sleep 477; echo late; else echo "done by another"; fi',
  )
  await addTask(here, 'slow')
  const frozen = begin(here, '--lease', '1s', '--name', 'frozen', '--max-attempts', '1')
  const said = ended(frozen)
  await vi.waitFor(() => readFileSync(join(here.cwd, 'begun')), 20_000)
  frozen.kill('SIGSTOP')
  await sleep(1500)
  const { status } = await ended(begin(here, '--name', 'other'))
  expect(status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
  frozen.kill('SIGCONT')
  expect((await said).stdout).toContain('lost')
  const { events } = await answer<{ events: Told[] }>(['log', '--limit', '1000'], here)
  expect(events.filter(({ to, kind }) => to === 'completed' && kind === 'task').map(({ by }) => by)).toEqual([
    'other-1',
  ])
})

test('a server that is gone for a while costs no work: what the agents did is reported when it is back', async () => {
  const server = await startPostgres()
  try {
    const here = runHere('touch begun; sleep 2; echo "worked through it"', { store: freshSchema(server.url) })
    await addTask(here, 'long')
    const child = begin(here, '--lease', '1m')
    const said = ended(child)
    await vi.waitFor(() => readFileSync(join(here.cwd, 'begun')), 20_000)
    await server.kill()
    await sleep(3000)
    await server.restart()
    expect((await said).status).toBe(0)
    expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
  } finally {
    await server.stop()
  }
})
