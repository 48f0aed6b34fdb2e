import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { acceptAll, answer, punchlist, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const TASK = ['queue', 'add', 'T', '--description', 'd', '--expect', 'e']
const TODO = ['backlog', 'add', 'Fix it', '--source', 'review', '--session', 's1']

/** A repository with these settings, and a folder beside it. */
function stage(paths: Readonly<Record<string, string>>) {
  const top = scratch()
  const [cwd, beside] = [join(top, 'project'), join(top, 'beside')]
  for (const folder of [join(cwd, '.git/hooks'), beside]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ paths }))
  return { top, cwd, beside }
}

const everything = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()

describe('a folder outside of the repository', () => {
  test('is not touched before its user accepted it', async () => {
    const { top, cwd, beside } = stage({ work: '../beside/work', queue: '../beside/queue' })
    const before = everything(top)
    for (const args of [
      TASK,
      TODO,
      ['queue', 'claim', '--worker', 'w'],
      ['worklog', 'open', 'w', '--role', 'test', '--plan', 'p'],
    ]) {
      expect(await refusal(args, { cwd }), args.join(' ')).toMatchObject({ status: 12, code: 'untrusted' })
    }
    for (const args of [
      ['backlog', 'list'],
      ['queue', 'list'],
    ]) {
      const { status, stderr } = await punchlist(args, { cwd })
      expect([status, stderr]).toEqual([0, expect.stringContaining('paths.')])
    }
    expect(everything(beside)).toEqual([])
    expect(everything(top)).toEqual(before)
  })

  test.each([
    ['beside the repository', '../beside/work', '../beside/queue'],
    ['deep in folders that are not there yet', '../beside/a/b/work', '../beside/c/d/queue'],
  ])('%s, is worked in once it was accepted, and nothing is made around it', async (_, work, queue) => {
    const { top, cwd, beside } = stage({ work, queue })
    await acceptAll({ cwd })
    await answer(TASK, { cwd })
    await answer(['queue', 'claim', '--worker', 'w'], { cwd })
    expect(existsSync(join(cwd, queue, 'in_progress/req_0001_t'))).toBe(true)
    await answer(['queue', 'checkpoint', 'req_0001', '--summary', 'half', '--actor', 'w'], { cwd })
    await answer(['queue', 'complete', 'req_0001', '--actor', 'w'], { cwd })
    expect(existsSync(join(cwd, queue, 'completed/req_0001_t'))).toBe(true)
    const { todo } = await answer<{ todo: { path: string } }>(TODO, { cwd })
    expect(existsSync(join(cwd, todo.path)), todo.path).toBe(true)
    expect(await answer(['backlog', 'list', '--session', 's1'], { cwd })).toMatchObject({
      todos: [{ title: 'Fix it' }],
      warnings: [],
    })
    await answer(['worklog', 'open', 'w', '--role', 'test', '--plan', 'p', '--session', 's1'], { cwd })
    await answer(['worklog', 'summary', '--session', 's1'], { cwd })
    expect((await punchlist(['doctor'], { cwd })).status).toBe(0)
    await answer(['backlog', 'sweep', '--session', 's1', '--remove'], { cwd })
    expect(await answer(['backlog', 'list', '--session', 's1'], { cwd })).toMatchObject({ todos: [] })
    // What is removed lies in the folder that was accepted: its parents are nobody's workspace.
    expect(readdirSync(top).toSorted()).toEqual(['beside', 'project'])
    expect(readdirSync(beside)).not.toContain('.punchlist')
    expect(readdirSync(cwd).toSorted()).toEqual(['.git', '.punchlist', 'punchlist.json'])
    expect(everything(join(cwd, '.git'))).toEqual(['hooks'])
  })
})

describe("the repository's own folder", () => {
  const FORMS: readonly (readonly [string, string, (cwd: string, top: string) => void])[] = [
    ['.git', '.git/hooks', () => {}],
    ['a way around', 'a/../.git', () => {}],
    ['other letters', '.GIT/hooks', () => {}],
    ['by its whole path', '/nowhere/.git/x', () => {}],
    ['a link', 'link', cwd => symlinkSync('.git', join(cwd, 'link'))],
    ['below a link', 'link/new/deep', cwd => symlinkSync('.git/hooks', join(cwd, 'link'))],
    ['a link outside', '../link', (cwd, top) => symlinkSync(join(cwd, '.git'), join(top, 'link'))],
  ]
  test.each(FORMS)('is never worked in: %s', async (_, path, prepare) => {
    for (const key of ['work', 'queue']) {
      const { top, cwd } = stage({ [key]: path })
      prepare(cwd, top)
      const before = everything(top)
      for (const args of [TASK, TODO, ['trust', '--yes'], TASK, TODO, ['queue', 'list'], ['backlog', 'list']]) {
        const { status, message } = await refusal(args, { cwd })
        expect([status, message], args.join(' ')).toEqual([
          2,
          expect.stringMatching(/paths\.\w+ (?:lies in|leads into) \.git/),
        ])
      }
      expect(everything(top)).toEqual(before)
    }
  })

  test.each(['coordination', 'coordination/to_execute', 'tmp', 'tmp/work/s1'])(
    'is not worked in by a link that lies in the place of %s',
    async place => {
      const { cwd } = stage({})
      mkdirSync(join(cwd, place, '..'), { recursive: true })
      symlinkSync(join(cwd, '.git/hooks'), join(cwd, place))
      const args = place.startsWith('tmp') ? TODO : TASK
      const { status, message } = await refusal(args, { cwd })
      expect([status, message]).toEqual([2, expect.stringContaining('leads out')])
      expect(everything(join(cwd, '.git'))).toEqual(['hooks'])
    },
  )
})

describe('a link to a folder outside', () => {
  test.each(['coordination', 'a', 'a/coordination'])(
    'is neither followed to read nor to make folders: %s',
    async place => {
      const { cwd, beside } = stage(place === 'coordination' ? {} : { queue: 'a/coordination' })
      mkdirSync(join(beside, 'coordination/to_execute/req_0001_x'), { recursive: true })
      mkdirSync(join(cwd, place, '..'), { recursive: true })
      symlinkSync(place.endsWith('coordination') ? join(beside, 'coordination') : beside, join(cwd, place))
      const before = everything(beside)
      for (const args of [['queue', 'list'], TASK, ['queue', 'claim', '--worker', 'w'], ['queue', 'recover']]) {
        expect(await refusal(args, { cwd }), args.join(' ')).toMatchObject({ status: 2, code: 'bad_input' })
      }
      expect(everything(beside)).toEqual(before)
    },
  )

  test('makes no folder there for a queue that is new', async () => {
    const { cwd, beside } = stage({ queue: 'link/new/queue' })
    symlinkSync(beside, join(cwd, 'link'))
    expect(await refusal(TASK, { cwd })).toMatchObject({ status: 2, code: 'bad_input' })
    expect(everything(beside)).toEqual([])
  })

  test('takes no database: one that the settings name lies in the workspace', async () => {
    const { cwd, beside } = stage({})
    writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ store: 'sqlite:link/new/lists.db' }))
    symlinkSync(beside, join(cwd, 'link'))
    expect(await refusal(['plan', 'add', 'A'], { cwd })).toMatchObject({ status: 12, code: 'untrusted' })
    expect((await punchlist(['plan', 'list'], { cwd })).status).toBe(0)
    expect(everything(beside)).toEqual([])
  })

  test('and one that stays inside is a folder like any other', async () => {
    const { cwd } = stage({})
    for (const folder of ['real/completed', 'coordination']) mkdirSync(join(cwd, folder), { recursive: true })
    symlinkSync('../real/completed', join(cwd, 'coordination/completed'))
    await answer(TASK, { cwd })
    await answer(['queue', 'claim', '--worker', 'w'], { cwd })
    await answer(['queue', 'complete', 'req_0001', '--actor', 'w'], { cwd })
    expect(readdirSync(join(cwd, 'real/completed'))).toEqual(['req_0001_t'])
    expect(await answer(['queue', 'list', '--state', 'completed'], { cwd })).toMatchObject({
      tasks: [{ id: 'req_0001' }],
    })
  })
})

describe('what a worker leaves in a task', () => {
  const NAMES = ['execution_log.md', 'checkpoint_001.md', 'verified.md', '_summary.md', 'artifacts']
  const KINDS: Readonly<Record<string, (path: string, beside: string) => void>> = {
    'a link out of the workspace': (path, beside) => symlinkSync(join(beside, 'secret.md'), path),
    'a link to a device': path => symlinkSync('/dev/zero', path),
    'a pipe': path => void execFileSync('mkfifo', [path]),
    'a file over the bound': path => writeFileSync(path, 'x'.repeat(3 * 1024 * 1024)),
    'a folder': path => mkdirSync(path),
  }
  test.each(Object.keys(KINDS))('is read within bounds, and never elsewhere: %s', async kind => {
    for (const name of NAMES) {
      const { cwd, beside } = stage({})
      writeFileSync(join(beside, 'secret.md'), 'SECRET')
      await answer(TASK, { cwd })
      await answer(['queue', 'claim', '--worker', 'w'], { cwd })
      KINDS[kind]!(join(cwd, 'coordination/in_progress/req_0001_t', name), beside)
      for (const args of [
        ['queue', 'show', 'req_0001'],
        ['export'],
        ['queue', 'complete', 'req_0001', '--actor', 'w'],
      ]) {
        const { status, stdout, stderr } = await punchlist(['--json', ...args], { cwd })
        expect(status, `${name} ${args.join(' ')} ${stderr}`).toBeLessThan(20)
        expect(stderr).not.toMatch(/^ {4}at /m)
        expect(stdout + stderr).not.toContain('SECRET')
      }
    }
  })
})

test('a file that is named on the command line may be a link or a pipe, and is read within bounds', async () => {
  const { cwd, beside } = stage({})
  writeFileSync(join(beside, 'body.md'), 'The whole story')
  symlinkSync(join(beside, 'body.md'), join(cwd, 'link.md'))
  await answer([...TODO, '--body', 'link.md'], { cwd })
  const { status, message } = await refusal([...TODO, '--body', '/dev/zero'], { cwd })
  expect([status, message]).toEqual([2, expect.stringContaining('larger than 16 MiB')])
  const through = ['bash', '-c', 'exec "$0" "$@" --body <(printf piped)', process.execPath]
  await answer(['backlog', 'add', 'Other', '--source', 'review', '--session', 's1'], { cwd, through })
})
