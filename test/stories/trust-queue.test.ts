import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addHere, contents, OWN, writeByHand } from '../support/arriving.ts'
import { acceptAll, answer, punchlist, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

/** A queue with two tasks that another user has made, one claimed and reported on, and cut off before it was moved. */
async function prepared(): Promise<string> {
  const theirs = { cwd: scratch(), env: { HOME: scratch() } }
  for (const title of ['One', 'Two']) await addHere(title, theirs)
  await punchlist(['queue', 'claim', '--worker', 'mallory', '--lease', '1d'], theirs)
  const own = join(theirs.cwd, OWN)
  const gone = plantReport(own)
  const waiting = join(theirs.cwd, 'coordination/to_execute/req_0002_two')
  renameSync(waiting, join(own, `private/req_0002_two~to_execute~${gone}.1.planted.1`))
  const mine = scratch()
  cpSync(join(theirs.cwd, 'coordination'), join(mine, 'coordination'), { recursive: true })
  return mine
}

/** A report that the first task is completed, as a process leaves it that was killed before it moved the task. Says which process. */
function plantReport(own: string): number {
  const gone = spawnSync('true').pid
  const worker = { pid: gone, start: '1', boot: 'planted' }
  const name = 'req_0001_one'
  const report = { id: 'req_0001', name, token: 1, from: 'in_progress', to: 'completed', by: 'mallory' }
  renameSync(join(own, 'tasks/req_0001/lease.1'), join(own, 'tasks/req_0001/completed.1'))
  const texts = { 'execution_log.md': 'PLANTED' }
  const rest = { at: '2026-01-01T00:00:00.000Z', fields: {}, texts, lapsed: false, worker }
  writeFileSync(join(own, 'reports/req_0001~1~completed'), JSON.stringify({ ...report, ...rest }))
  return gone
}

describe("in the own folder of a queue of one's own", () => {
  test('a report that a branch brought is not carried out', async () => {
    const here = { cwd: scratch() }
    await addHere('One', here)
    await answer(['queue', 'claim', '--worker', 'w'], here)
    const own = join(here.cwd, OWN)
    plantReport(own)
    await punchlist(['queue', 'list'], here)
    await punchlist(['queue', 'recover'], here)
    const all = contents(join(here.cwd, 'coordination'))
    expect(Object.values(all).filter(text => text === 'PLANTED')).toEqual([])
    expect(existsSync(join(own, 'reports/req_0001~1~completed'))).toBe(true)
    expect(await punchlist(['queue', 'complete', 'req_0001'], here)).toMatchObject({ status: 0, stderr: '' })
    expect(existsSync(join(here.cwd, 'coordination/completed/req_0001_one/execution_log.md'))).toBe(false)
  })
})

describe('the own folder of a queue that came with the project', () => {
  test('is read, and nothing in it is finished, moved or removed; the first write asks', async () => {
    const here = { cwd: await prepared() }
    const before = contents(join(here.cwd, 'coordination'))
    const listed = await punchlist(['queue', 'list', '--all'], here)
    expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining('req_0001') })
    expect(listed.stderr).toContain(
      `${join(here.cwd, OWN)} was not made here by you: it is read, and nothing is written`,
    )
    for (const read of [['queue', 'show', 'req_0001'], ['status'], ['log'], ['doctor', '--fix'], ['trust']])
      await punchlist(read, here)
    for (const write of [
      ['queue', 'claim', '--worker', 'w'],
      ['queue', 'recover'],
      ['queue', 'complete', 'req_0001'],
      ['queue', 'add', 'Three', '--description', 'x', '--expect', 'x'],
      ['run', '--', 'true'],
    ]) {
      const refused = await refusal(write, here)
      expect(refused).toMatchObject({ status: 12, code: 'untrusted' })
      expect(refused.hint).toContain('punchlist trust')
    }
    expect(contents(join(here.cwd, 'coordination'))).toEqual(before)

    const { items } = await answer<{ items: { what: string; value: unknown }[] }>(['trust'], here)
    expect(items.find(({ what }) => what === 'queue')?.value).toMatchObject({
      folder: join(here.cwd, OWN),
      records: 2,
      reports: 1,
      held: 1,
    })
    await acceptAll(here)
    const list = await punchlist(['queue', 'list', '--all'], here)
    expect(list.stderr).toBe('')
    expect(list.stdout).toMatch(/req_0001\s+NORMAL\s+completed/)
    expect(await punchlist(['queue', 'claim', '--worker', 'w'], here)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('req_0002'),
    })
  })

  test('is refused beside a database of the user, too; the plan goes on', async () => {
    const here = { cwd: await prepared() }
    const before = contents(join(here.cwd, OWN))
    await answer(['plan', 'add', 'Mine'], here)
    expect(await refusal(['queue', 'claim', '--worker', 'w'], here)).toMatchObject({ status: 12 })
    expect((await punchlist(['log'], here)).stdout).toContain('Mine')
    const doctor = await punchlist(['doctor', '--fix'], here)
    expect(doctor).toMatchObject({ status: 12, stdout: expect.stringContaining('not accepted: queue') })
    expect(contents(join(here.cwd, OWN))).toEqual(before)
  })

  test('is refused wherever paths.queue leads', async () => {
    const cwd = await prepared()
    renameSync(join(cwd, 'coordination'), join(cwd, 'work'))
    writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ paths: { queue: 'work' } }))
    const refused = await refusal(['queue', 'claim', '--worker', 'w'], { cwd })
    expect(refused).toMatchObject({ status: 12, details: { file: join(cwd, 'work/.punchlist') } })
  })

  test('is made and marked where there are only tasks', async () => {
    const here = { cwd: scratch() }
    writeByHand(here.cwd, 'req_0001', 'One')
    // As a process leaves it that was killed before it has marked it.
    mkdirSync(join(here.cwd, OWN))
    expect(await punchlist(['queue', 'claim', '--worker', 'w'], here)).toMatchObject({ status: 0, stderr: '' })
    expect(existsSync(join(here.cwd, OWN))).toBe(true)
    expect(await punchlist(['queue', 'complete', 'req_0001'], here)).toMatchObject({ status: 0, stderr: '' })
  })

  test('two that make it at the same moment do not refuse each other', async () => {
    const here = { cwd: scratch() }
    await answer(['plan', 'add', 'Mine'], here)
    const args = (n: number) => ['queue', 'add', `Task ${n}`, '--description', 'x', '--expect', 'x']
    const all = await Promise.all([1, 2, 3, 4, 5, 6].map(async n => await punchlist(args(n), here)))
    expect(all.map(({ status, stderr }) => ({ status, stderr }))).toEqual(all.map(() => ({ status: 0, stderr: '' })))
  })

  test('of a project that was copied, or whose state is lost, costs one question together with the rest', async () => {
    const here = { cwd: scratch() }
    await addHere('Mine', here)
    const copy = { cwd: join(scratch(), 'copy') }
    cpSync(here.cwd, copy.cwd, { recursive: true })
    for (const there of [copy, { ...here, env: { HOME: scratch() } }]) {
      expect(await refusal(['run', '--', 'true'], there)).toMatchObject({ status: 12 })
      const { items } = await answer<{ items: { what: string }[] }>(['trust'], there)
      expect(items.map(({ what }) => what)).toEqual(['database', 'queue', 'tasks'])
      await acceptAll(there)
      await addHere('More', there)
      const ran = await punchlist(['run', '--', 'true'], there)
      expect(ran).toMatchObject({ status: 0, stderr: '' })
      expect(ran.stdout).not.toContain('not added here')
      expect(ran.stdout).toContain('2 completed')
    }
  })
})
