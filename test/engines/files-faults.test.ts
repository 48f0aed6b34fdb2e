import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { acceptAll, answer, HOME, punchlist, refusal } from '../support/cli.ts'
import { REVIEW } from '../support/files.ts'
import { outcomeOf, READY, VERBS } from '../support/killing.ts'
import { scratch } from '../support/scratch.ts'
import { onSmallDisk } from '../support/small-disk.ts'
import { struckAt } from '../support/strace.ts'

interface Listed {
  todos: { id: string; title: string; status: string }[]
}

async function workspace(): Promise<string> {
  const cwd = scratch()
  await answer(READY, { cwd })
  return cwd
}

/** Every file below a folder with what stands in it. */
function everything(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(files.map(path => [path, readFileSync(path, 'latin1')]))
}

const WRITES = [
  ['backlog', 'add', 'B', '--source', 'review', '--session', 's1'],
  ['backlog', 'claim', '1', '--session', 's1'],
  ['backlog', 'dismiss', '1', '--as', 'out_of_scope', '--reason', 'x', '--session', 's1'],
]
const LIST = ['backlog', 'list', '--session', 's1']

describe('where nothing can be written', () => {
  test('because the folder of the files is not ours: exit 9, nothing is half written, lists can be read', async () => {
    const cwd = await workspace()
    // Permissions do not bind root, so the program runs as somebody else then.
    const root = process.getuid?.() === 0
    if (root) execFileSync('chown', ['-R', '65534:65534', cwd, HOME()])
    const somebody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath]
    const through = root ? somebody : [process.execPath]
    chmodSync(join(cwd, REVIEW), 0o555)
    const before = everything(join(cwd, 'tmp'))
    for (const args of WRITES) {
      const refused = await refusal(args, { cwd, through })
      expect(refused).toMatchObject({ status: 9, code: 'store_read_only' })
      expect(refused.hint).toContain('writable')
    }
    expect(await answer<Listed>(LIST, { cwd, through })).toMatchObject({ todos: [{ title: 'A', status: 'ready' }] })
    expect(everything(join(cwd, 'tmp'))).toEqual(before)
    chmodSync(join(cwd, REVIEW), 0o755)
    for (const args of WRITES) expect((await punchlist(args, { cwd, through })).status).toBe(0)
  })

  test('because the file system is read-only: exit 9, and everything that is there can be read', async () => {
    for (const forgotten of [false, true]) {
      const cwd = await workspace()
      if (forgotten) rmSync(join(cwd, '.punchlist'), { recursive: true })
      const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
      const namespace = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m']
      const through = ['unshare', ...namespace, 'sh', '-c', script, cwd, process.execPath]
      const before = everything(cwd)
      for (const args of WRITES) {
        expect(await refusal(args, { cwd, through })).toMatchObject({ status: 9, code: 'store_read_only' })
      }
      expect(await answer<Listed>(LIST, { cwd, through })).toMatchObject({ todos: [{ title: 'A', status: 'ready' }] })
      const shown = await answer<{ todo: { history: unknown[] } }>(['backlog', 'show', '1', '--session', 's1'], {
        cwd,
        through,
      })
      expect(shown.todo.history).toHaveLength(1)
      expect(everything(cwd)).toEqual(before)
    }
  })
})

describe('a disk that is full', () => {
  const program = join(import.meta.dirname, '../support/fill-files.ts')

  test('refuses, keeps everything that was answered whole, and goes on when there is space', async () => {
    const { answered, stored, refusals, afterwards } = await onSmallDisk(1500, program)
    expect(answered).toBeGreaterThan(5)
    expect([answered, answered + 1]).toContain(stored)
    expect([refusals, afterwards]).toEqual([['store_full'], 'went on'])
  })

  test('is also one that has room for no more files', async () => {
    const { answered, refusals, afterwards } = await onSmallDisk(20_000, program, 60)
    expect(answered).toBeGreaterThan(5)
    expect([refusals, afterwards]).toEqual([['store_full'], 'went on'])
  })
})

test('a process that may open no more files is told so, and no todo is taken for gone', () => {
  const program = join(import.meta.dirname, '../support/few-descriptors.ts')
  const script = 'ulimit -n 64; exec "$0" "$@"'
  const ran = spawnSync('sh', ['-c', script, process.execPath, program, scratch()], { encoding: 'utf8' })
  expect(ran.stderr).toBe('')
  expect(JSON.parse(ran.stdout)).toEqual({
    codes: ['store_busy', 'store_busy', 'store_busy', 'store_busy'],
    told: ['ready', 'in_progress', 'in_progress', 'complete'],
    status: 'complete',
    priority: 'p1',
  })
})

describe('a process that is killed leaves the old file or the new one, and the next goes on at once', () => {
  const points = [
    ['pwrite64', 2],
    ['fsync', 1],
    ['link,linkat,rename,renameat,renameat2', 1],
    ['unlink,unlinkat', 1],
  ] as const
  for (const [verb, { args, before }] of Object.entries(VERBS)) {
    test(`backlog ${verb}`, async () => {
      const base = await workspace()
      for (const step of before) await answer(step, { cwd: base })
      for (const [call, n] of points) {
        const cwd = scratch()
        cpSync(base, cwd, { recursive: true })
        await acceptAll({ cwd })
        await punchlist(args, { cwd, through: struckAt(call, n, 'signal=KILL') })
        expect(await outcomeOf(verb, cwd, base), `${call} ${n}`).toEqual([])
      }
    })
  }
})
