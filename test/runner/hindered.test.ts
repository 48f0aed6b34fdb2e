import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { answer, ended, punchlist } from '../support/cli.ts'
import { addTask, appears, begin, run, runHere, running, runTelling, statesIn } from '../support/run-here.ts'

test('a task that was reported on before its runner was killed holds up no later run', async () => {
  const here = runHere('punchlist queue complete "$PUNCHLIST_TASK" >/dev/null; touch reported; sleep 481')
  await addTask(here, 'one')
  const child = begin(here)
  await appears(here, 'reported')
  child.kill('SIGKILL')
  await once(child, 'close')
  await addTask(here, 'other')
  expect((await punchlist(['run', '--', 'true'], here)).status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed', req_0002: 'completed' })
})

test('Ctrl-C ends a ward as well: nothing is called failed for that, and the next run completes the task', async () => {
  const here = runHere('echo done', { wards: ['sh -c "test -f later || { touch begun; sleep 482; }"'] })
  await addTask(here, 'one')
  const child = begin(here)
  await appears(here, 'begun')
  child.kill('SIGINT')
  const { status, stdout } = await ended(child)
  expect(status).toBe(130)
  expect(stdout).not.toContain('failed')
  expect(running('sleep 482')).toEqual([])
  expect(await statesIn(here)).toEqual({ req_0001: 'to_execute' })
  writeFileSync(join(here.cwd, 'later'), '')
  expect((await run(here)).status).toBe(0)
})

test('a ward may take longer than it takes to end what the agent has left behind', async () => {
  const here = runHere('setsid sleep 485 & echo done', { wards: ['sleep 2.5'] })
  await addTask(here, 'one')
  expect((await run(here)).status).toBe(0)
  expect(running('sleep 485')).toEqual([])
})

test('what a ward leaves running is ended, too', async () => {
  const daemon = `setsid -f sh -c 'touch begun; sleep 486'; while [ ! -f begun ]; do sleep 0.05; done`
  const here = runHere('echo done', { wards: [`sh -c "${daemon}"`] })
  await addTask(here, 'one')
  expect((await run(here)).status).toBe(0)
  expect(running('sleep 486')).toEqual([])
})

test('what is ended together with an agent that has started a run ends the agents of that run as well', async () => {
  const here = runHere('touch begun; sleep 487')
  await addTask(here, 'one')
  // By this mark everything is known that an agent of another run has started, and ended when that has.
  const inside = { ...here, env: { ...here.env, PUNCHLIST_RUN: 'an agent of another run' } }
  const child = begin(inside)
  await appears(here, 'begun')
  const all = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n')
  const guards = all.filter(line => line.includes(`punchlist-guard PUNCHLIST_RUN=${child.pid}.`))
  expect(guards).toHaveLength(1)
  const environment = readFileSync(`/proc/${Number.parseInt(guards[0]!, 10)}/environ`, 'utf8')
  expect(environment).not.toContain('an agent of another run')
  child.kill('SIGINT')
  await ended(child)
})

test('a ward ends with its runner, however that ends', async () => {
  const here = runHere('echo done', { wards: ['sh -c "touch begun; sleep 483"'] })
  await addTask(here, 'one')
  const child = begin(here)
  await appears(here, 'begun')
  child.kill('SIGKILL')
  await once(child, 'close')
  await vi.waitFor(() => expect(running('sleep 483')).toEqual([]), 20_000)
})

test.each([
  ['a link in place of the artifacts', 'ln -s /nowhere "$PUNCHLIST_TASK_DIR/artifacts"'],
  ['a file in place of the artifacts', 'touch "$PUNCHLIST_TASK_DIR/artifacts"'],
  ['a link in place of what is kept', 'ln -s /nowhere "$PUNCHLIST_TASK_DIR/artifacts/attempt_002.log"'],
  ['a pipe in place of what is kept', 'mkfifo "$PUNCHLIST_TASK_DIR/artifacts/attempt_002.log"'],
])('%s stops no work: what the agent prints is kept elsewhere', async (_, script) => {
  const here = runHere(
    `[ -f second ] && { echo "kept all the same"; exit 0; }; touch second; mv "$PUNCHLIST_TASK_DIR/artifacts/attempt_001.log" .; ${
      script.includes('artifacts"') ? 'rmdir "$PUNCHLIST_TASK_DIR/artifacts"; ' : ''
    }${script}; exit 1`,
  )
  await addTask(here, 'one')
  expect((await run(here)).status).toBe(0)
  const kept = join(here.cwd, '.punchlist/runs/artifacts/req_0001/attempt_002.log')
  expect(readFileSync(kept, 'utf8')).toBe('kept all the same\n')
  expect(existsSync('/nowhere')).toBe(false)
})

test('credentials that an agent prints are neither kept nor told', async () => {
  const key = ['-----BEGIN RSA PRIVATE KEY-----', 'c2VjcmV0IGxpbmU', 'YW5vdGhlcg', '-----END RSA PRIVATE KEY-----']
  const here = runHere(`printf '%s\\n' '${key.join("' '")}'\necho "the key is sk-live-0123456789abcdefghij"`)
  await addTask(here, 'one')
  const { stdout } = await run(here)
  expect(stdout).toContain('the key is [redacted]')
  const files = execFileSync('grep', ['-rlE', 'sk-live|c2VjcmV0|YW5vdGhlcg', '.'], {
    cwd: here.cwd,
    encoding: 'utf8',
  })
  expect(files.trim().split('\n')).toEqual(['./agent.sh'])
})

test('items of the plan that wait for a person make the task wait for one; the answer lets both go on', async () => {
  const here = runHere(
    `case "$prompt" in
    *"TODO CONTINUATION"*) punchlist plan complete 2 chosen >/dev/null; echo "all of it";;
    *Brown*) echo "thinking";;
    *) punchlist plan add Write Choose >/dev/null; punchlist plan complete 1 written >/dev/null; punchlist plan block 2 "Which colour?" >/dev/null;;
    esac`,
  )
  await addTask(here, 'paint')
  const first = await runTelling(here)
  expect(first.find(({ what }) => what === 'ended')).toMatchObject({
    outcome: 'waiting',
    text: 'Choose: Which colour?',
  })
  const { tasks } = await answer<{ tasks: { id: string; waiting: boolean }[] }>(['queue', 'list', '--waiting'], here)
  expect(tasks).toMatchObject([{ id: 'req_0001', waiting: true }])
  await answer(['queue', 'reply', 'req_0001', 'Brown'], here)
  const second = await runTelling(here)
  expect(second.filter(({ what }) => what === 'sent_on')).toHaveLength(1)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
})

test('an agent that asks and then dies is not begun again before it has its answer', async () => {
  const here = runHere(
    'echo call >> calls; punchlist queue checkpoint "$PUNCHLIST_TASK" --summary half --needs "which?" >/dev/null; exit 1',
  )
  await addTask(here, 'asks')
  const told = await runTelling(here)
  expect(told.find(({ what }) => what === 'ended')).toMatchObject({ outcome: 'waiting', text: 'which?' })
  expect(readFileSync(join(here.cwd, 'calls'), 'utf8')).toBe('call\n')
})

test('what is remembered of a task is gone when it is completed', async () => {
  const here = runHere('[ "$PUNCHLIST_TASK" = req_0002 ] && exit 1; echo done')
  await addTask(here, 'good')
  await addTask(here, 'bad')
  await run(here, '--max-attempts', '1')
  expect(readdirSync(join(here.cwd, '.punchlist/runs/tasks'))).toEqual(['req_0002.json'])
})
