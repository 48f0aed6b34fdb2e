import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answer, punchlist } from '../support/cli.ts'
import { addTask, type Here, run, runHere, runTelling, statesIn } from '../support/run-here.ts'
import { scratch } from '../support/scratch.ts'

/** What an agent can do to its own task: `$d` is the task's directory, `$f` the file that defines it. */
const DAMAGES: Readonly<Record<string, string>> = {
  'the task file is deleted': 'rm "$f"',
  'it is emptied': ': > "$f"',
  'it is overwritten with bytes that are no text': `printf '\\377\\376\\000' > "$f"`,
  'a folder is put in its place': 'rm "$f"; mkdir "$f"; touch "$f/x"',
  'a link is put in its place': 'rm "$f"; ln -s /etc/passwd "$f"',
  'a pipe is put in its place': 'rm "$f"; mkfifo "$f"',
  'nobody may read it': 'chmod 000 "$f"',
  'nobody may enter the directory': 'chmod 000 "$d"',
  'the directory is removed': 'rm -r "$d"',
  'the directory is moved away': 'mv "$d" "$away/$PUNCHLIST_TASK"',
  'a link is put in place of the directory': 'rm -r "$d"; ln -s /etc "$d"',
  'a file is put in place of the directory': 'rm -r "$d"; touch "$d"',
  'a pipe is put in place of the directory': 'rm -r "$d"; mkfifo "$d"',
  'everything in the directory is removed': 'rm -r "$d"/*',
}

/** What starts the program so that rights hold for root as well. */
const UNPRIVILEGED =
  process.getuid?.() === 0
    ? ['setpriv', ...['--inh-caps', '--bounding-set'].map(set => `${set}=-dac_override,-dac_read_search`)]
    : []

function damaging(damages: readonly string[]): Here {
  const cases = damages.map((damage, n) => `req_${String(n + 1).padStart(4, '0')}) ${damage};;`)
  const script = `d=$PUNCHLIST_TASK_DIR; f="$d/$(basename "$d").md"; away='${scratch()}'
case $PUNCHLIST_TASK in
${cases.join('\n')}
esac
echo done`
  return { ...runHere(script), through: [...UNPRIVILEGED, process.execPath] }
}

/** Each directory of a state, with the text that defines its task. */
function definitionsIn({ cwd }: Here, state: string): Record<string, string> {
  const folder = join(cwd, 'coordination', state)
  const names = readdirSync(folder).toSorted()
  return Object.fromEntries(names.map(name => [name, readFileSync(join(folder, name, `${name}.md`), 'utf8')]))
}

test('an agent that damages its task fails that task with a report; the run goes on, and so does the next', async () => {
  const here = damaging(Object.values(DAMAGES))
  const names = Object.keys(DAMAGES)
  for (const name of names) await addTask(here, name)
  await addTask(here, 'undamaged')
  const before = definitionsIn(here, 'to_execute')
  const told = await runTelling(here, '--max-attempts', '1')
  const ended = told.filter(({ what }) => what === 'ended')
  expect(Object.fromEntries(ended.map(({ title, outcome }) => [title, outcome]))).toEqual({
    ...Object.fromEntries(names.map(name => [name, 'failed'])),
    undamaged: 'completed',
  })
  for (const { outcome, text } of ended) if (outcome === 'failed') expect(text).toContain('restored as it was claimed')
  expect({ ...definitionsIn(here, 'error'), ...definitionsIn(here, 'completed') }).toEqual(before)
  for (const name of readdirSync(join(here.cwd, 'coordination/error')))
    expect(readFileSync(join(here.cwd, 'coordination/error', name, 'error_report.md'), 'utf8')).toContain('damaged')
  const list = await answer<{ warnings: unknown[] }>(['queue', 'list', '--all'], here)
  expect(list.warnings).toEqual([])
  await addTask(here, 'later')
  expect((await punchlist(['run', '--', 'true'], here)).status).toBe(0)
}, 120_000)

test('a task that its agent damages once is tried again with the text that was claimed', async () => {
  const here = runHere(
    `case "$prompt" in *"About fragile."*) echo "$PUNCHLIST_TASK" >> told;; esac
    [ -f once ] || { touch once; rm -r "$PUNCHLIST_TASK_DIR"; exit 1; }; echo done`,
  )
  await addTask(here, 'fragile')
  expect((await run(here)).status).toBe(0)
  expect(readFileSync(join(here.cwd, 'told'), 'utf8')).toBe('req_0001\nreq_0001\n')
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
})

test.each([
  ['complete', 'completed', ['execution_log.md'], ['--note', 'n']],
  ['fail', 'error', ['error_report.md', 'error_report_001.md'], ['--type', 't', '--what', 'w']],
])('what lies where %s writes is set aside', async (verb, state, files, flags) => {
  const here = runHere('')
  const id = await addTask(here, 'one')
  await addTask(here, 'other')
  await answer(['queue', 'claim', id, '--worker', 'w'], here)
  const dir = join(here.cwd, 'coordination/in_progress/req_0001_one')
  for (const file of files) execFileSync('mkfifo', [join(dir, file)])
  await answer(['queue', verb, id, ...flags], here)
  const moved = join(here.cwd, 'coordination', state, 'req_0001_one')
  expect(readFileSync(join(moved, files[0]!), 'utf8')).toContain(flags.at(-1))
  expect(existsSync(join(moved, `${files[0]!}.damaged`))).toBe(true)
  await answer(['queue', 'claim', '--worker', 'w'], here)
})

test.each([
  ['the queue’s own folder', 'rm -r coordination/.punchlist'],
  ['the records of all tasks', 'rm -r coordination/.punchlist/tasks'],
  ['the records of its task', 'rm -r "coordination/.punchlist/tasks/$PUNCHLIST_TASK"'],
  ['what runs remember', 'rm -r .punchlist/runs'],
])('an agent that removes %s ends no run', async (_, script) => {
  const here = runHere(`[ "$PUNCHLIST_TASK" = req_0001 ] && ${script}; echo done`)
  await addTask(here, 'one')
  await addTask(here, 'other')
  expect((await run(here)).status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed', req_0002: 'completed' })
  await addTask(here, 'later')
  expect((await punchlist(['run', '--', 'true'], here)).status).toBe(0)
})

test('an agent that removes everything that git ignores ends the run with a problem, and the next run starts', async () => {
  const here = runHere(`[ -f "$PUNCHLIST_TASK_DIR/../../../go" ] && rm -rf coordination .punchlist tmp; echo done`)
  await addTask(here, 'one')
  await punchlist(['run', '--once', '--', 'touch', 'go'], here)
  await addTask(here, 'other')
  const { stderr } = await run(here)
  expect(stderr).not.toMatch(/^\s+at /m)
  rmSync(join(here.cwd, 'go'))
  await addTask(here, 'later')
  expect((await run(here)).status).toBe(0)
})

test('an agent that makes its worktree unusable fails its own task, and the others are done', async () => {
  const here = runHere(`[ "$PUNCHLIST_TASK" = req_0001 ] && { w=$(pwd); rm -rf "$w"; touch "$w"; exit 1; }; echo done`)
  const git = (...words: string[]) => execFileSync('git', words, { cwd: here.cwd })
  git('init', '-q')
  git('-c', 'user.email=a@b', '-c', 'user.name=a', 'commit', '-q', '--allow-empty', '-m', 'x')
  await addTask(here, 'one')
  await addTask(here, 'other')
  const agent = join(here.cwd, 'agent.sh')
  const ran = await punchlist(['run', '--worktree', '--max-attempts', '2', '--', agent], here)
  expect(await statesIn(here)).toEqual({ req_0001: 'error', req_0002: 'completed' })
  expect(ran.status).toBe(5)
})

test('folders of runs that cannot be written are a problem', async () => {
  const here = { ...runHere('echo done'), through: [...UNPRIVILEGED, process.execPath] }
  await addTask(here, 'one')
  expect((await run(here)).status).toBe(0)
  const runs = join(here.cwd, '.punchlist/runs')
  chmodSync(runs, 0o500)
  await addTask(here, 'other')
  const refused = await run(here)
  chmodSync(runs, 0o700)
  expect(refused).toMatchObject({ status: 9, stderr: expect.stringContaining('EACCES') })
  expect(refused.stderr).not.toMatch(/^\s+at /m)
})
