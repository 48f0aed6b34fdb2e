import { expect, inject, test, vi } from 'vitest'
import { ended } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { wireTo } from '../support/postgres-wire.ts'
import { addTask, appears, begin, run, runHere, running, statesIn } from '../support/run-here.ts'

test('a Ctrl-C that is passed on by what has started the run, and so comes twice, is one', async () => {
  const here = runHere("trap 'kill -INT $PPID; exit 1' TERM; touch begun; sleep 491 & wait")
  await addTask(here, 'one')
  const child = begin(here)
  await appears(here, 'begun')
  child.kill('SIGINT')
  expect((await ended(child)).status).toBe(130)
  expect(await statesIn(here)).toEqual({ req_0001: 'to_execute' })
})

test('a second Ctrl-C ends a run at once, and with it an agent that will not', async () => {
  const here = runHere("trap '' TERM; touch begun; while :; do sleep 492; done")
  await addTask(here, 'one')
  const child = begin(here)
  await appears(here, 'begun')
  const over = ended(child)
  const again = setInterval(() => child.kill('SIGINT'), 100)
  await over
  clearInterval(again)
  expect(child.signalCode).toBe('SIGINT')
  await vi.waitFor(() => expect(running('sleep 492')).toEqual([]), 20_000)
})

test('what cannot be given back when a run is stopped, because the server is gone, is taken up by the next one at once', async () => {
  const store = freshSchema(inject('postgres'))
  const here = runHere('[ -f begun ] && { echo done; exit 0; }; touch begun; sleep 493', { store })
  await addTask(here, 'one')
  const url = new URL(store)
  const wire = await wireTo(Number(url.port))
  url.port = `${wire.port}`
  const child = begin({ ...here, env: { ...here.env, PUNCHLIST_STORE: url.href } })
  const said = ended(child)
  await appears(here, 'begun')
  wire.close()
  child.kill('SIGINT')
  expect((await said).status).toBe(9)
  expect(running('sleep 493')).toEqual([])
  expect((await run(here)).status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
})
