import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { answer, ended, punchlist } from '../support/cli.ts'
import { addTask, begin, run, runHere, runTelling, statesIn, type Told } from '../support/run-here.ts'

test('--once lets each worker take one task at most', async () => {
  const here = runHere('echo done')
  for (const title of ['one', 'two', 'three']) await addTask(here, title)
  expect((await run(here, '--once', '--workers', '2')).status).toBe(0)
  expect(Object.values(await statesIn(here)).toSorted()).toEqual(['completed', 'completed', 'to_execute'])
})

test('--watch waits for more work, and ends when it is told to', async () => {
  const here = runHere('echo done')
  await addTask(here, 'first')
  const child = begin(here, '--watch')
  const said = ended(child)
  await vi.waitFor(async () => expect(await statesIn(here)).toEqual({ req_0001: 'completed' }), 30_000)
  await addTask(here, 'later')
  await vi.waitFor(async () => expect((await statesIn(here))['req_0002']).toBe('completed'), 30_000)
  expect(child.exitCode).toBeNull()
  child.kill('SIGTERM')
  expect((await said).status).toBe(130)
})

test('--once and --watch together are refused, and so is an agent that nobody knows; nothing is claimed', async () => {
  const here = runHere('echo done')
  await addTask(here, 'one')
  for (const args of [['--once', '--watch', '--', './agent.sh'], ['--agent', 'nobody'], []]) {
    const { status, stderr } = await punchlist(['run', ...args], here)
    expect(status).toBe(2)
    expect(stderr.split('\n').length).toBeGreaterThan(1)
  }
  expect(await statesIn(here)).toEqual({ req_0001: 'to_execute' })
})

test('a lease and a timeout may be of years, and neither may be of nothing', async () => {
  const here = runHere('sleep 0.5; echo done')
  await addTask(here, 'one')
  const { status, stderr } = await run(here, '--timeout', '900d', '--lease', '900d')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  for (const flags of [
    ['--timeout', '0s'],
    ['--lease', '1ms'],
    ['--name', '../x'],
    ['--budget', '-1'],
  ])
    expect((await run(here, ...flags)).status).toBe(2)
})

test('a timeout is the attempt’s: what the agent is sent on for counts', async () => {
  const here = runHere(
    `n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n
    [ $n = 1 ] && punchlist plan add 1 2 3 4 5 6 7 8 9 >/dev/null
    punchlist plan complete $n done >/dev/null; sleep 0.8`,
  )
  await addTask(here, 'long')
  const told = await runTelling(here, '--timeout', '3s', '--max-attempts', '1')
  expect(told.filter(({ what }) => what === 'sent_on').length).toBeGreaterThan(0)
  expect(told.find(({ what }) => what === 'ended')).toMatchObject({
    outcome: 'failed',
    text: './agent.sh took longer than 3 s',
  })
})

test('a task that costs more than its budget has failed, as far as its agent tells', async () => {
  const here = runHere('')
  const told = { type: 'result', session_id: 's', total_cost_usd: 1.5, result: 'made it' }
  writeFileSync(join(here.cwd, 'bin/claude'), `#!/bin/sh\ncat >/dev/null\necho '${JSON.stringify(told)}'\n`, {
    mode: 0o755,
  })
  await addTask(here, 'dear')
  await addTask(here, 'cheap')
  const dear = await punchlist(
    ['run', '--once', '--agent', 'claude-code', '--budget', '1', '--max-attempts', '1'],
    here,
  )
  expect(dear.status).toBe(5)
  expect(dear.stdout).toContain('cost 1.50 USD, more than 1 USD')
  const cheap = await punchlist(['run', '--agent', 'claude-code', '--budget', '2'], here)
  expect(cheap.status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'error', req_0002: 'completed' })
})

test('a budget is the task’s: attempts add up, what is over it is not tried again, and an agent that tells is ended at once', async () => {
  const here = runHere('')
  const program = (name: string, script: string) =>
    writeFileSync(join(here.cwd, 'bin', name), `#!/bin/sh\ncat >/dev/null\n${script}\n`, { mode: 0o755 })
  const result = { type: 'result', session_id: 's', total_cost_usd: 0.6, result: 'no luck' }
  program('claude', `echo '${JSON.stringify(result)}'; exit 1`)
  program('opencode', `echo '${JSON.stringify({ type: 'step_finish', sessionID: 's', part: { cost: 2 } })}'; sleep 484`)
  await addTask(here, 'tried twice')
  const twice = await punchlist(
    ['run', '--json', '--agent', 'claude-code', '--budget', '1', '--max-attempts', '9'],
    here,
  )
  expect(endIn(twice.stdout)).toMatchObject({ outcome: 'failed', attempts: 2, costUsd: 1.2 })
  await addTask(here, 'endless')
  const endless = await punchlist(['run', '--json', '--agent', 'opencode', '--budget', '1'], here)
  expect(endIn(endless.stdout)).toMatchObject({
    outcome: 'failed',
    attempts: 1,
    text: 'cost 2.00 USD, more than 1 USD',
  })
})

function endIn(stdout: string): Told | undefined {
  return stdout
    .split('\n')
    .flatMap(line => (line === '' ? [] : [JSON.parse(line) as Told]))
    .find(({ what }) => what === 'ended')
}

test('an agent that is begun anew is sent on anew, although the one before was given up', async () => {
  const here = runHere(
    `n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n
    [ $n = 1 ] && punchlist plan add One >/dev/null
    [ $n = 6 ] && punchlist plan complete 1 done >/dev/null
    echo "call $n"`,
  )
  await addTask(here, 'slow to begin')
  const told = await runTelling(here, '--max-attempts', '2')
  expect(told.filter(({ what }) => what === 'sent_on')).toHaveLength(4)
  expect(told.find(({ what }) => what === 'ended')).toMatchObject({ outcome: 'completed', attempts: 2 })
})

test('a question is no attempt; its answer goes to the session that asked, and what fails after it is tried again', async () => {
  const here = runHere('')
  const script = `cat >/dev/null; echo "$*" >> calls; echo '{"type":"system","session_id":"s1"}'
    case $(wc -l < calls) in
    1) punchlist queue checkpoint req_0001 --summary half --needs "which?" >/dev/null;;
    2) exit 1;;
    esac`
  writeFileSync(join(here.cwd, 'bin/claude'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  await addTask(here, 'asks')
  const claude = ['run', '--agent', 'claude-code', '--max-attempts', '2']
  expect((await punchlist(claude, here)).status).toBe(0)
  await answer(['queue', 'reply', 'req_0001', 'this one'], here)
  expect((await punchlist(claude, here)).status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
  const calls = readFileSync(join(here.cwd, 'calls'), 'utf8').trim().split('\n')
  expect(calls.map(call => call.includes('--resume s1'))).toEqual([false, true, false])
})
