import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { amend } from '../../src/core/move.ts'
import type { Store } from '../../src/core/store.ts'
import { worklog as kind } from '../../src/worklogs/kind.ts'
import { filesOf, put } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'
import { onSmallDisk } from '../support/small-disk.ts'
import { handWritten, WORKERS, worklogDraft } from '../support/worklogs.ts'

let root: string
let outside: string
let store: Store
const note = { by: 'tester', at: '2026-01-02T03:04:05.000Z' }
const S1 = { workflow: 'work', session: 's1' }
const SECRET = 'the secret that nobody may read'

beforeEach(async () => {
  root = scratch()
  outside = scratch()
  store = await filesOf(root)
})
afterEach(async () => {
  await store.close()
})

const at = (path: string) => join(root, path)
const open = (worker: string) => store.insert(kind, [worklogDraft(worker, { body: 'x' })], note)
const rewrite = (worker: string) =>
  amend(store, kind, { id: `work/s1/${worker}`, ...note, texts: () => ({ body: 'ours' }) })
const workers = async () => (await store.find(kind, { where: S1 })).map(({ worker }) => worker)
const support = (name: string) => join(import.meta.dirname, '../support', name)

/** How everything in the folder of the workers looks from outside. */
function looks(): Record<string, unknown> {
  const names = readdirSync(at(WORKERS)).toSorted()
  return Object.fromEntries(
    names.map(name => {
      const { ino, size, mtimeMs, ctimeMs, mode, nlink } = lstatSync(at(`${WORKERS}/${name}`))
      return [name, { ino, size, mtimeMs, ctimeMs, mode, nlink }]
    }),
  )
}

describe('in the place of a worker’s file', () => {
  const strange: Record<string, { make: (path: string) => void; says: RegExp }> = {
    'a link to a file elsewhere': { make: path => symlinkSync(join(outside, 'ann.md'), path), says: /symbolic link/ },
    'a link to a file beside it': { make: path => symlinkSync('bob.md', path), says: /symbolic link/ },
    'a link to nowhere': { make: path => symlinkSync(join(outside, 'new.md'), path), says: /symbolic link/ },
    'a link to itself': { make: path => symlinkSync('ann.md', path), says: /symbolic link/ },
    'a pipe': { make: path => execFileSync('mkfifo', [path]), says: /regular/ },
    'a folder': { make: path => mkdirSync(path), says: /regular/ },
    'a file of two megabytes': {
      make: path => {
        writeFileSync(path, handWritten('ann'))
        truncateSync(path, 2 * 1024 * 1024)
      },
      says: /larger/,
    },
    'a file that is no text': {
      make: path => writeFileSync(path, Buffer.from(handWritten('ann', 'caf\xe9'), 'latin1')),
      says: /UTF-8/,
    },
    'a file that is no worklog': { make: path => writeFileSync(path, 'just words\n'), says: /./ },
  }

  beforeEach(async () => {
    writeFileSync(join(outside, 'ann.md'), handWritten('ann', SECRET))
    await open('bob')
  })

  for (const [what, { make, says }] of Object.entries(strange)) {
    test(`${what} is named and left as it is, whether there was a file before or not`, async () => {
      const path = at(`${WORKERS}/ann.md`)
      for (const before of [false, true]) {
        if (before) await open('ann')
        rmSync(path, { force: true })
        make(path)
        const picture = looks()
        const refused = { code: 'unreadable_file', details: { file: `${WORKERS}/ann.md` } }
        // Decided on what was there before.
        if (before) {
          const change = { id: 'work/s1/ann', revision: 1, from: 'active', fields: {}, texts: { body: 'ours' } }
          await expect(store.save(kind, change, note)).rejects.toMatchObject(refused)
        }
        expect(await workers()).toEqual(['bob'])
        const unreadable = await store.unreadable(kind, S1)
        expect(unreadable).toMatchObject([{ file: `${WORKERS}/ann.md`, message: expect.stringMatching(says) }])
        await expect(open('ann')).rejects.toMatchObject(refused)
        await expect(rewrite('ann')).rejects.toMatchObject({ code: 'not_found' })
        expect((await store.texts(kind, ['work/s1/ann'])).size).toBe(0)
        expect(looks()).toEqual(picture)
        await rewrite('bob')
        rmSync(path, { recursive: true })
        expect(await workers()).toEqual(['bob'])
        expect(await store.unreadable(kind, S1)).toEqual([])
      }
      expect(readdirSync(outside)).toEqual(['ann.md'])
      expect(readFileSync(join(outside, 'ann.md'), 'utf8')).toContain(SECRET)
    })
  }
})

describe('in the place of the workers’ folder', () => {
  for (const place of ['tmp', 'tmp/work', 'tmp/work/s1', WORKERS]) {
    test(`a link that leads out of the workspace is not followed: ${place}`, async () => {
      const below = join(outside, WORKERS.slice(place.length))
      mkdirSync(below, { recursive: true })
      writeFileSync(join(below, 'ann.md'), handWritten('ann', SECRET))
      mkdirSync(join(root, place, '..'), { recursive: true })
      symlinkSync(outside, at(place))
      expect(await workers()).toEqual([])
      expect(await store.unreadable(kind, S1)).toEqual([
        { file: place, line: 1, message: 'leads out of the workspace' },
      ])
      for (const worker of ['ann', 'new']) await expect(open(worker)).rejects.toMatchObject({ code: 'bad_input' })
      expect(await store.remove(kind, S1, note)).toEqual({ count: 0, to: null })
      expect(readdirSync(below)).toEqual(['ann.md'])
      expect(readFileSync(join(below, 'ann.md'), 'utf8')).toContain(SECRET)
      rmSync(at(place))
      await open('ann')
      expect(await store.unreadable(kind, S1)).toEqual([])
    })
  }

  test('a link that took the place of one that was seen: nothing is read or written there', async () => {
    await open('ann')
    renameSync(at(WORKERS), join(outside, 'todos'))
    symlinkSync(join(outside, 'todos'), at(WORKERS))
    const before = readFileSync(join(outside, 'todos/ann.md'), 'utf8')
    expect((await store.texts(kind, ['work/s1/ann'])).size).toBe(0)
    const change = { id: 'work/s1/ann', revision: 1, from: 'active', fields: {}, texts: { body: 'ours' } }
    await expect(store.save(kind, change, note)).rejects.toMatchObject({ code: 'not_found' })
    await expect(rewrite('ann')).rejects.toMatchObject({ code: 'not_found' })
    await expect(open('ann')).rejects.toMatchObject({ code: 'bad_input' })
    expect(readFileSync(join(outside, 'todos/ann.md'), 'utf8')).toBe(before)
    expect(readdirSync(join(outside, 'todos'))).toEqual(['ann.md'])
  })

  test('a file is named, and nothing is written', async () => {
    for (const before of [false, true]) {
      if (before) await open('ann')
      rmSync(at(WORKERS), { recursive: true, force: true })
      put(root, 'todos', 'a file', 'tmp/work/s1')
      await expect(open('ann')).rejects.toMatchObject({ code: 'store_read_only', message: /is not a folder/ })
      await expect(rewrite('ann')).rejects.toMatchObject({ code: 'not_found' })
      expect(await workers()).toEqual([])
      expect(await store.unreadable(kind, S1)).toEqual([{ file: WORKERS, line: 1, message: 'is not a folder' }])
      expect((await store.inspect()).filter(({ ok }) => !ok).map(({ check }) => check)).toContain('worklog files')
      expect(readFileSync(at(WORKERS), 'utf8')).toBe('a file')
      rmSync(at(WORKERS))
    }
  })
})

interface Tried {
  readonly refusals: string[]
  readonly seen: Record<string, string>
  readonly unreadable: string[]
}

/** What a program meets that tries everything in this workspace, started in this way. */
function tried(...through: string[]): Tried {
  const [command, ...args] = [...through, process.execPath, support('worklog-verbs.ts'), root]
  const ran = spawnSync(command, args, { encoding: 'utf8', env: process.env })
  expect(ran.stderr).toBe('')
  return JSON.parse(ran.stdout) as Tried
}

describe('where nothing can be written', () => {
  const nothing = {
    refusals: ['store_read_only', 'store_read_only', 'store_read_only'],
    seen: { ann: 'x', bob: 'y' },
    unreadable: [`${WORKERS}/bad.md`],
  }

  beforeEach(async () => {
    await open('ann')
    await store.close()
    put(root, 'bob.md', handWritten('bob', 'y'), WORKERS)
    put(root, 'bad.md', 'no worklog', WORKERS)
  })

  test('because the folder is not ours: each write is refused, what is there can be read, and what cannot is named', () => {
    const own = process.getuid?.() === 0
    if (own) execFileSync('chown', ['-R', '65534:65534', root, process.env['HOME']!])
    chmodSync(at(WORKERS), 0o555)
    const before = looks()
    // Permissions do not bind root, so the program runs as somebody else then.
    const somebody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    expect(tried(...(own ? somebody : []))).toEqual(nothing)
    expect(looks()).toEqual(before)
    chmodSync(at(WORKERS), 0o755)
    expect(tried(...(own ? somebody : [])).refusals).toEqual(['done', 'done', 'done'])
  })

  test('because the file system is read-only: also what came after it was last looked at is read and named', () => {
    const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    const namespace = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m']
    const before = looks()
    const { refusals, ...seen } = tried('unshare', ...namespace, 'sh', '-c', script, root)
    expect(new Set(refusals)).toEqual(new Set(['store_read_only']))
    expect(seen).toEqual({ seen: nothing.seen, unreadable: nothing.unreadable })
    expect(looks()).toEqual(before)
  })
})

describe('a disk that is full', () => {
  test('refuses, keeps everything that was answered whole, and goes on when there is space', async () => {
    const { answered, stored, refusals, afterwards } = await onSmallDisk(1500, support('worklog-fill-files.ts'))
    expect(answered).toBeGreaterThan(5)
    expect([answered, answered + 1]).toContain(stored)
    expect([refusals, afterwards]).toEqual([['store_full'], 'went on'])
  })

  test('is also one that has room for no more files', async () => {
    const { answered, refusals, afterwards } = await onSmallDisk(20_000, support('worklog-fill-files.ts'), 60)
    expect(answered).toBeGreaterThan(5)
    expect([refusals, afterwards]).toEqual([['store_full'], 'went on'])
  })
})
