import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { acceptAll, answer, HOME, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { struckAt } from '../support/strace.ts'
import {
  type ForPullRequest,
  type Summarised,
  type Swept,
  TODOS,
  Typist,
  timeless,
  type Wrote,
} from '../support/worklog.ts'

const OPEN = ['open', 'alice', '--role', 'implementation', '--plan', 'plans/report.md']
const WRITES = [
  ['open', 'eve', '--role', 'test', '--plan', 'plans/report.md'],
  ['task', 'alice', '2', 'Sign it'],
  ['check', 'alice', '1', '1'],
  ['decide', 'alice', '1', 'No cache'],
  ['complete', 'alice', '1', '--file', 'a.ts'],
  ['fail', 'alice', '1', '--reason', 'no'],
  ['close', 'alice'],
]

/** A session with a worker that is at work. */
async function session(): Promise<Typist> {
  const typist = new Typist(scratch())
  await typist.run(...OPEN)
  await typist.run('task', 'alice', '1', 'Escape the report', '--subtask', 'find it')
  return typist
}

/** Every file below a folder with what stands in it. */
function everything(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(files.map(path => [path, readFileSync(path, 'latin1')]))
}

/** That every verb that writes goes on with a warning. */
async function goesOn(typist: Typist): Promise<void> {
  const hindered = {
    worklog: null,
    written: false,
    warnings: [{ file: expect.any(String), line: 1, message: expect.stringMatching(/^the worklog was not written: /) }],
  }
  const told = await Promise.all(WRITES.map(args => typist.run(...args)))
  expect(told).toEqual(WRITES.map(() => hindered))
  const { status, stdout, stderr } = await typist.seen(...WRITES[3]!)
  expect([status, stdout]).toEqual([0, 'not written; go on with the work\n'])
  expect(stderr).toMatch(/^warning: .*the worklog was not written: /)
}

const readOnly = (cwd: string): string[] => {
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
  const namespace = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m']
  return ['unshare', ...namespace, 'sh', '-c', script, cwd, process.execPath]
}

describe('a worklog that cannot be written does not stop the work', () => {
  test('where the folder is not ours', async () => {
    const made = await session()
    const { cwd } = made
    // Permissions do not bind root, so the program runs as somebody else then.
    const root = process.getuid?.() === 0
    if (root) execFileSync('chown', ['-R', '65534:65534', cwd, HOME()])
    const somebody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath]
    const through = root ? somebody : [process.execPath]
    const typist = made.with({}, through)
    chmodSync(join(cwd, TODOS), 0o555)
    const before = everything(join(cwd, 'tmp'))
    await goesOn(typist)
    // Whose log could not be opened is not told to open it.
    expect((await typist.run('task', 'eve', '1', 'x')).written).toBe(false)
    const summary = await typist.summary()
    expect(summary).toMatchObject({ path: null, workers: 1, total_tasks: 1, interrupted: ['alice'] })
    expect(summary.warnings.map(({ file }) => file)).toEqual([`${TODOS}/alice.md`, `${TODOS}/_summary.md`])
    const seen = await typist.seen('summary')
    expect([seen.status, seen.stdout]).toEqual([0, expect.stringContaining('no summary was written')])
    const swept = await typist.run<Swept>('sweep')
    expect(swept.warnings).toMatchObject([{ file: `${TODOS}/alice.md` }])
    // That a ward failed is no matter of the log.
    writeFileSync(join(cwd, 'punchlist.json'), '{"wards":["node -e process.exit(3)"]}')
    if (root) execFileSync('chown', ['65534:65534', join(cwd, 'punchlist.json')])
    await acceptAll({ cwd, through })
    expect(await typist.refused('complete', 'alice', '1')).toMatchObject({ status: 5, code: 'move_refused' })
    expect(await typist.list()).toMatchObject({ worklogs: [{ worker: 'alice', status: 'active' }] })
    expect(everything(join(cwd, 'tmp'))).toEqual(before)
    chmodSync(join(cwd, TODOS), 0o755)
    expect((await typist.run(...WRITES[3]!)).written).toBe(true)
    expect((await typist.refused('task', 'eve', '1', 'x')).status).toBe(4)
    expect(await typist.summary()).toMatchObject({ path: `${TODOS}/_summary.md`, warnings: [] })
  })

  test('where the file system is read-only, whether there is a log already or not', async () => {
    const made = await session()
    const typist = made.with({}, readOnly(made.cwd))
    const before = everything(made.cwd)
    await goesOn(typist)
    expect(await typist.summary()).toMatchObject({ path: null, workers: 1, interrupted: ['alice'] })
    expect((await typist.run<Swept>('sweep')).warnings).not.toEqual([])
    expect((await typist.list('--worker', 'alice')).tasks).toHaveLength(1)
    expect(await typist.merged('As it was.')).toBe('As it was.')
    expect(everything(made.cwd)).toEqual(before)
    const empty = scratch()
    const nobody = new Typist(empty, { PUNCHLIST_SESSION: 's1' }, readOnly(empty))
    await goesOn(nobody)
    expect(await nobody.summary()).toMatchObject({ path: null, workers: 0 })
    expect((await nobody.run<Swept>('sweep')).interrupted).toEqual([])
    expect(readdirSync(empty)).toEqual([])
  })

  test('where the disk is full, and what is there stays whole', () => {
    const out = scratch()
    const folder = scratch()
    const program = join(import.meta.dirname, '../../bin/punchlist.js')
    const verb = (args: readonly string[]) => `verb ${args.map(word => `'${word}'`).join(' ')}`
    const script = `
      mount -t tmpfs -o size=1500k tmpfs "$1" || exit 9
      cd "$1"; n=0
      verb() { "$node" "$program" --json worklog "$@" >"$out/$n.out" 2>"$out/$n.err" || exit 8; n=$((n + 1)); }
      node=$2 program=$3 out=$4
      ${verb(OPEN)}
      ${verb(['task', 'alice', '1', 'Escape the report', '--subtask', 'find it'])}
      cp ${TODOS}/alice.md "$out/before.md"
      dd if=/dev/zero of=ballast bs=1k 2>/dev/null
      ${WRITES.map(verb).join('\n')}
      ${verb(['summary'])}
      ${verb(['sweep'])}
      ${verb(['list'])}
      cp ${TODOS}/alice.md "$out/after.md"
      ls -A ${TODOS} >"$out/names"
      rm ballast
      ${verb(['decide', 'alice', '1', 'No cache'])}
      ${verb(['summary'])}
      ls -A ${TODOS} >"$out/names-then"
    `
    const namespace = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m']
    const words = ['sh', '-c', script, 'sh', folder, process.execPath, program, out]
    const env = { PATH: process.env['PATH'] ?? '', HOME: HOME(), USER: 'tester', PUNCHLIST_SESSION: 's1' }
    const ran = spawnSync('unshare', [...namespace, ...words], { encoding: 'utf8', env })
    const text = (name: string) => readFileSync(join(out, name), 'utf8')
    expect(
      ran.status,
      `${ran.stderr}${readdirSync(out)
        .filter(name => name.endsWith('.err'))
        .map(text)
        .join('')}`,
    ).toBe(0)
    const told = (n: number): unknown => JSON.parse(text(`${n}.out`))
    const hindered = WRITES.map((_, n) => told(n + 2) as Wrote)
    expect(hindered.map(({ written }) => written)).toEqual(WRITES.map(() => false))
    for (const { warnings } of hindered) expect(warnings[0]!.message).toMatch(/^the worklog was not written: /)
    expect(told(9)).toMatchObject({ path: null, workers: 1, total_tasks: 1 })
    expect((told(9) as Summarised).warnings.length).toBeGreaterThan(0)
    expect((told(10) as Swept).warnings.length).toBeGreaterThan(0)
    expect(told(11)).toMatchObject({ worklogs: [{ worker: 'alice', status: 'active', tasks_total: 1 }] })
    expect(text('after.md')).toBe(text('before.md'))
    expect(text('names').trim()).toBe('alice.md')
    expect(told(12)).toMatchObject({ written: true, task: { decisions: ['No cache'] } })
    expect(told(13)).toMatchObject({ path: `${TODOS}/_summary.md`, warnings: [] })
    expect(text('names-then').trim().split('\n')).toEqual(['_summary.md', 'alice.md'])
  })

  test('where the database cannot be reached', async () => {
    const cwd = scratch()
    const store = 'postgres://ann:secret@127.0.0.1:1/none'
    const typist = new Typist(cwd, { PUNCHLIST_SESSION: 's1', PUNCHLIST_STORE: store })
    // Without a name of the session nothing can be known of it either.
    const anywhere = new Typist(cwd, { PUNCHLIST_STORE: store })
    // Each waits a few seconds for the server to come back.
    const [, summary, swept, body, pr, listed, opened] = await Promise.all([
      goesOn(typist),
      typist.summary(),
      typist.run<Swept>('sweep'),
      typist.merged('As it was.'),
      typist.run<ForPullRequest>('pr'),
      typist.refused('list'),
      anywhere.run(...OPEN),
    ])
    expect(summary).toMatchObject({ path: null, workers: 0, total_tasks: 0, session: 's1' })
    expect(summary.warnings).toMatchObject([{ message: expect.stringContaining('127.0.0.1') }])
    expect([swept.interrupted, swept.warnings.length]).toEqual([[], 1])
    // In a pipe to where the body came from, an empty answer would be the end of it.
    expect(body).toBe('As it was.')
    expect(pr).toMatchObject({ text: '', section: null, warnings: [{ line: 1 }] })
    expect(listed).toMatchObject({ status: 9, code: 'store_unreachable' })
    expect(opened.written).toBe(false)
    expect(JSON.stringify([summary, swept, pr, listed])).not.toContain('secret')
    expect(readdirSync(cwd)).toEqual([])
  })

  test('where a folder stands in the place of the file, or a file in that of the folder', async () => {
    const typist = await session()
    rmSync(join(typist.cwd, TODOS), { recursive: true })
    typist.put('../todos', 'in the way')
    expect(await typist.run(...WRITES[0]!)).toMatchObject({ written: false, warnings: [{ line: 1 }] })
    expect(await typist.summary()).toMatchObject({ path: null })
    rmSync(join(typist.cwd, TODOS))
    await typist.run(...OPEN)
    mkdirSync(join(typist.cwd, TODOS, '_summary.md'))
    expect(await typist.summary()).toMatchObject({ path: null, workers: 1, warnings: [{ line: 1 }] })
  })
})

describe('a process that is killed leaves the old file or the new one, and the next goes on at once', () => {
  const points = [
    ['pwrite64', 2],
    ['fsync', 1],
    ['link,linkat,rename,renameat,renameat2', 1],
    ['unlink,unlinkat', 1],
  ] as const
  const verbs: [verb: string, file: string, args: string[]][] = [
    ['open', 'eve.md', WRITES[0]!],
    ['task', 'alice.md', WRITES[1]!],
    ['complete', 'alice.md', WRITES[4]!],
    ['close', 'alice.md', WRITES[6]!],
    ['summary', '_summary.md', ['summary']],
  ]
  test.each(verbs)('worklog %s', async (_, file, args) => {
    const base = await session()
    if (args[0] === 'summary') await base.run('close', 'alice')
    const copy = async () => {
      const cwd = scratch()
      cpSync(base.cwd, cwd, { recursive: true })
      await acceptAll({ cwd })
      return new Typist(cwd)
    }
    const whole = await copy()
    await whole.run(...args)
    const expected = [base.text(file), whole.text(file)].map(text => text && timeless(text))
    for (const [call, n] of points) {
      const struck = await copy()
      await punchlist(['worklog', ...args], { ...struck.around, through: struckAt(call, n, 'signal=KILL') })
      const left = struck.text(file)
      expect(expected, `${call} ${n}`).toContain(left && timeless(left))
      await struck.run(...args)
      expect(timeless(struck.text(file)!), `${call} ${n}`).toBe(expected[1])
      await answer(['doctor', '--fix'], { cwd: struck.cwd })
      expect(readdirSync(join(struck.cwd, TODOS)).toSorted()).toEqual(readdirSync(join(whole.cwd, TODOS)).toSorted())
    }
  })
})
