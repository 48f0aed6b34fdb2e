import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, ended, punchlist } from '../support/cli.ts'
import { addTask, appears, begin, type Here, run, runHere, statesIn, tasksIn } from '../support/run-here.ts'

/** What the protocol tells a script to do, for the agent's own task. */
const FLAG = 'touch "$PUNCHLIST_TASK_DIR/${PUNCHLIST_TASK}_$(date -u +%Y%m%dT%H%M%S)_completed"'
const MOVE = 'mv "$PUNCHLIST_TASK_DIR" coordination/completed/'

const waitFor = (file: string) => `while [ ! -e ${file} ]; do sleep 0.05; done`
const sh = ({ cwd }: Here, script: string) => execFileSync('sh', ['-ec', script], { cwd, encoding: 'utf8' })
const names = ({ cwd }: Here, state: string) => {
  const folder = join(cwd, 'coordination', state)
  return existsSync(folder) ? readdirSync(folder).filter(name => !name.startsWith('.')) : []
}

interface Todos {
  readonly todos: readonly { readonly status: string }[]
}
const todoStatus = async (here: Here) =>
  (await answer<Todos>(['backlog', 'list', '--all'], here)).todos.map(({ status }) => status)

describe('a task of a run that is completed by hand while wards are set', () => {
  test('is waited for until the wards have passed: dependents, the parent and its todo', async () => {
    const here = runHere(
      `case $PUNCHLIST_TASK in
         *_01) [ -e judged ] && touch good; ${FLAG}; ${MOVE}; touch moved; ${waitFor('seen')};;
       esac`,
      { wards: [`sh -c "touch judged; ${waitFor('go')}; test -f good"`] },
    )
    await punchlist(['backlog', 'add', 'Rotate it', '--source', 'work', '--status', 'ready'], here)
    await addTask(here, 'Sign the release')
    await punchlist(['queue', 'add', '--from-backlog', 'work/001', '--parent', 'req_0001'], here)
    await addTask(here, 'Announce it', '--depends-on', 'req_0001_01')
    const ending = ended(begin(here, '--name', 'w'))
    await appears(here, 'moved')
    // Anyone may look meanwhile, and recover what was left half done.
    await punchlist(['queue', 'recover'], here)
    expect(await statesIn(here)).toMatchObject({ req_0001_01: 'in_progress', req_0002: 'to_execute' })
    writeFileSync(join(here.cwd, 'seen'), '')
    await appears(here, 'judged')
    await punchlist(['queue', 'recover'], here)
    expect(await statesIn(here)).toEqual({ req_0001: 'to_execute', req_0001_01: 'in_progress', req_0002: 'to_execute' })
    expect(await todoStatus(here)).toEqual(['in_progress'])
    expect(
      names(here, 'to_execute').flatMap(name => readdirSync(join(here.cwd, 'coordination/to_execute', name))),
    ).not.toContainEqual(expect.stringMatching(/^req_0001_01_/))
    // The ward fails, and the agent is sent on.
    writeFileSync(join(here.cwd, 'go'), '')
    expect((await ending).status).toBe(0)
    expect(await statesIn(here)).toEqual({ req_0001: 'completed', req_0001_01: 'completed', req_0002: 'completed' })
    expect((await tasksIn(here))['req_0001_01']!.verifiedAt).not.toBeNull()
    expect(await todoStatus(here)).toEqual(['complete'])
  })

  test.each([
    ['by flag and move', `${FLAG}; ${MOVE}`],
    ['by a move alone', MOVE],
    ['by a flag alone', FLAG],
  ])('comes back where a ward fails, and its agent is sent on: %s', async (_, completing) => {
    const here = runHere(
      `echo x >> calls
       [ "$(wc -l < calls)" -eq 2 ] && { ls -d coordination/in_progress/*/ > back; ls coordination/in_progress/* >> back; touch good; }
       ${completing}`,
      { wards: ['test -f good'] },
    )
    await addTask(here, 'Sign the release')
    await addTask(here, 'Announce it', '--depends-on', 'req_0001')
    const { stdout, status } = await run(here, '--name', 'w')
    expect([status, stdout]).toEqual([0, expect.stringContaining('2 completed')])
    const back = readFileSync(join(here.cwd, 'back'), 'utf8')
    expect(back).toContain('in_progress/req_0001_sign_the_release/')
    expect(back).not.toMatch(/_completed$/m)
    expect(await tasksIn(here)).toMatchObject({ req_0001: { state: 'completed', verifiedAt: expect.any(String) } })
    const shown = (await punchlist(['queue', 'show', 'req_0001'], here)).stdout
    expect(shown).toContain('claimed as completed')
  })

  test('is given back with its agent’s claim when the run is stopped', async () => {
    const here = runHere(`${FLAG}; ${MOVE}; touch moved; sleep 487`, { wards: ['true'] })
    await addTask(here, 'Sign the release')
    const child = begin(here, '--name', 'w')
    const ending = ended(child)
    await appears(here, 'moved')
    child.kill('SIGINT')
    await ending
    expect(await statesIn(here)).toEqual({ req_0001: 'to_execute' })
    expect(readdirSync(join(here.cwd, 'coordination/to_execute/req_0001_sign_the_release')).join()).not.toContain(
      '_completed',
    )
  })

  test('outside of a run it stays, and is shown as claimed', async () => {
    const here = runHere('echo done', { wards: ['true'] })
    await addTask(here, 'Sign the release')
    await addTask(here, 'Announce it')
    await run(here, '--once', '--name', 'w')
    sh(here, 'mv coordination/to_execute/req_0002_announce_it coordination/completed/')
    const { stdout } = await punchlist(['queue', 'list', '--all'], here)
    expect(stdout).toMatch(/req_0001 .* Sign the release  \(verified\)/)
    expect(stdout).toMatch(/req_0002 .* Announce it       \(claimed\)/)
    expect((await punchlist(['queue', 'show', 'req_0002'], here)).stdout).toContain('(claimed)')
  })
})

test('a verified.md that an agent writes, or takes from another task, is not believed', async () => {
  const here = runHere('echo done', { wards: ['true'] })
  await addTask(here, 'Sign the release')
  await run(here, '--name', 'w')
  await addTask(here, 'Announce it')
  await addTask(here, 'Measure it')
  sh(
    here,
    `cd coordination; mv to_execute/req_0002_announce_it to_execute/req_0003_measure_it completed/
     printf '# Verified\\n\\n**Timestamp:** 2026-11-18T09:00:00.000Z\\n\\n- true\\n' > completed/req_0002_announce_it/verified.md
     cp completed/req_0001_sign_the_release/verified.md completed/req_0003_measure_it/
     cp -r .punchlist/tasks/req_0001/. .punchlist/tasks/req_0003/`,
  )
  expect(await tasksIn(here)).toMatchObject({
    req_0001: { verifiedAt: expect.any(String) },
    req_0002: { verifiedAt: null },
    req_0003: { verifiedAt: null },
  })
})
