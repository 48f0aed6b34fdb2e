import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, HOME, punchlist, refusal } from '../support/cli.ts'
import { Typist } from '../support/queue.ts'
import { addTask, run, runHere, runTelling, statesIn } from '../support/run-here.ts'
import { scratch } from '../support/scratch.ts'

const isRoot = process.getuid?.() === 0

/** How a program that permissions bind is started; as root that is another user, to whom the folder is given. */
function bound(cwd: string): readonly string[] {
  if (!isRoot) return [process.execPath]
  execFileSync('chown', ['-R', '65534:65534', cwd, HOME()])
  return ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath]
}

describe('a run whose agents', () => {
  test('copy their task to completed/ fails these tasks, each with as many agents as it has attempts', async () => {
    const here = runHere(
      'echo x >> "$PUNCHLIST_ROOT/starts"; cp -r "$PUNCHLIST_TASK_DIR" "$PUNCHLIST_ROOT/coordination/completed/"',
    )
    mkdirSync(join(here.cwd, 'coordination/completed'), { recursive: true })
    for (const title of ['one', 'two']) await addTask(here, title)
    const ended = (await runTelling(here, '--max-attempts', '1')).filter(({ what }) => what === 'ended')
    expect(ended.map(({ outcome }) => outcome)).toEqual(['failed', 'failed'])
    for (const { text } of ended) expect(text).toContain('there is one already')
    expect(readFileSync(join(here.cwd, 'starts'), 'utf8')).toBe('x\nx\n')
    expect(readdirSync(join(here.cwd, 'coordination/error'))).toHaveLength(2)
  })

  test('fail and have copied their task to error/ says that it has failed', async () => {
    const here = runHere('cp -r "$PUNCHLIST_TASK_DIR" "$PUNCHLIST_ROOT/coordination/error/"; exit 1')
    mkdirSync(join(here.cwd, 'coordination/error'), { recursive: true })
    await addTask(here, 'one')
    const ran = await run(here, '--max-attempts', '1')
    expect(ran).toMatchObject({ status: 5, stdout: expect.stringContaining('1 failed') })
  })

  test('remove what runs remember goes on, with worktrees', async () => {
    const here = runHere('rm -rf "$PUNCHLIST_ROOT/.punchlist/runs"; echo done')
    const git = (...args: string[]) => execFileSync('git', args, { cwd: here.cwd, stdio: 'pipe' })
    git('init', '-q')
    git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-q', '--allow-empty', '-m', 'x')
    for (const title of ['one', 'two']) await addTask(here, title)
    const ran = await punchlist(['run', '--worktree', '--', join(here.cwd, 'agent.sh')], here)
    expect(ran.stderr).not.toMatch(/^ {4}at /m)
    expect(ran).toMatchObject({ status: 0, stdout: expect.stringContaining('2 completed') })
    expect(await statesIn(here)).toEqual({ req_0001: 'completed', req_0002: 'completed' })
  })
})

test('a parent is not completed over a part that a script has added a moment before', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['One'])
  await typist.claim('w1')
  const part = join(cwd, 'coordination/to_execute/req_0001_01_part')
  mkdirSync(part)
  const head =
    '# Request #0001_01: Part\n\n**Type:** Standard\n**Priority:** NORMAL\n**Posted:** 2026-01-01T00:00:00Z\n'
  writeFileSync(join(part, 'req_0001_01_part.md'), `${head}\n## Task Description\n\nx\n\n## Expected Response\n\ny\n`)
  const refused = await typist.refused('complete', '1', '--token', '1')
  expect(refused).toMatchObject({ status: 5, message: expect.stringContaining('req_0001_01') })
})

test('a todo that cannot say that a task was made of it is a warning, and is held as soon as it can', async () => {
  const cwd = scratch()
  const here = { cwd }
  await answer(['backlog', 'add', 'Fix it', '--source', 'review', '--status', 'ready'], here)
  const folder = join(cwd, 'tmp/work/default/todos/review')
  const through = bound(cwd)
  chmodSync(folder, 0o555)
  const added = await answer<{ task: { id: string }; warnings: { message: string }[] }>(
    ['queue', 'add', '--from-backlog', 'review/001'],
    { cwd, through },
  )
  expect(added).toMatchObject({
    task: { id: 'req_0001' },
    warnings: [{ message: expect.stringContaining('req_0001') }],
  })
  chmodSync(folder, 0o755)
  await answer(['queue', 'recover'], { cwd, through })
  const { todo } = await answer<{ todo: object }>(['backlog', 'show', 'review/001'], { cwd, through })
  expect(todo).toMatchObject({ status: 'in_progress', assigned_to: 'req_0001' })
})

test('a queue that cannot be claimed from is told as such, and not as one with nothing to do', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['One', 'Two'])
  await typist.claim('w1')
  const through = bound(cwd)
  chmodSync(join(cwd, 'coordination/in_progress'), 0o555)
  expect(await refusal(['queue', 'claim', '--worker', 'w2'], { cwd, through })).toMatchObject({ status: 9 })
  chmodSync(join(cwd, 'coordination/in_progress'), 0o755)
})

test('a refused retry leaves the flags of the task', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['One'])
  await typist.claim('w1')
  await typist.run('fail', '1', '--type', 't', '--what', 'w')
  const there = () => readdirSync(join(cwd, 'coordination/error/req_0001_one')).toSorted()
  const before = there()
  mkdirSync(join(cwd, 'coordination/to_execute/req_0001_one'))
  appendFileSync(join(cwd, 'coordination/to_execute/req_0001_one/x'), '')
  expect(await typist.refused('retry', '1')).toMatchObject({ status: 5 })
  expect(there()).toEqual(before)
  expect(existsSync(join(cwd, 'coordination/error/req_0001_one'))).toBe(true)
})
