import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, punchlist } from '../support/cli.ts'
import { addTask, type Here, run, runHere } from '../support/run-here.ts'

/** Both agents are at work before either goes on: each worker has one of the two tasks. */
const TOGETHER =
  'touch "begun-$PUNCHLIST_TASK"; while [ ! -e begun-req_0001 ] || [ ! -e begun-req_0002 ]; do sleep 0.05; done'

const FAIL_FIRST =
  'case $PUNCHLIST_TASK in req_0001) exec punchlist queue fail req_0001 --type key --what "no key";; esac'

interface Listed {
  readonly worklogs: readonly { readonly worker: string }[]
}
interface Tasks {
  readonly tasks: readonly { readonly number: number; readonly subject: string; readonly status: string }[]
}

async function sectionsIn(here: Here) {
  const { worklogs } = await answer<Listed>(['worklog', 'list'], here)
  const all = await Promise.all(
    worklogs.map(async ({ worker }) => {
      const { tasks } = await answer<Tasks>(['worklog', 'list', '--worker', worker], here)
      return tasks.map(({ number, subject, status }) => ({ worker, number, subject, status }))
    }),
  )
  return all.flat()
}

const summaryIn = ({ cwd }: Here, session = 'default') =>
  readFileSync(join(cwd, `tmp/work/${session}/todos/_summary.md`), 'utf8')
const pullRequestIn = async (here: Here) => (await punchlist(['worklog', 'pr'], here)).stdout
const issuesIn = async (here: Here) => (await pullRequestIn(here)).split('### Known Issues\n')[1]!

describe('what a run tells of its tasks', () => {
  test('a task that failed is a known issue, whatever other workers completed', async () => {
    const here = runHere(`${TOGETHER}\n${FAIL_FIRST}`)
    await addTask(here, 'Sign the release')
    await addTask(here, 'Write the notes')
    const { stdout } = await run(here, '--workers', '2', '--name', 'w', '--pr')
    expect(stdout).toContain('1 completed, 1 failed')
    expect(await issuesIn(here)).toMatch(/Sign the release\) failed: .*no key/)
    expect(summaryIn(here)).toContain(
      'total_tasks: 2\ncompleted_tasks: 1\ntotal_subtasks: 0\ncompleted_subtasks: 0\nunique_tasks: 2\nunique_completed: 1\n',
    )
    const numbers = (await sectionsIn(here)).map(({ number }) => number)
    expect(new Set(numbers).size).toBe(2)
  })

  test('runs of one session do not give a number twice; a task that is tried again is the same one', async () => {
    const here = runHere(`[ -e key ] || { ${FAIL_FIRST}; }`)
    await addTask(here, 'Sign the release')
    await run(here, '--name', 'one')
    await addTask(here, 'Write the notes')
    await run(here, '--name', 'two')
    expect(await sectionsIn(here)).toMatchObject([
      { worker: 'one-1', number: 1, subject: 'req_0001 Sign the release', status: 'failed' },
      { worker: 'two-1', number: 2, subject: 'req_0002 Write the notes', status: 'completed' },
    ])
    await punchlist(['queue', 'retry', 'req_0001'], here)
    writeFileSync(join(here.cwd, 'key'), '')
    await run(here, '--name', 'three')
    expect((await sectionsIn(here)).filter(({ worker }) => worker === 'three-1')).toMatchObject([
      { number: 1, subject: 'req_0001 Sign the release', status: 'completed' },
    ])
    expect(summaryIn(here)).toContain('unique_tasks: 2\nunique_completed: 2\n')
    expect(await issuesIn(here)).toMatch(/^- None\n/)
  })

  test('the log of a worker that was taken away, or edited by its agent, is made good', async () => {
    const log = 'tmp/work/default/todos/w-1.md'
    for (const [harm, logs] of [
      [`rm ${log}`, ['w-1']],
      [`sed -i 's/in_progress/completed/; s/failed/completed/' ${log}`, ['w-1']],
      [`printf 'nothing of the sort' > ${log}`, ['w-1_2']],
    ] as const) {
      const here = runHere(`case $PUNCHLIST_TASK in req_0002) ${harm}; exit 0;; esac\n${FAIL_FIRST}`)
      await addTask(here, 'Sign the release')
      await addTask(here, 'Write the notes')
      await run(here, '--name', 'w')
      const told = (await sectionsIn(here)).map(({ worker, subject, status }) => ({ worker, subject, status }))
      expect(told).toContainEqual({ worker: logs[0], subject: 'req_0001 Sign the release', status: 'failed' })
      expect(told).toContainEqual({ worker: logs[0], subject: 'req_0002 Write the notes', status: 'completed' })
      expect(await issuesIn(here)).toContain('Sign the release) failed: ')
      expect(summaryIn(here)).toContain('unique_tasks: 2\nunique_completed: 1\n')
    }
  })

  test('somebody else who is still at work is named, and left alone', async () => {
    const here = runHere('echo done')
    await punchlist(['worklog', 'open', 'bob', '--role', 'test', '--plan', 'plan.md', '--session', 's1'], here)
    await punchlist(['worklog', 'task', 'bob', '1', 'Measure it', '--session', 's1'], here)
    await addTask(here, 'Write the notes')
    const { stdout } = await run(here, '--name', 'w', '--pr')
    expect(stdout).toContain('summary: tmp/work/s1/todos/_summary.md')
    expect(summaryIn(here, 's1')).toContain('| bob | test | 0/1 | 0/0 | active |')
    expect(summaryIn(here, 's1')).toContain('## Still Active\n\n- **bob**\n')
    expect(await issuesIn(here)).toContain('**bob** is still at work')
    expect((await answer<Listed>(['worklog', 'list', '--status', 'active'], here)).worklogs).toMatchObject([
      { worker: 'bob' },
    ])
  })

  test('the summary is about the session that the run began in', async () => {
    const here = runHere('punchlist worklog open bob --role test --plan p.md --session later >/dev/null')
    await addTask(here, 'Write the notes')
    expect((await run(here, '--name', 'w')).stdout).toContain('summary: tmp/work/default/todos/_summary.md')
  })
})

describe('what an agent of a run is told of its log', () => {
  test('log and section are open, with name, plan, number and time; its own steps and decisions are kept', async () => {
    const here = runHere(
      `printf '%s' "$prompt" > prompt-$PUNCHLIST_TASK
       cp tmp/work/default/todos/$PUNCHLIST_ACTOR.md opened-$PUNCHLIST_TASK.md
       printf '%s' "$prompt" | sed -n "s/'STEP' --subtask 'STEP'/look/; s/^   \\(punchlist worklog task .*\\)/\\1/p" > steps
       sh steps > /dev/null
       punchlist worklog decide "$PUNCHLIST_ACTOR" "\${PUNCHLIST_TASK#req_000}" "by hand, because it is one file" > /dev/null`,
    )
    await addTask(here, 'Sign the release')
    await addTask(here, 'Write the notes')
    await run(here, '--name', 'w')
    const prompt = readFileSync(join(here.cwd, 'prompt-req_0002'), 'utf8')
    expect(prompt).toContain('\nTODO FILE PROTOCOL (mandatory):\n')
    expect(prompt).toContain('Your log is tmp/work/default/todos/w-1.md, of worker w-1 in session default.')
    expect(prompt).toMatch(
      /its plan is coordination, and it has a section for your task, "## Task #2: req_0002 Write the notes", claimed \d{4}-/,
    )
    expect(prompt).toContain('punchlist worklog check w-1 2 K --session default')
    expect(prompt).not.toMatch(/\bPLAN\b|ROLE|worklog (?:open|complete|fail|close) /)
    const opened = readFileSync(join(here.cwd, 'opened-req_0002.md'), 'utf8')
    expect(opened).toMatch(/^---\nworker: w-1\nrole: implementation\nstatus: active\nplan_path: coordination\n---\n/)
    expect(opened).toMatch(
      /\n## Task #2: req_0002 Write the notes\n\n\*\*Status\*\*: in_progress\n\*\*Claimed\*\*: \d{4}-/,
    )
    expect(summaryIn(here)).toContain('total_tasks: 2\ncompleted_tasks: 2\ntotal_subtasks: 2\n')
    expect(summaryIn(here)).toContain('- **w-1**: by hand, because it is one file')
  })
})

describe('what is told of wards', () => {
  test('only wards that punchlist ran have passed; what a worker wrote is claimed', async () => {
    const here = runHere('echo done', { wards: ['true'] })
    await addTask(here, 'Write the notes')
    await run(here, '--name', 'w')
    expect(summaryIn(here)).toContain('\nwards: passed\n')
    expect(await pullRequestIn(here)).toContain('Wards: passed, as punchlist ran them.')
    const bob = join(here.cwd, 'tmp/work/default/todos/bob.md')
    writeFileSync(
      bob,
      '---\nworker: bob\nrole: test\nstatus: completed\nplan_path: p\n---\n\n## Task #9: Measure\n\n**Status**: completed\n**Ward Result**: passed: true\n',
    )
    await punchlist(['worklog', 'summary'], here)
    expect(summaryIn(here)).toContain('\nwards: claimed\n')
    expect(await pullRequestIn(here)).toContain('Wards: passed, as the workers claim. punchlist did not run them.')
    rmSync(bob)
    await punchlist(['worklog', 'summary'], here)
    expect(summaryIn(here)).toContain('\nwards: passed\n')
  })
})
