import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/core/operation.ts'
import { perform } from '../../src/core/operation.ts'
import type { Store } from '../../src/core/store.ts'
import { carryOut, planFor, queueMigrate } from '../../src/migration.ts'
import { scratch } from '../support/scratch.ts'

const when = new Date('2025-12-14T10:15:00Z')

/** Files below a folder called coordination, by path; a path that ends with a slash is an empty folder. */
function made(wanted: Readonly<Record<string, string>>): string {
  const root = scratch()
  for (const [path, text] of Object.entries(wanted)) {
    const file = join(root, 'coordination', path)
    mkdirSync(path.endsWith('/') ? file : dirname(file), { recursive: true })
    if (path.endsWith('/')) continue
    writeFileSync(file, text)
    utimesSync(file, when, when)
  }
  return root
}

async function migrate(root: string, apply: boolean, dir = 'coordination') {
  const store = { warnings: async () => [] } as Partial<Store> as Store
  return await perform(queueMigrate, { root, store } as Caller, { dir, apply })
}

function files(root: string): Record<string, string> {
  const top = join(root, 'coordination')
  const names = readdirSync(top, { recursive: true, encoding: 'utf8' }).filter(name =>
    statSync(join(top, name)).isFile(),
  )
  return Object.fromEntries(names.toSorted().map(name => [name, readFileSync(join(top, name), 'utf8')]))
}

function told({ kind, from, to }: { kind: string; from: string; to: string }) {
  return [kind, from, to]
}

async function refusal(root: string, dir: string) {
  return await migrate(root, false, dir).then(
    () => undefined,
    error => error as { code: string; message: string; hint: string },
  )
}

const older = {
  'to_execute/req_0007_waiting/req_0007_waiting.md': '# Request #0007: waiting\n',
  'in_progress/claimed_20251214T101500_4711_req_1234_v2_of_3/req_1234_v2_of_3.4711.md': 'seven\n',
  'in_progress/claimed_20251214T101500_4711_req_1234_v2_of_3/artifacts/out.txt': 'kept',
  'in_progress/claimed_20251214_101501_4712_2_fast_2_furious/2_fast_2_furious.4712.md': '# No number\n',
  'in_progress/req_1235_yaml-migration/req_1235_yaml-migration.815.md': 'eight\n',
  'in_progress/req_1235_yaml-migration/execution_log.md': 'By hand, without an end',
  'completed/claimed_2025-12-14_101502_4713_req_1236_01_done/req_1236_01_done.4713.md': 'part\n',
  'completed/claimed_2025-12-14_101502_4713_req_1236_01_done/req_1236_01_done.4713.completion.md':
    'timestamp: 2025-12-14T11:00:00+01:00\nstatus: completed\nsummary: |\n  ## All of it\n  ```\n  code\n',
  'to_execute/bare_name/bare_name.md': '# Request #0042: Bare\n',
  'to_execute/req_0008_left/req_0008_left.816.md': 'claimed where it lay\n',
  'to_execute/req_12_short/req_12_short.md': 'short\n',
}

describe('tasks of older forms', () => {
  test('are left as they are by a dry run, which tells every change', async () => {
    const root = made(older)
    const before = files(root)
    const { changes, applied, refused } = await migrate(root, false)
    expect([applied, refused]).toEqual([false, []])
    expect(changes.length).toBeGreaterThan(10)
    for (const { kind, from, to, why } of changes) expect([kind, from, to, why].every(Boolean)).toBe(true)
    expect(files(root)).toEqual(before)
  })

  test('get their present form, and nothing is lost', async () => {
    const root = made(older)
    const planned = await migrate(root, false)
    const { changes, applied, refused } = await migrate(root, true)
    expect([applied, refused]).toEqual([true, []])
    expect(changes).toEqual(planned.changes)
    const after = files(root)
    const logs = Object.keys(after).filter(name => name.endsWith('execution_log.md'))
    const texts = Object.fromEntries(Object.entries(after).filter(([name]) => !logs.includes(name)))
    expect(texts).toEqual({
      'completed/req_1236_01_done/req_1236_01_20251214T100000_completed': '',
      'completed/req_1236_01_done/req_1236_01_20251214T101502_started': '',
      'completed/req_1236_01_done/req_1236_01_done.md': 'part\n',
      'in_progress/req_0008_left/req_0008_20251214T101500_started': '',
      'in_progress/req_0008_left/req_0008_left.md': 'claimed where it lay\n',
      'in_progress/req_1234_v2_of_3/artifacts/out.txt': 'kept',
      'in_progress/req_1234_v2_of_3/req_1234_20251214T101500_started': '',
      'in_progress/req_1234_v2_of_3/req_1234_v2_of_3.md': 'seven\n',
      'in_progress/req_1235_yaml-migration/req_1235_20251214T101500_started': '',
      'in_progress/req_1235_yaml-migration/req_1235_yaml-migration.md': 'eight\n',
      'in_progress/req_1237_2_fast_2_furious/req_1237_20251214T101501_started': '',
      'in_progress/req_1237_2_fast_2_furious/req_1237_2_fast_2_furious.md': '# No number\n',
      'to_execute/req_0007_waiting/req_0007_waiting.md': '# Request #0007: waiting\n',
      'to_execute/req_0012_short/req_0012_short.md': 'short\n',
      'to_execute/req_0042_bare_name/req_0042_bare_name.md': '# Request #0042: Bare\n',
    })
    expect(logs).toHaveLength(5)
    expect(after['in_progress/req_1234_v2_of_3/execution_log.md']).toMatch(
      /## 2025-12-14T10:15:00.000Z - claimed\n\n\*\*By:\*\* process 4711\n/,
    )
    expect(after['in_progress/req_1235_yaml-migration/execution_log.md']).toMatch(
      /^By hand, without an end\n\n## [^]*process 815\n/,
    )
    expect(after['completed/req_1236_01_done/execution_log.md']).toMatch(
      /process 4713\n[^]*2025-12-14T10:00:00.000Z - completed\n[^]*````\ntimestamp: 2025-12-14T11:00:00\+01:00\nstatus: completed\nsummary: \|\n {2}## All of it\n {2}```\n {2}code\n````\n$/,
    )
    expect(planned.changes.find(({ to }) => to === 'in_progress/req_1237_2_fast_2_furious')?.why).toMatch(
      /no id: req_1237 is the next free/,
    )
    expect(await migrate(root, true)).toEqual({ changes: [], applied: true, refused: [] })
    expect(files(root)).toEqual(after)
  })

  test('that were claimed where they lay are in progress', async () => {
    const root = made({
      'to_execute/req_0001_x/req_0001_x.99.md': 'x',
      'staged/claimed_20251214T101500_98_req_0002_y/req_0002_y.md': 'y',
    })
    await migrate(root, true)
    expect(Object.keys(files(root))).toEqual([
      'in_progress/req_0001_x/execution_log.md',
      'in_progress/req_0001_x/req_0001_20251214T101500_started',
      'in_progress/req_0001_x/req_0001_x.md',
      'in_progress/req_0002_y/execution_log.md',
      'in_progress/req_0002_y/req_0002_20251214T101500_started',
      'in_progress/req_0002_y/req_0002_y.md',
    ])
  })

  test('that failed are not taken for completed', async () => {
    const root = made({
      'in_progress/req_0001_x/req_0001_x.9.md': 'x',
      'in_progress/req_0001_x/req_0001_x.9.completion.md': 'status: failed\n',
      'error/req_0002_y/req_0002_y.9.md': 'y',
      'error/req_0002_y/req_0002_y.9.completion.md': 'over\n',
    })
    await migrate(root, true)
    expect(Object.keys(files(root)).filter(name => /_(?:error|completed)$/.test(name))).toEqual([
      'error/req_0002_y/req_0002_20251214T101500_error',
      'in_progress/req_0001_x/req_0001_20251214T101500_error',
    ])
  })

  test('may lie in the root, beside what is none of ours', async () => {
    const root = made({
      'claimed_20251214_101500_7_req_0001_x/req_0001_x.7.md': 'x',
      'docs/docs.md': 'kept',
      'notes.2024.md': 'kept',
      'to_execute/readme/other.md': 'kept',
      'in_progress/req_0009_y/notes.2024.md': 'kept',
      'in_progress/req_0009_y/req_0009_y.md': 'y',
    })
    const { refused } = await migrate(root, true)
    expect(refused).toEqual([])
    expect(Object.keys(files(root))).toEqual([
      'docs/docs.md',
      'in_progress/req_0009_y/notes.2024.md',
      'in_progress/req_0009_y/req_0009_y.md',
      'notes.2024.md',
      'req_0001_x/execution_log.md',
      'req_0001_x/req_0001_20251214T101500_started',
      'req_0001_x/req_0001_x.md',
      'to_execute/readme/other.md',
    ])
  })
})

describe('a task that cannot be migrated', () => {
  const claimed = 'in_progress/claimed_20251214T101500_4711_req_0001_x'
  const cases: readonly [string, Record<string, string>, readonly string[], RegExp][] = [
    [
      'whose new name is taken',
      { [`${claimed}/req_0001_x.4711.md`]: 'a', 'in_progress/req_0001_x/req_0001_x.md': 'b' },
      [claimed],
      /req_0001 is also the id of in_progress\/req_0001_x/,
    ],
    [
      'whose id is taken in another folder',
      { [`${claimed}/req_0001_x.4711.md`]: 'a', 'completed/req_0001_y/req_0001_y.md': 'b' },
      [claimed],
      /completed\/req_0001_y/,
    ],
    [
      'that was claimed twice',
      {
        [`${claimed}/req_0001_x.4711.md`]: 'a',
        'in_progress/claimed_20251214T101500_4712_req_0001_x/req_0001_x.4712.md': 'b',
      },
      [claimed, 'in_progress/claimed_20251214T101500_4712_req_0001_x'],
      /is also the id of/,
    ],
    [
      'with a file where its directory goes',
      { [`${claimed}/req_0001_x.4711.md`]: 'a', 'in_progress/req_0001_x': 'b' },
      [claimed],
      /in_progress\/req_0001_x is there already/,
    ],
    [
      'with two task files',
      { [`${claimed}/req_0001_x.4711.md`]: 'a', [`${claimed}/req_0001_x.md`]: 'b' },
      [claimed],
      /more than one task file/,
    ],
    ['without one', { [`${claimed}/artifacts/x`]: 'a' }, [claimed], /no task file/],
    [
      'named by another rule',
      { 'in_progress/claimed_by_me/x.md': 'a' },
      ['in_progress/claimed_by_me'],
      /is not named claimed_/,
    ],
    [
      'claimed at no time',
      { 'in_progress/claimed_20259914T101500_4711_req_0001_x/req_0001_x.md': 'a' },
      ['in_progress/claimed_20259914T101500_4711_req_0001_x'],
      /claim time/,
    ],
    [
      'whose log is a folder',
      { [`${claimed}/req_0001_x.4711.md`]: 'a', [`${claimed}/execution_log.md/`]: '' },
      [claimed],
      /execution_log\.md is not a text file/,
    ],
    [
      'whose flag is not empty',
      { [`${claimed}/req_0001_x.4711.md`]: 'a', [`${claimed}/req_0001_20251214T101500_started`]: 'b' },
      [claimed],
      /no empty file/,
    ],
    [
      'that is a file alone',
      { 'in_progress/req_0001_x.4711.md': 'a' },
      ['in_progress/req_0001_x.4711.md'],
      /outside of a directory/,
    ],
  ]

  test.each(cases)('%s is named and left alone, and the others are migrated', async (_what, task, paths, why) => {
    const other = { 'in_progress/req_0500_z/req_0500_z.1.md': 'z' }
    const root = made({ ...task, ...other })
    const { refused, changes } = await migrate(root, true)
    expect(refused.map(({ from }) => from)).toEqual(paths)
    for (const each of refused) expect(each.why).toMatch(why)
    expect(changes.every(({ from }) => from.includes('req_0500'))).toBe(true)
    const after = files(root)
    expect(after['in_progress/req_0500_z/req_0500_z.md']).toBe('z')
    expect(Object.fromEntries(Object.entries(after).filter(([name]) => !name.includes('req_0500')))).toEqual(
      Object.fromEntries(Object.entries(task).filter(([name]) => !name.endsWith('/'))),
    )
  })

  test('because its completion is no text is left alone', async () => {
    const root = made({ 'in_progress/req_0001_x/req_0001_x.1.md': 'x' })
    writeFileSync(
      join(root, 'coordination/in_progress/req_0001_x/req_0001_x.1.completion.md'),
      Buffer.from([0x61, 0xff]),
    )
    expect(await migrate(root, true)).toMatchObject({
      changes: [],
      refused: [{ why: expect.stringContaining('UTF-8') }],
    })
  })

  test('because it cannot be written keeps nobody from the others', async () => {
    const root = made({
      'in_progress/req_0001_x/req_0001_x.1.md': 'x',
      'in_progress/req_0001_x/.punchlist-migration.tmp/': '',
      'in_progress/req_0002_x/req_0002_x.1.md': 'x',
    })
    const { refused } = await migrate(root, true)
    expect(refused).toEqual([{ from: expect.stringContaining('req_0001_x'), why: expect.stringContaining('EISDIR') }])
    expect(existsSync(join(root, 'coordination/in_progress/req_0001_x/req_0001_x.1.md'))).toBe(true)
    expect(existsSync(join(root, 'coordination/in_progress/req_0002_x/req_0002_x.md'))).toBe(true)
  })

  test('because it is a link is passed over, and nothing behind a link is touched', async () => {
    const root = made({ 'in_progress/': '', 'elsewhere/req_0001_x/req_0001_x.1.md': 'x' })
    symlinkSync('../elsewhere/req_0001_x', join(root, 'coordination/in_progress/req_0001_x'))
    symlinkSync('elsewhere', join(root, 'coordination/to_execute'))
    expect(await migrate(root, true)).toEqual({
      changes: [],
      applied: true,
      refused: [{ from: 'to_execute', why: 'is not a folder' }],
    })
    expect(readFileSync(join(root, 'coordination/elsewhere/req_0001_x/req_0001_x.1.md'), 'utf8')).toBe('x')
  })
})

describe('a migration that was killed', () => {
  test('after any of its steps is finished by the next one, with the same outcome', async () => {
    const complete = made(older)
    const steps = planFor(join(complete, 'coordination')).tasks.flat()
    await migrate(complete, true)
    const whole = files(complete)
    for (let done = 0; done <= steps.length; done++) {
      const root = made(older)
      for (const step of steps.slice(0, done)) carryOut(join(root, 'coordination'), step)
      const left = planFor(join(root, 'coordination')).tasks.flat()
      expect(left.map(told), `left after ${done} steps`).toEqual(steps.slice(done).map(told))
      await migrate(root, true)
      expect(files(root), `killed after ${done} steps`).toEqual(whole)
      expect((await migrate(root, true)).changes).toEqual([])
    }
  })

  test('keeps the number that it gave, also when others have come meanwhile', async () => {
    const root = made({ 'in_progress/claimed_20251214_101501_4712_bare/bare.4712.md': 'x' })
    const top = join(root, 'coordination')
    const steps = planFor(top).tasks.flat()
    for (const step of steps.slice(0, 2)) carryOut(top, step)
    mkdirSync(join(top, 'to_execute/req_0090_y'), { recursive: true })
    await migrate(root, true)
    expect(Object.keys(files(root))).toContain('in_progress/req_0001_bare/req_0001_bare.md')
  })
})

describe('the folder', () => {
  test('must be in the workspace, and be the one with all states', async () => {
    const root = made({ 'in_progress/': '', file: 'x' })
    const outside = made({ 'in_progress/': '' })
    symlinkSync(join(outside, 'coordination'), join(root, 'out'))
    symlinkSync('coordination', join(root, 'in'))
    expect(await refusal(root, 'out')).toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('leads out'),
    })
    expect(await refusal(root, '..')).toMatchObject({ code: 'bad_input' })
    expect(await refusal(root, join(outside, 'coordination'))).toMatchObject({ code: 'bad_input' })
    expect(await refusal(root, 'nowhere')).toMatchObject({ code: 'not_found' })
    expect(await refusal(root, 'coordination/file')).toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('not a folder'),
    })
    expect(await refusal(root, 'coordination/in_progress')).toMatchObject({
      code: 'bad_input',
      hint: expect.stringContaining('above it: coordination'),
    })
    expect(await refusal(root, 'in')).toBeUndefined()
  })
})

describe('what was prepared to mislead', () => {
  const ENTRY = { at: when.toISOString(), by: 'process 4711', what: 'claimed', note: 'moved' }
  const moving = { 'claimed_20251214T101500_4711_req_0001_x/req_0001_x.4711.md': '# Request #0001: x\n' }

  test('a folder that is a link takes no task', async () => {
    const root = made(moving)
    const outside = scratch()
    symlinkSync(outside, join(root, 'coordination/in_progress'))
    const step = {
      kind: 'rename' as const,
      from: Object.keys(moving)[0]!.split('/')[0]!,
      to: 'in_progress/req_0001_x',
      why: '',
    }
    expect(() => carryOut(join(root, 'coordination'), step)).toThrow('symbolic link')
    await migrate(root, true)
    expect(readdirSync(outside)).toEqual([])
  })

  test('a pipe or a link in the place of a draft is replaced, and not written to', async () => {
    for (const plant of [
      (path: string) => void execFileSync('mkfifo', [path]),
      (path: string, precious: string) => symlinkSync(precious, path),
    ]) {
      const root = made(moving)
      const precious = join(scratch(), 'precious')
      writeFileSync(precious, 'kept')
      const directory = join(root, 'coordination', Object.keys(moving)[0]!, '..')
      plant(join(directory, '.punchlist-migration.tmp'), precious)
      const log = {
        kind: 'log' as const,
        from: 'x',
        to: `${basename(directory)}/execution_log.md`,
        why: '',
        entry: ENTRY,
      }
      carryOut(join(root, 'coordination'), log)
      expect(readFileSync(precious, 'utf8')).toBe('kept')
      expect(readFileSync(join(directory, 'execution_log.md'), 'utf8')).toContain('moved')
      expect(readdirSync(directory)).not.toContain('.punchlist-migration.tmp')
    }
  })
})
