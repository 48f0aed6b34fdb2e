import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answer, ended } from '../support/cli.ts'
import { addTask, appears, begin, type Here, run, runHere, runTelling, statesIn } from '../support/run-here.ts'

test('a task that is meant for one worker of a run is done by that one', async () => {
  const here = runHere('echo "$PUNCHLIST_ACTOR" > who')
  await addTask(here, 'one', '--target-worker', 'team-2')
  await addTask(here, 'other', '--target-worker', 'nobody')
  expect((await run(here, '--name', 'team', '--workers', '3')).status).toBe(0)
  expect(readFileSync(join(here.cwd, 'who'), 'utf8')).toBe('team-2\n')
  expect(await statesIn(here)).toEqual({ req_0001: 'completed', req_0002: 'to_execute' })
})

test('a task that its agents give back again and again has failed at last, and so does not come back for ever', async () => {
  const here = runHere('echo call >> calls; punchlist queue return "$PUNCHLIST_TASK" >/dev/null')
  await addTask(here, 'unwanted')
  const told = await runTelling(here, '--max-attempts', '2')
  expect(
    told.filter(({ what }) => what === 'ended').map(({ outcome, text }) => `${outcome}: ${text as string}`),
  ).toEqual(['returned: given back', 'returned: given back', 'failed: its agent has given it back 2 times'])
  expect(readFileSync(join(here.cwd, 'calls'), 'utf8')).toBe('call\ncall\n')
  await answer(['queue', 'retry', 'req_0001'], here)
  await runTelling(here, '--max-attempts', '1')
  expect(readFileSync(join(here.cwd, 'calls'), 'utf8')).toBe('call\ncall\ncall\n')
})

test('a task whose directory is removed while its agent works fails with a report, and the others are done', async () => {
  const here = runHere('[ "$PUNCHLIST_TASK" = req_0001 ] && rm -r "$PUNCHLIST_TASK_DIR"; echo done')
  await addTask(here, 'taken away')
  await addTask(here, 'other')
  const told = await runTelling(here, '--max-attempts', '1')
  expect(told.filter(({ what }) => what === 'ended').map(({ task, outcome }) => `${task} ${outcome}`)).toEqual([
    'req_0001 failed',
    'req_0002 completed',
  ])
})

test('a task that is cancelled while a ward says no is lost, and the others are done', async () => {
  const here = runHere('[ "$PUNCHLIST_TASK" = req_0002 ] && touch good; echo done', {
    wards: ['sh -c "test -f good || { touch begun; while [ ! -f go ]; do sleep 0.1; done; exit 1; }"'],
  })
  await addTask(here, 'cancelled')
  await addTask(here, 'other')
  const said = ended(begin(here))
  await appears(here, 'begun')
  await answer(['queue', 'cancel', 'req_0001', '--reason', 'not wanted'], here)
  writeFileSync(join(here.cwd, 'go'), '')
  expect((await said).stdout).toContain('req_0001  lost')
  expect(await statesIn(here)).toEqual({ req_0001: 'cancelled', req_0002: 'completed' })
})

test('an agent that has reported, and takes its time, has reported all the same', async () => {
  const here = runHere('punchlist queue complete "$PUNCHLIST_TASK" >/dev/null; sleep 494')
  await addTask(here, 'one')
  const told = await runTelling(here, '--lease', '1s')
  expect(told.find(({ what }) => what === 'ended')).toMatchObject({ outcome: 'completed' })
})

test('two runs of one name: the first to end leaves the log open that the other still writes', async () => {
  const here = runHere(
    `[ "$PUNCHLIST_TASK" = req_0001 ] && {
      punchlist worklog open "$PUNCHLIST_ACTOR" --role implementation --plan x >/dev/null
      touch begun; while [ ! -f go ]; do sleep 0.1; done; }; echo done`,
  )
  await addTask(here, 'long')
  const said = ended(begin(here, '--name', 'team'))
  await appears(here, 'begun')
  await addTask(here, 'short')
  expect((await run(here, '--name', 'team')).status).toBe(0)
  const statuses = async () =>
    (await answer<{ worklogs: { status: string }[] }>(['worklog', 'list'], here)).worklogs.map(({ status }) => status)
  expect(await statuses()).toEqual(['active'])
  writeFileSync(join(here.cwd, 'go'), '')
  expect((await said).status).toBe(0)
  expect(await statuses()).toEqual(['completed'])
})

test('what another completes that has taken a task over is lost for the run that had it', async () => {
  const here = runHere('touch begun; while [ ! -f go ]; do sleep 0.1; done; echo late')
  await addTask(here, 'one')
  const child = begin(here)
  const said = ended(child)
  await appears(here, 'begun')
  await answer(['queue', 'return', 'req_0001'], here)
  const { token } = await answer<{ token: number }>(['queue', 'claim', 'req_0001', '--worker', 'person'], here)
  await answer(['queue', 'complete', 'req_0001', '--token', `${token}`], here)
  writeFileSync(join(here.cwd, 'go'), '')
  expect((await said).stdout).toContain('req_0001  lost')
})

test('a run in a container, whose process cannot be seen from here, keeps its tasks; also one on another machine', async () => {
  const here = runHere('touch begun; while [ ! -f go ]; do sleep 0.1; done; echo done')
  await addTask(here, 'one')
  const child = begin(here, '--lease', '1m')
  const said = ended(child)
  await appears(here, 'begun')
  for (const foreign of [{ numbering: '1' }, { boot: 'another', host: 'elsewhere' }]) {
    rewriteSign(here, sign => ({ ...sign, ...foreign, pid: 2 ** 30 }))
    expect((await run(here)).stdout).toContain('nothing to do')
  }
  writeFileSync(join(here.cwd, 'go'), '')
  expect((await said).stdout).toContain('req_0001  completed')
})

test('what a run had before the machine was started anew is given back at once', async () => {
  const here = runHere('[ -f begun ] && { echo done; exit 0; }; touch begun; sleep 495')
  await addTask(here, 'one')
  const child = begin(here)
  await appears(here, 'begun')
  child.kill('SIGKILL')
  await once(child, 'close')
  rewriteSign(here, sign => ({ ...sign, boot: 'before', numbering: '1' }))
  expect((await run(here)).status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
})

test('of a run that was killed before it could tell of a claim that one is given back, and no older one in the same name', async () => {
  const here = runHere('[ -f begun ] && { echo done; exit 0; }; touch begun; sleep 497')
  await addTask(here, 'somebody’s')
  await answer(['queue', 'claim', 'req_0001', '--worker', 'first-1'], here)
  await addTask(here, 'one')
  // What a claim is told to the second by must differ from what the run is.
  await sleep(1100)
  const child = begin(here, '--name', 'first')
  await appears(here, 'begun')
  child.kill('SIGKILL')
  await once(child, 'close')
  const runs = join(here.cwd, '.punchlist/runs')
  const account = join(runs, readdirSync(runs).find(name => name.endsWith('.jsonl'))!)
  writeFileSync(account, `${readFileSync(account, 'utf8').split('\n')[0]!}\n`)
  expect((await run(here, '--name', 'second')).status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'in_progress', req_0002: 'completed' })
})

test('the summary is written although an earlier run was killed over its logs', async () => {
  const here = runHere(
    `[ -f begun ] && { echo done; exit 0; }
    punchlist worklog open "$PUNCHLIST_ACTOR" --role implementation --plan x >/dev/null; touch begun; sleep 496`,
  )
  await addTask(here, 'one')
  const child = begin(here, '--name', 'first')
  await appears(here, 'begun')
  child.kill('SIGKILL')
  await once(child, 'close')
  expect((await run(here, '--name', 'second')).stdout).toContain('_summary.md')
  const { worklogs } = await answer<{ worklogs: { worker: string; status: string }[] }>(['worklog', 'list'], here)
  expect(Object.fromEntries(worklogs.map(({ worker, status }) => [worker, status]))).toEqual({
    'first-1': 'interrupted',
    'second-1': 'completed',
  })
})

/** Makes what a run leaves for others while it is under way look as if it were another's. */
function rewriteSign(here: Here, change: (sign: Record<string, unknown>) => Record<string, unknown>): void {
  const open = join(here.cwd, '.punchlist/runs/open')
  const [name] = readdirSync(open)
  const path = join(open, name!)
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>)))
}
