import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { answer } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { type Claimed, type Listed, type ShownTask, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

const REST = '\n## Task Description\n\nLook.\n\n## Expected Response\n\nAn answer.\n'

/** As people write them, the most urgent first. */
const WRITTEN: Readonly<Record<string, string>> = {
  req_0108_outage: `# Request #0108: Outage\r\n\r\nTYPE: emergency\r\nPriority: p0 (customers wait)\r\nPosted: 2026-01-01\r\n${REST.replaceAll('\n', '\r\n')}`,
  req_0103_front: `---\ntitle: "#0103 Front"\nType: Testing\nprio: asap\nposted: 2026-01-01 09:00\ntask_description: Look.\nexpected-response: >\n  An\n  answer.\ncolour: red # mine\n---\n`,
  req_0102_login: `# Login\n\nType: Feature\nPriority: P1\nPosted: 2026-01-01T09:00:00+01:00\nDepends-On: none\n\nSee also: the plan.\n${REST}`,
  req_0104_list: `# List\n\n- *Type*: bug fix\n- _Priority:_ Medium\n- \`Posted\`: 2026-01-01\n${REST}`,
  req_0106_odd: `# Odd\n\nType: Standard\nPosted: 2026-01-02\n\nPriority: banana\n${REST}`,
  req_0105_later: `# Later\n\n**Type:** chore\nPriority: high, says the prose\n**Priority:** Lowest\n**Posted:** 2026-01-01\n${REST}`,
}

const put = (cwd: string, folder = 'to_execute') => {
  for (const [name, text] of Object.entries(WRITTEN)) {
    mkdirSync(join(cwd, 'coordination', folder, name), { recursive: true })
    writeFileSync(join(cwd, 'coordination', folder, name, `${name}.md`), text)
  }
}
const numbers = (tasks: readonly { id: string }[]) => tasks.map(({ id }) => id.slice(-1)).join('')
const WARNING = {
  line: 6,
  message:
    'req_0106_odd.md: Priority: "banana" is no priority; the task counts as NORMAL; use one of CRITICAL, URGENT, HIGH, NORMAL, LOW',
}

test('hand-written tasks are listed, claimed by what their priority means, and kept to the last byte', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['First'])
  put(cwd)
  const listed = await typist.run<Listed>('list')
  expect(listed.tasks.map(({ id, type, priority }) => [id, type, priority])).toEqual([
    ['req_0108', 'Emergency', 'CRITICAL'],
    ['req_0103', 'Testing', 'URGENT'],
    ['req_0102', 'Feature', 'HIGH'],
    ['req_0104', 'bug fix', 'NORMAL'],
    ['req_0106', 'Standard', 'NORMAL'],
    ['req_0001', 'Standard', 'NORMAL'],
    ['req_0105', 'chore', 'LOW'],
  ])
  expect(listed.warnings).toEqual([{ file: 'coordination/to_execute/req_0106_odd', ...WARNING }])
  expect(await typist.show('102')).toMatchObject({
    title: 'Login',
    type: 'Feature',
    posted: '2026-01-01T08:00:00.000Z',
    description: 'Look.',
    expect: 'An answer.',
  })
  const claims: string[] = []
  for (let n = 0; n < 7; n++) {
    const { task, token } = await typist.run<Claimed>('claim', '--worker', 'w1')
    claims.push(task.id)
    await typist.run('checkpoint', task.id, '--token', String(token), '--summary', 'half')
    if (task.id === 'req_0106') {
      expect((await typist.run<Listed>('list')).warnings).toEqual([
        { file: 'coordination/in_progress/req_0106_odd', ...WARNING },
      ])
      await typist.run('return', task.id, '--token', String(token), '--reason', 'lunch')
      expect((await typist.run<Listed>('list')).warnings).toEqual([
        { file: 'coordination/to_execute/req_0106_odd', ...WARNING },
      ])
      await typist.run('claim', task.id, '--worker', 'w1')
    }
    await typist.run('complete', task.id)
  }
  expect(claims).toEqual(listed.tasks.map(({ id }) => id))
  expect((await typist.run<Listed>('list')).warnings).toEqual([])
  for (const [name, text] of Object.entries(WRITTEN))
    expect(readFileSync(join(cwd, 'coordination/completed', name, `${name}.md`), 'utf8')).toBe(text)
})

test('a warning goes when the value is corrected where it lies', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['First'])
  put(cwd)
  expect((await typist.run<Listed>('list')).warnings).toHaveLength(1)
  const file = join(cwd, 'coordination/to_execute/req_0106_odd/req_0106_odd.md')
  writeFileSync(file, WRITTEN['req_0106_odd']!.replace('banana', 'Blocker'))
  const { tasks, warnings } = await typist.run<Listed>('list')
  expect(warnings).toEqual([])
  expect(tasks.find(({ id }) => id === 'req_0106')).toMatchObject({ priority: 'CRITICAL' })
})

test.each(['sqlite', 'postgres', 'files'])('and an import into %s keeps them, in the same order', async engine => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['First'])
  put(cwd)
  const before = await typist.run<Listed>('list')
  await answer(['export', '--to', 'all.json'], { cwd })
  const to = scratch()
  const store = { sqlite: 'sqlite:list.db', postgres: freshSchema(inject('postgres')), files: 'files' }[engine]!
  const here = { cwd: to, env: { PUNCHLIST_STORE: store } }
  await answer(['import', join(cwd, 'all.json')], here)
  const after = await answer<Listed>(['queue', 'list'], here)
  const told = ({ dir: _dir, ...task }: Listed['tasks'][number]) => task
  expect(after.tasks.map(told)).toEqual(before.tasks.map(told))
  const { task } = await answer<{ task: ShownTask }>(['queue', 'show', '102'], here)
  expect(task).toMatchObject({ type: 'Feature', priority: 'HIGH', description: 'Look.', expect: 'An answer.' })
  const claims: Claimed['task'][] = []
  for (let n = 0; n < 7; n++) claims.push((await answer<Claimed>(['queue', 'claim', '--worker', 'w1'], here)).task)
  expect(numbers(claims)).toBe(numbers(before.tasks))
  if (engine !== 'files') return
  expect(after.warnings).toEqual(before.warnings)
  for (const [name, text] of Object.entries(WRITTEN))
    expect(readFileSync(join(to, 'coordination/in_progress', name, `${name}.md`), 'utf8')).toBe(text)
})

test('and older directories with such files are migrated and read', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['First'])
  const old = join(cwd, 'coordination/to_execute/claimed_20260102T030405_77_req_0102_login')
  mkdirSync(old)
  writeFileSync(join(old, 'req_0102_login.77.md'), WRITTEN['req_0102_login']!)
  await typist.run('migrate', 'coordination', '--apply')
  expect(await typist.show('102')).toMatchObject({ state: 'in_progress', type: 'Feature', priority: 'HIGH' })
  const moved = join(cwd, 'coordination/in_progress/req_0102_login')
  expect(readdirSync(moved)).toContain('req_0102_20260102T030405_started')
  expect(readFileSync(join(moved, 'req_0102_login.md'), 'utf8')).toBe(WRITTEN['req_0102_login'])
})
