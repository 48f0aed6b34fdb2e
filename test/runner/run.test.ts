import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { answer, ended, punchlist } from '../support/cli.ts'
import { addTask, begin, run, runHere, runTelling, statesIn, tasksIn } from '../support/run-here.ts'

const ENGINES = [
  { engine: 'directories', store: '' },
  { engine: 'SQLite', store: 'sqlite:here.db' },
]

describe.each(ENGINES)('on $engine, a run', ({ store }) => {
  test('sends an agent on that stops early, lets wards decide, waits for people and parts, and tells what failed', async () => {
    const here = runHere(
      `case "$PUNCHLIST_TASK" in
      req_0001)
        case "$prompt" in
        *"test -f mended failed"*|*"failed: test -f mended"*) touch mended; echo mended;;
        *"TODO CONTINUATION"*) punchlist plan complete 1 did >/dev/null; punchlist plan complete 2 did >/dev/null; echo finished;;
        *) punchlist plan add One Two >/dev/null; echo "later";;
        esac;;
      req_0002)
        case "$prompt" in
        *"two spaces"*) echo "two spaces it is";;
        *) punchlist queue checkpoint req_0002 --summary half --needs "which indentation?" >/dev/null;;
        esac;;
      req_0003)
        if [ -f divided ]; then case "$prompt" in *"Its parts are done"*req_0003_01*) echo "put together";; esac
        else touch divided; punchlist queue add Part --parent req_0003 --description a --expect a >/dev/null; fi;;
      req_0004) punchlist queue fail req_0004 --type build --what "no compiler" >/dev/null;;
      req_0005) punchlist queue complete req_0005 --note "by itself" >/dev/null;;
      esac`,
      { store, wards: ['test -f mended'] },
    )
    for (const title of ['early', 'asks', 'divides', 'fails', 'completes']) await addTask(here, title)
    const first = await runTelling(here, '--workers', '1')
    expect(first.filter(({ what }) => what === 'ended').map(({ task, outcome }) => `${task} ${outcome}`)).toEqual([
      'req_0001 completed',
      'req_0002 waiting',
      'req_0003 returned',
      'req_0004 failed',
      'req_0005 completed',
      'req_0003_01 completed',
      'req_0003 completed',
    ])
    const about = (task: string) => first.filter(told => told.task === task).map(({ what }) => what)
    expect(about('req_0001').filter(what => !what.startsWith('agent'))).toEqual([
      'claimed',
      'sent_on',
      'wards',
      'wards',
      'ended',
    ])
    const between = await tasksIn(here)
    expect(between['req_0002']).toMatchObject({ state: 'to_execute', waiting: true, owner: null })
    await answer(['queue', 'reply', 'req_0002', 'two spaces'], here)
    expect((await run(here)).status).toBe(0)
    const after = await tasksIn(here)
    expect(
      Object.values(after)
        .filter(({ verifiedAt }) => verifiedAt !== null)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['req_0001', 'req_0002', 'req_0003', 'req_0003_01', 'req_0005'])
    expect(after['req_0004']!.state).toBe('error')
    const { stdout } = await punchlist(['queue', 'show', 'req_0001'], here)
    expect(stdout).toContain('claimed as completed')
    expect(stdout).toContain('verified.md')
  })

  test('tries again what failed, tells the agent how, and gives up after so many attempts', async () => {
    const here = runHere(
      `case "$PUNCHLIST_TASK" in
      req_0001) case "$prompt" in *"exit 3"*) echo "now it works";; *) echo "no luck"; exit 3;; esac;;
      req_0002) echo "never works"; exit 4;;
      esac`,
      { store },
    )
    await addTask(here, 'once')
    await addTask(here, 'never')
    const told = await runTelling(here, '--workers', '2', '--max-attempts', '2')
    const ends = told.filter(({ what }) => what === 'ended')
    expect(
      ends
        .map(({ task, outcome, attempts }) => ({ task, outcome, attempts }))
        .toSorted((a, b) => (a.task! < b.task! ? -1 : 1)),
    ).toEqual([
      { task: 'req_0001', outcome: 'completed', attempts: 2 },
      { task: 'req_0002', outcome: 'failed', attempts: 2 },
    ])
    const { stdout } = await punchlist(['queue', 'show', 'req_0002'], here)
    expect(stdout).toContain('2 attempts')
    expect(stdout).toContain('never works')
  })
})

test('whoever takes a task up is told what is left of the plan that was made for it', async () => {
  const here = runHere(
    `case "$prompt" in
    *'1/2 completed, 1 remaining'*'2. pending "Second"'*) punchlist plan complete 2 did >/dev/null; echo "went on";;
    *) punchlist plan add First Second >/dev/null; punchlist plan complete 1 did >/dev/null; exit 1;;
    esac`,
  )
  await addTask(here, 'long')
  const told = await runTelling(here, '--max-attempts', '2')
  expect(told.find(({ what }) => what === 'ended')).toMatchObject({ outcome: 'completed', text: 'went on' })
  expect(told.filter(({ what }) => what === 'sent_on')).toEqual([])
})

test('a store that is named for the run is its agents’, too; and what they complain of is in the report', async () => {
  const here = runHere('punchlist plan add One >/dev/null; echo "no such flag" >&2; exit 2')
  const store = ['--store', 'sqlite:elsewhere.db']
  await answer([...store, 'queue', 'add', 'x', '--description', 'd', '--expect', 'e'], here)
  await punchlist([...store, 'run', '--max-attempts', '1', '--', './agent.sh'], here)
  const plan = await answer<{ items: { title: string }[] }>(
    [...store, '--conversation', 'req_0001', 'plan', 'list'],
    here,
  )
  expect(plan.items.map(({ title }) => title)).toEqual(['One'])
  const { stdout } = await punchlist([...store, 'queue', 'show', 'req_0001'], here)
  expect(stdout).toContain('no such flag')
})

test('an agent that is not there is refused before anything is claimed, with how to come by it', async () => {
  const here = runHere('')
  await addTask(here, 'one')
  const bare = { ...here, env: { ...here.env, PATH: join(here.cwd, 'bin') } }
  for (const [args, hint] of [
    [['--', './nowhere'], 'or its path'],
    [['--', 'nowhere'], 'on PATH'],
    [['--agent', 'claude-code'], 'npm install --global @anthropic-ai/claude-code'],
  ] as const) {
    const { status, stderr } = await punchlist(['run', ...args], bare)
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(hint) })
  }
  expect(await statesIn(here)).toEqual({ req_0001: 'to_execute' })
})

test('an agent that cannot be started any more fails its task, and says why', async () => {
  const here = runHere('rm agent.sh; exit 1')
  await addTask(here, 'one')
  expect((await run(here, '--max-attempts', '2')).status).toBe(5)
  expect((await punchlist(['queue', 'show', 'req_0001'], here)).stdout).toContain('ENOENT')
})

test('an agent that takes too long is ended, with everything it started', async () => {
  const here = runHere('sleep 471 & setsid sleep 472 & sleep 473')
  await addTask(here, 'hangs')
  const { status } = await run(here, '--timeout', '1s', '--max-attempts', '1')
  expect(status).not.toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'error' })
  expect(running('sleep 47[123]')).toEqual([])
})

test('Ctrl-C gives the claims back, ends the agents, and the next run goes on', async () => {
  const here = runHere('[ -f second ] && { echo done; exit 0; }; touch begun; sleep 474')
  await addTask(here, 'long')
  const child = begin(here)
  await vi.waitFor(() => expect(existsSync(join(here.cwd, 'begun'))).toBe(true), 20_000)
  child.kill('SIGINT')
  const { status } = await ended(child)
  expect(status).toBe(130)
  expect(await statesIn(here)).toEqual({ req_0001: 'to_execute' })
  expect(running('sleep 474')).toEqual([])
  writeFileSync(join(here.cwd, 'second'), '')
  expect((await run(here)).status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
})

test('when a runner is killed its agents end, and the next run goes on at once', async () => {
  const here = runHere('[ -f second ] && { echo done; exit 0; }; setsid sleep 475 & sleep 476')
  await addTask(here, 'long')
  const child = begin(here)
  await vi.waitFor(() => expect(running('sleep 47[56]')).toHaveLength(2), 20_000)
  child.kill('SIGKILL')
  await once(child, 'close')
  await vi.waitFor(() => expect(running('sleep 47[56]')).toEqual([]), 20_000)
  writeFileSync(join(here.cwd, 'second'), '')
  expect((await run(here)).status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
})

test('what was left running by a runner that was killed together with its guard is ended by the next run', async () => {
  const here = runHere('[ -f second ] && { echo done; exit 0; }; setsid sleep 478 & sleep 479')
  await addTask(here, 'long')
  const child = begin(here)
  await vi.waitFor(() => expect(running('sleep 47[89]')).toHaveLength(2), 20_000)
  const mark = `punchlist-guard PUNCHLIST_RUN=${child.pid}.`
  const all = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n')
  for (const line of all.filter(each => each.includes(mark))) process.kill(Number.parseInt(line, 10), 'SIGKILL')
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(running('sleep 47[89]')).toHaveLength(2)
  writeFileSync(join(here.cwd, 'second'), '')
  expect((await run(here)).status).toBe(0)
  expect(running('sleep 47[89]')).toEqual([])
})

test('an agent that is killed is begun again', async () => {
  const here = runHere('[ -f once ] && { echo done; exit 0; }; touch once; kill -9 $$')
  await addTask(here, 'dies')
  const told = await runTelling(here)
  expect(told.find(({ what }) => what === 'agent_ended')).toMatchObject({ exit: null, signal: 'SIGKILL' })
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
})

test('tasks that write the same paths are never worked on at once, whoever runs them', async () => {
  const here = runHere('echo "$PUNCHLIST_TASK begins" >> log; sleep 0.2; echo "$PUNCHLIST_TASK ends" >> log')
  for (const path of ['src/a.ts', 'src', 'src/b/c.ts', 'docs', 'docs/x.md', 'other'])
    await addTask(here, path, '--writes', path)
  const [one, other] = [begin(here, '--workers', '3'), begin(here, '--workers', '3')]
  await Promise.all([ended(one), ended(other)])
  expect(Object.values(await statesIn(here))).toEqual(Array.from({ length: 6 }, () => 'completed'))
  const active = new Set<string>()
  const groups: Record<string, string> = {
    req_0001: 'src',
    req_0002: 'src',
    req_0003: 'src',
    req_0004: 'docs',
    req_0005: 'docs',
    req_0006: '',
  }
  for (const line of readFileSync(join(here.cwd, 'log'), 'utf8').trim().split('\n')) {
    const [task, what] = line.split(' ') as [string, string]
    // `src` shares with both of its files, which do not share with each other.
    const clash = [...active].filter(
      id =>
        groups[id] !== '' &&
        groups[id] === groups[task] &&
        [id, task].some(each => each === 'req_0002' || groups[each] === 'docs'),
    )
    expect(what === 'begins' ? clash : []).toEqual([])
    if (what === 'begins') active.add(task)
    else active.delete(task)
  }
})

/** The processes whose command line is this. */
function running(pattern: string): string[] {
  const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n')
  return all.filter(line => new RegExp(`^${pattern}$`).test(line.trim()))
}
