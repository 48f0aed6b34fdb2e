import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { acceptAll, answer, HOME, punchlist } from '../support/cli.ts'
import type { Claimed, Listed, One } from '../support/queue.ts'
import { ids, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'
import { struckAt } from '../support/strace.ts'

// Permissions do not bind root, so the program runs as somebody else then.
const isRoot = process.getuid?.() === 0
const somebody = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
const REPORTS = 'coordination/.punchlist/reports'

/** A queue in which the worker of task 1 was killed after it was decided that it is completed, and before it was moved. */
async function decided(): Promise<string> {
  const base = scratch()
  const typist = new Typist(base)
  await typist.add(['A', 'B', 'C'])
  await typist.claim('w1', '1')
  for (let n = 1; n < 20; n++) {
    const cwd = scratch()
    cpSync(base, cwd, { recursive: true })
    await acceptAll({ cwd })
    const through = struckAt('rename,renameat,renameat2', n, 'signal=KILL')
    await punchlist(['queue', 'complete', '1', '--note', 'done'], { cwd, through })
    const isDecided = existsSync(join(cwd, 'coordination/.punchlist/tasks/req_0001/completed.1'))
    if (isDecided && existsSync(join(cwd, 'coordination/in_progress/req_0001_a'))) return cwd
  }
  throw new Error('no call leaves a report that was decided')
}

// Each command is started under another user, whose compiled code is not cached.
describe('a report that cannot be carried out', { timeout: 300_000 }, () => {
  let base: string
  let report: string
  beforeAll(async () => {
    base = await decided()
    report = readdirSync(join(base, REPORTS))[0]!
  }, 300_000)

  /** The same queue, as somebody who is bound by permissions has it. */
  async function workspace(): Promise<{ cwd: string; through: string[] }> {
    const cwd = scratch()
    cpSync(base, cwd, { recursive: true })
    await acceptAll({ cwd })
    if (isRoot) execFileSync('chown', ['-R', '65534:65534', cwd, HOME()])
    return { cwd, through: [...somebody, process.execPath] }
  }

  const hindrances: Record<string, { hinder: (cwd: string) => void; free: (cwd: string) => void }> = {
    'because its place is taken': {
      hinder: cwd => mkdirSync(join(cwd, 'coordination/completed/req_0001_a')),
      free: cwd => rmSync(join(cwd, 'coordination/completed/req_0001_a'), { recursive: true }),
    },
    'because its place cannot be written': {
      hinder: cwd => chmodSync(join(cwd, 'coordination/completed'), 0o555),
      free: cwd => chmodSync(join(cwd, 'coordination/completed'), 0o755),
    },
    'because it cannot be read': {
      hinder: cwd => chmodSync(join(cwd, REPORTS, report), 0),
      free: cwd => chmodSync(join(cwd, REPORTS, report), 0o600),
    },
  }

  test.each(Object.keys(hindrances))('%s is named in a warning, and every command goes on', async how => {
    const { cwd, through } = await workspace()
    const around = { cwd, through }
    hindrances[how]!.hinder(cwd)
    const listed = await answer<Listed>(['queue', 'list'], around)
    expect(listed.warnings.map(({ file }) => file)).toContain(join(REPORTS, report))
    const told = await punchlist(['queue', 'add', 'D', '--description', 'Any.', '--expect', 'Done.'], around)
    expect([told.status, told.stderr]).toEqual([0, expect.stringContaining(`warning: ${join(REPORTS, report)}`)])
    const claim = await answer<Claimed & Pick<Listed, 'warnings'>>(['queue', 'claim', '--worker', 'w2'], around)
    expect(claim.task).toMatchObject({ id: 'req_0002', state: 'in_progress' })
    expect(claim.warnings.map(({ file }) => file)).toContain(join(REPORTS, report))

    hindrances[how]!.free(cwd)
    const { tasks } = await answer<Listed>(['queue', 'list', '--state', 'completed'], around)
    expect(ids(tasks)).toEqual(['req_0001'])
    expect(readdirSync(join(cwd, REPORTS))).toEqual([])
  })

  test('is answered as what it is, done, where the directory cannot be moved yet', async () => {
    const { cwd, through } = await workspace()
    const around = { cwd, through }
    await answer(['queue', 'claim', '2', '--worker', 'w2'], around)
    chmodSync(join(cwd, 'coordination/completed'), 0o555)
    const done = await answer<One & Pick<Listed, 'warnings'>>(['queue', 'complete', '2', '--note', 'so'], around)
    expect(done.task).toMatchObject({ id: 'req_0002', state: 'completed' })
    expect(done.warnings.map(({ message }) => message)).toContainEqual(expect.stringContaining('req_0002 is completed'))
    chmodSync(join(cwd, 'coordination/completed'), 0o755)
    const { task } = await answer<{ task: { state: string; texts: Record<string, string> } }>(
      ['queue', 'show', '2'],
      around,
    )
    expect([task.state, task.texts['execution_log.md']]).toEqual(['completed', expect.stringContaining('so')])
  })
})
