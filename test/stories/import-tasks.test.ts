import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, refusal } from '../support/cli.ts'
import { Hooked } from '../support/hooked.ts'
import { scratch } from '../support/scratch.ts'

/** What Claude Code leaves in its folder: a file for each task, and the transcript of the session with its project. */
function kept(cwd: string, session: string, tasks: readonly Record<string, unknown>[], project = cwd): string {
  const folder = join(cwd, 'claude')
  mkdirSync(join(folder, 'tasks', session), { recursive: true })
  tasks.forEach((task, n) => {
    const whole = { id: String(n + 1), description: '', blocks: [], blockedBy: [], ...task }
    writeFileSync(join(folder, 'tasks', session, `${n + 1}.json`), JSON.stringify(whole))
  })
  const transcripts = join(folder, 'projects', project.replace(/[^a-zA-Z0-9]/g, '-'))
  mkdirSync(transcripts, { recursive: true })
  writeFileSync(join(transcripts, `${session}.jsonl`), '')
  return join(folder, 'tasks')
}

const plan = async (cwd: string, session: string) =>
  (
    await answer<{ items: { title: string; status: string; context: string }[] }>(
      ['plan', 'list', '--status', 'all', '--conversation', session],
      { cwd },
    )
  ).items.map(({ title, status, context }) => [status, title, context])

const THREE = [
  { subject: 'Read the grammar', description: 'in docs', status: 'completed' },
  { subject: 'Write the parser', status: 'in_progress' },
  { subject: 'Test it', status: 'pending' },
]
const TAKEN = [
  ['completed', 'Read the grammar', 'in docs'],
  ['in_progress', 'Write the parser', ''],
  ['pending', 'Test it', ''],
]

describe('the tasks that Claude Code kept', () => {
  test('become the plan of their session, once, in their order', async () => {
    const cwd = scratch()
    const tasks = kept(cwd, 'session-1', [
      ...THREE,
      ...Array.from({ length: 8 }, (_, n) => ({ subject: `${n + 4}`, status: 'pending' })),
    ])
    expect(await answer(['import', tasks], { cwd })).toEqual({ added: 11, known: 0 })
    expect(await answer(['import', tasks], { cwd })).toEqual({ added: 0, known: 11 })
    expect((await plan(cwd, 'session-1')).slice(0, 4)).toEqual([...TAKEN, ['pending', '4', '']])
    // And the session is held to them from then on.
    const hooked = new Hooked(cwd, 'session-1')
    expect(await hooked.tell('Stop')).toContain('[Status: 1/11 completed, 10 remaining]')
    await hooked.tell('TaskCompleted', { task_id: '2', task_subject: 'Write the parser' })
    expect((await plan(cwd, 'session-1'))[1]).toEqual(['completed', 'Write the parser', ''])
    expect(await answer(['import', tasks], { cwd })).toEqual({ added: 0, known: 11 })
  })

  test('are those of this workspace, unless one session is named', async () => {
    const cwd = scratch()
    kept(cwd, 'elsewhere', THREE, '/some/other/project')
    const tasks = kept(cwd, 'here', THREE.slice(2))
    expect(await answer(['import', tasks], { cwd })).toEqual({ added: 1, known: 0 })
    expect(await plan(cwd, 'elsewhere')).toEqual([])
    expect(await answer(['import', join(tasks, 'elsewhere')], { cwd })).toEqual({ added: 3, known: 0 })
    expect(await plan(cwd, 'elsewhere')).toEqual(TAKEN)
  })

  test('are refused where there are none, or one of them cannot be read, and nothing is taken in', async () => {
    const cwd = scratch()
    const tasks = kept(cwd, 'elsewhere', THREE, '/some/other/project')
    expect(await refusal(['import', tasks], { cwd })).toMatchObject({ status: 4, code: 'not_found' })
    expect(await refusal(['import', scratch()], { cwd })).toMatchObject({ status: 4, code: 'not_found' })
    writeFileSync(join(tasks, 'elsewhere', '4.json'), '{')
    expect(await refusal(['import', join(tasks, 'elsewhere')], { cwd })).toMatchObject({
      status: 7,
      code: 'unreadable_file',
      details: { file: expect.stringContaining('4.json') },
    })
    expect(await plan(cwd, 'elsewhere')).toEqual([])
  })

  test('and what is no task is passed over: other files, links, tasks without a subject', async () => {
    const cwd = scratch()
    const tasks = kept(cwd, 's', [
      { subject: 'One', status: 'pending' },
      { status: 'pending' },
      { subject: 'x', status: 'odd' },
    ])
    writeFileSync(join(tasks, 's', '.lock'), '')
    writeFileSync(join(cwd, 'secret.json'), JSON.stringify({ id: '9', subject: 'secret', status: 'pending' }))
    symlinkSync(join(cwd, 'secret.json'), join(tasks, 's', '9.json'))
    expect(await answer(['import', tasks], { cwd })).toEqual({ added: 1, known: 0 })
    expect(await plan(cwd, 's')).toEqual([['pending', 'One', '']])
  })
})
