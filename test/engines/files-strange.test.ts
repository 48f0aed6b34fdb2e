import { execFileSync } from 'node:child_process'
import {
  existsSync,
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
import { todo as kind } from '../../src/backlog/kind.ts'
import type { Punchlist } from '../../src/library.ts'
import { punchlist, refusal } from '../support/cli.ts'
import { put, REVIEW, workspaceOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

let root: string
let outside: string
let list: Punchlist
const SECRET = 'the secret that nobody may read'
const GOOD = '---\nstatus: ready\n---\n# Good\n'

beforeEach(async () => {
  root = scratch()
  outside = scratch()
  list = await workspaceOf(root)
})
afterEach(async () => {
  await list.close()
})

const add = async (source = 'review') => await list.backlog.add({ items: [{ title: 'New', source }] })

describe('what is no todo', () => {
  /** Files that are named like todos and are none: how each is made, and what is said of it. */
  const strange: Record<string, { make: (path: string) => void; says: RegExp; line?: number }> = {
    '010-empty.md': { make: path => writeFileSync(path, ''), says: /./ },
    '011-plain.md': { make: path => writeFileSync(path, '# Only a title\n'), says: /frontmatter|---/ },
    '012-open.md': { make: path => writeFileSync(path, '---\nstatus: ready\n'), says: /./ },
    '013-status.md': {
      make: path => writeFileSync(path, '---\nwave: 1\nstatus: sleeping\n---\n'),
      says: /status/,
      line: 3,
    },
    '014-alias.md': {
      make: path => writeFileSync(path, '---\nstatus: ready\ntags: &a [x]\nfiles: *a\n---\n'),
      says: /./,
      line: 3,
    },
    '015-bomb.md': {
      make: path => {
        const levels = 'bcdefghi'.split('').map((name, n) => {
          const before = 'abcdefgh'[n]
          return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`
        })
        writeFileSync(path, `---\nstatus: ready\na: &a [x]\n${levels.join('\n')}\ntags: *i\n---\n`)
      },
      says: /./,
    },
    '016-nul.md': { make: path => writeFileSync(path, '---\nstatus: rea\0dy\n---\n'), says: /./ },
    '017-latin.md': {
      make: path => writeFileSync(path, Buffer.from('---\nstatus: ready\n---\n# caf\xe9\n', 'latin1')),
      says: /UTF-8/,
      line: 4,
    },
    '018-large.md': {
      make: path => {
        writeFileSync(path, GOOD)
        truncateSync(path, 50 * 1024 * 1024)
      },
      says: /larger/,
    },
    '019-pipe.md': { make: path => execFileSync('mkfifo', [path]), says: /regular/ },
    '020-folder.md': { make: path => mkdirSync(path), says: /regular/ },
    '021-nowhere.md': { make: path => symlinkSync('/nowhere/at/all', path), says: /symbolic link/ },
    '022-loop.md': { make: path => symlinkSync('022-loop.md', path), says: /symbolic link/ },
    '023-secret.md': { make: path => symlinkSync(join(outside, 'secret.md'), path), says: /symbolic link/ },
    '024-inside.md': { make: path => symlinkSync('001-good.md', path), says: /symbolic link/ },
  }

  beforeEach(() => {
    writeFileSync(join(outside, 'secret.md'), `---\nstatus: ready\n---\n# ${SECRET}\n`)
    put(root, '001-good.md', GOOD)
    for (const [name, { make }] of Object.entries(strange)) make(join(root, REVIEW, name))
  })

  test('is named with file and line, is left as it is, and keeps nobody from working', async () => {
    const before = looks()
    const { todos, warnings } = await list.backlog.list()
    expect(todos.map(({ title }) => title)).toEqual(['Good'])
    expect(warnings.map(({ file }) => file)).toEqual(Object.keys(strange).map(name => `${REVIEW}/${name}`))
    for (const [name, { says, line }] of Object.entries(strange)) {
      const warning = warnings.find(({ file }) => file.endsWith(name))!
      expect(warning.message, name).toMatch(says)
      if (line !== undefined) expect(warning.line, name).toBe(line)
      expect(warning.line, name).toBeGreaterThan(0)
    }
    expect(JSON.stringify(warnings)).not.toContain(SECRET)
    for (const name of Object.keys(strange)) {
      for (const ask of [list.backlog.show, list.backlog.claim, list.backlog.approve]) {
        await expect(ask({ id: String(Number(name.slice(0, 3))) }), name).rejects.toMatchObject({
          code: 'unreadable_file',
          details: { file: `${REVIEW}/${name}` },
        })
      }
    }
    await list.backlog.claim({ id: '1' })
    await list.backlog.complete({ id: '1', reason: 'x' })
    expect((await add()).todo.id).toBe('review/025')
    expect(looks()).toEqual(before)
    expect(readFileSync(join(outside, 'secret.md'), 'utf8')).toContain(SECRET)
  })

  test('is named on the command line, which exits 7 only when it is asked for', async () => {
    const ran = await punchlist(['--json', 'backlog', 'list', '--session', 's1'], { cwd: root })
    expect(ran.status).toBe(0)
    expect((JSON.parse(ran.stdout) as { warnings: unknown[] }).warnings).toHaveLength(Object.keys(strange).length)
    for (const name of Object.keys(strange)) expect(ran.stderr).toContain(name)
    expect(ran.stderr).toContain('013-status.md:3')
    const shown = await refusal(['backlog', 'show', '23', '--session', 's1'], { cwd: root })
    expect(shown).toMatchObject({ status: 7, code: 'unreadable_file' })
    expect((await punchlist(['doctor'], { cwd: root })).status).toBe(7)
    expect(looks()['023-secret.md']).toBeDefined()
  })

  test('is a todo as soon as it is mended', async () => {
    await list.backlog.list()
    for (const name of Object.keys(strange)) rmSync(join(root, REVIEW, name), { recursive: true })
    put(root, '013-status.md', GOOD)
    expect(await list.backlog.list()).toMatchObject({
      todos: [{ id: 'review/001' }, { id: 'review/013' }],
      warnings: [],
    })
  })

  /** How each of them looks from outside. */
  function looks(): Record<string, unknown> {
    return Object.fromEntries(
      Object.keys(strange).map(name => {
        const { ino, size, mtimeMs, ctimeMs, mode } = lstatSync(join(root, REVIEW, name))
        return [name, { ino, size, mtimeMs, ctimeMs, mode }]
      }),
    )
  }
})

describe('a folder that leads out of the workspace', () => {
  const places = ['tmp', 'tmp/work', 'tmp/work/s1', 'tmp/work/s1/todos', REVIEW]

  for (const place of places) {
    test(`is not read and not written to: ${place}`, async () => {
      const below = join(outside, REVIEW.slice(place.length))
      mkdirSync(below, { recursive: true })
      writeFileSync(join(below, '001-ready-p1-theirs.md'), `---\nstatus: ready\n---\n# ${SECRET}\n`)
      mkdirSync(join(root, place, '..'), { recursive: true })
      symlinkSync(outside, join(root, place))
      const before = readdirSync(outside, { recursive: true })
      const answer = await list.backlog.list()
      expect(answer.todos).toEqual([])
      expect(answer.warnings).toMatchObject([{ file: place, message: 'leads out of the workspace' }])
      await expect(add()).rejects.toMatchObject({ code: 'bad_input' })
      await expect(list.backlog.claim({ id: 'review/001' })).rejects.toMatchObject({ code: 'not_found' })
      expect(readdirSync(outside, { recursive: true })).toEqual(before)
      rmSync(join(root, place))
      await add()
      expect((await list.backlog.list()).warnings).toEqual([])
    })
  }

  test('also when it took the place of one that was seen: nothing is read or written there', async () => {
    await add()
    const [name] = readdirSync(join(root, REVIEW))
    renameSync(join(root, REVIEW), join(outside, 'review'))
    symlinkSync(join(outside, 'review'), join(root, REVIEW))
    const before = readFileSync(join(outside, 'review', name!), 'utf8')
    for (const verb of [list.backlog.show, list.backlog.approve, list.backlog.claim]) {
      await expect(verb({ id: 'review/001' })).rejects.toMatchObject({ code: 'not_found' })
    }
    expect((await list.store.texts(kind, ['work/s1/review/001'])).size).toBe(0)
    await expect(add()).rejects.toMatchObject({ code: 'bad_input' })
    expect((await list.backlog.sweep({ remove: true })).removed).toMatchObject({ count: 0 })
    expect(readdirSync(join(outside, 'review'))).toEqual([name])
    expect(readFileSync(join(outside, 'review', name!), 'utf8')).toBe(before)
  })

  test('is not made by the settings either', async () => {
    await list.close()
    symlinkSync(outside, join(root, 'link'))
    for (const work of ['../elsewhere', '/tmp/elsewhere', 'a/../../elsewhere', '..']) {
      writeFileSync(join(root, 'punchlist.json'), JSON.stringify({ paths: { work } }))
      await expect(workspaceOf(root), work).rejects.toMatchObject({ code: 'untrusted' })
    }
    writeFileSync(join(root, 'punchlist.json'), JSON.stringify({ paths: { work: '.' } }))
    await expect(workspaceOf(root)).rejects.toMatchObject({ code: 'bad_input' })
    for (const work of ['link', 'link/below', 'link/a/b']) {
      writeFileSync(join(root, 'punchlist.json'), JSON.stringify({ paths: { work } }))
      list = await workspaceOf(root)
      await expect(add(), work).rejects.toMatchObject({ code: 'bad_input' })
      expect((await list.backlog.list()).todos).toEqual([])
      expect(readdirSync(outside)).toEqual([])
      await list.close()
    }
    writeFileSync(join(root, 'punchlist.json'), JSON.stringify({ paths: { work: 'new/and/deep' } }))
    list = await workspaceOf(root)
    expect((await add()).todo.path).toMatch(/^new\/and\/deep\/work\/s1/)
    expect(existsSync(join(root, 'new/and/deep/work/s1/todos/review'))).toBe(true)
  })

  test('and one that leads to another place in it is a folder like any other', async () => {
    mkdirSync(join(root, 'elsewhere'))
    mkdirSync(join(root, 'tmp/work/s1/todos'), { recursive: true })
    symlinkSync(join(root, 'elsewhere'), join(root, REVIEW))
    await add()
    expect(readdirSync(join(root, 'elsewhere'))).toHaveLength(1)
    expect(await list.backlog.list()).toMatchObject({ todos: [{ id: 'review/001' }], warnings: [] })
  })
})

test('other things in the folders are left alone', async () => {
  await add()
  for (const name of ['README.md', 'notes.txt', '01-short.md', '.hidden.md', 'x001-y.md'])
    put(root, name, 'nothing of ours')
  put(root, 'worker-1.md', '---\nstatus: active\n---\n', 'tmp/work/s1/todos')
  put(root, '001-x.md', GOOD, 'tmp/work/s1/todos/Not A Source')
  put(root, '001-x.md', GOOD, 'tmp/elsewhere/s1/todos/review')
  put(root, 'todos', 'a file where a folder could be', 'tmp/work/s2')
  put(root, 's3', 'a file where a session could be', 'tmp/work')
  expect(await list.store.find(kind, {})).toHaveLength(1)
  expect((await list.backlog.list()).warnings).toEqual([])
  expect((await list.as({ session: 's2' }).backlog.list()).todos).toEqual([])
  expect((await list.as({ session: 's3' }).backlog.list()).todos).toEqual([])
  await expect(
    list.as({ session: 's3' }).backlog.add({ items: [{ title: 'x', source: 'review' }] }),
  ).rejects.toMatchObject({
    code: 'store_read_only',
  })
})

test('a file whose name is not UTF-8 is named', async () => {
  await add()
  const bytes = Buffer.concat([Buffer.from(`${join(root, REVIEW)}/007-caf`), Buffer.from([0xe9]), Buffer.from('.md')])
  writeFileSync(bytes, GOOD)
  const { todos, warnings } = await list.backlog.list()
  expect(todos).toHaveLength(1)
  expect(warnings).toMatchObject([{ message: expect.stringContaining('name') }])
  expect((await add()).todo.id).toBe('review/008')
})
