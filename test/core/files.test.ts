import { execFileSync, spawnSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { realInside } from '../../src/core/boundary.ts'
import * as entries from '../../src/core/file-entries.ts'
import * as files from '../../src/core/files.ts'
import { Problem } from '../../src/core/problem.ts'
import { scratch } from '../support/scratch.ts'

const ROOT = process.getuid?.() === 0

/** A workspace with a trap in it, and beside it what must stay as it is. */
function stage() {
  const top = scratch()
  const [root, outside] = [join(top, 'root'), join(top, 'outside')]
  mkdirSync(root)
  mkdirSync(outside)
  writeFileSync(join(outside, 'precious'), 'kept', { mode: 0o644 })
  return { root, outside, trap: join(root, 'trap') }
}

const TRAPS: Readonly<Record<string, (trap: string, outside: string) => void>> = {
  'link to a file': (trap, outside) => symlinkSync(join(outside, 'precious'), trap),
  'link to a folder': (trap, outside) => symlinkSync(outside, trap),
  'link to nowhere': (trap, outside) => symlinkSync(join(outside, 'none'), trap),
  'link to a device': trap => symlinkSync('/dev/zero', trap),
  pipe: trap => void execFileSync('mkfifo', [trap]),
  folder: trap => mkdirSync(trap),
  socket: trap => {
    const listening = `require('net').createServer().listen(${JSON.stringify(trap)}, () => process.kill(process.pid, 9))`
    spawnSync(process.execPath, ['-e', listening])
  },
  ...(ROOT ? { device: (trap: string) => void execFileSync('mknod', [trap, 'c', '1', '5']) } : {}),
}

/** What takes a file, and must refuse everything else. */
const ON_FILES: Readonly<Record<string, (path: string) => unknown>> = {
  openRegular: path => closeSync(files.openRegular(path, constants.O_RDONLY).descriptor),
  'openRegular to write': path => closeSync(files.openRegular(path, constants.O_WRONLY | constants.O_CREAT).descriptor),
  readBytes: path => files.readBytes(path, 100),
  readRegular: path => files.readRegular(path, 100),
  readBeginning: path => files.readBeginning(path, 100),
  writeNew: path => files.writeNew(path, 'x'),
  writeDurably: path => files.writeDurably(path, 'x', 0o666),
  fillFile: path => files.fillFile(path, 'x', 0o666),
  writeOnce: path => files.writeOnce(path, 'x'),
  replaceFile: path => files.replaceFile(path, 'x'),
  appendFile: path => files.appendFile(path, 'x'),
  refuseOther: path => files.refuseOther(path),
}

const ON_FOLDERS: Readonly<Record<string, (root: string, path: string) => unknown>> = {
  makeFolder: (root, path) => files.makeFolder(root, path),
  'makeFolder below': (root, path) => files.makeFolder(root, join(path, 'a', 'b')),
  refuseLinks: (root, path) => files.refuseLinks(root, join(path, 'precious')),
  namesIn: (_, path) => files.namesIn(path),
  refuseOtherThanFolder: (_, path) => files.refuseOtherThanFolder(path),
}

function untouched(outside: string): void {
  expect(readdirSync(outside)).toEqual(['precious'])
  expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('kept')
  expect(statSync(join(outside, 'precious')).mode & 0o777).toBe(0o644)
}

function codeOf(work: () => unknown): string {
  try {
    work()
    return 'done'
  } catch (error) {
    return error instanceof Problem ? error.code : ((error as NodeJS.ErrnoException).code ?? 'thrown')
  }
}

describe.each(Object.keys(TRAPS))('a %s', kind => {
  test.each(Object.keys(ON_FILES))('is refused by %s', name => {
    const { root, outside, trap } = stage()
    TRAPS[kind]!(trap, outside)
    const code = codeOf(() => ON_FILES[name]!(trap))
    // Making anew says that the name is taken; whatever it is, it is left alone.
    expect(code).toBe(['writeNew', 'writeDurably'].includes(name) ? 'EEXIST' : 'untrusted')
    untouched(outside)
    expect(readdirSync(root)).toEqual(['trap'])
  })

  test.each(Object.keys(ON_FOLDERS))('is refused by %s', name => {
    const { root, outside, trap } = stage()
    TRAPS[kind]!(trap, outside)
    expect(codeOf(() => ON_FOLDERS[name]!(root, trap))).toBe(kind === 'folder' ? 'done' : 'untrusted')
    untouched(outside)
  })

  test('is moved itself, and replaced itself', () => {
    const { root, outside, trap } = stage()
    TRAPS[kind]!(trap, outside)
    const before = lstatSync(trap).ino
    entries.moveEntry(trap, join(root, 'moved'))
    expect(lstatSync(join(root, 'moved')).ino).toBe(before)
    writeFileSync(join(root, 'new'), 'new')
    expect(codeOf(() => entries.moveEntry(join(root, 'new'), join(root, 'moved')))).toBe(
      kind === 'folder' ? 'EISDIR' : 'done',
    )
    untouched(outside)
  })

  test('keeps its name: nothing is made there', () => {
    const { root, outside, trap } = stage()
    TRAPS[kind]!(trap, outside)
    writeFileSync(join(root, 'file'), 'x')
    expect(codeOf(() => entries.makeNewFolder(trap))).toBe('EEXIST')
    expect(codeOf(() => entries.linkFile(join(root, 'file'), trap))).toBe('EEXIST')
    expect(codeOf(() => entries.makeLink('file', trap))).toBe('EEXIST')
    if (kind !== 'folder') expect(codeOf(() => entries.removeFolder(trap))).toBe('ENOTDIR')
    if (kind !== 'folder' && kind !== 'link to a folder') {
      expect(codeOf(() => entries.syncFolder(trap))).toBe(kind === 'link to nowhere' ? 'ENOENT' : 'ENOTDIR')
    }
    untouched(outside)
  })

  test('is taken away itself, and nothing that it leads to', () => {
    const { outside, trap } = stage()
    TRAPS[kind]!(trap, outside)
    entries.removeTree(trap)
    untouched(outside)
    expect(readdirSync(join(trap, '..'))).toEqual([])
  })
})

test('a tree goes without what its links lead to', () => {
  const { root, outside } = stage()
  mkdirSync(join(root, 'a/b'), { recursive: true })
  symlinkSync(outside, join(root, 'a/b/link'))
  entries.removeTree(join(root, 'a'))
  untouched(outside)
  expect(readdirSync(root)).toEqual([])
})

test.each(['link to a file', 'link to a folder', 'pipe'])('permissions are not changed through a %s', kind => {
  const { outside, trap } = stage()
  TRAPS[kind]!(trap, outside)
  expect(codeOf(() => files.makePrivate(trap))).toBe('untrusted')
  untouched(outside)
})

test.skipIf(!ROOT)("another user's file is neither read nor written, but where anyone's will do", () => {
  const { root } = stage()
  const file = join(root, 'file')
  writeFileSync(file, 'theirs')
  chownSync(file, 12_345, 12_345)
  for (const name of ['openRegular', 'readBytes', 'readRegular', 'readBeginning', 'appendFile', 'fillFile'])
    expect(codeOf(() => ON_FILES[name]!(file))).toBe('untrusted')
  expect(files.readRegular(file, 100, 'anyone')).toBe('theirs')
  process.env['SUDO_UID'] = '12345'
  try {
    expect(files.readRegular(file, 100)).toBe('theirs')
  } finally {
    delete process.env['SUDO_UID']
  }
})

test('regular files are read within bounds, written, replaced and added to', () => {
  const { root } = stage()
  const file = join(root, 'a/b/file')
  expect(files.readRegular(file, 10)).toBeUndefined()
  files.makeFolder(root, join(root, 'a/b'))
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700)
  expect([files.writeOnce(file, 'one'), files.writeOnce(file, 'two')]).toEqual([true, false])
  files.appendFile(file, '+')
  expect(files.readRegular(file, 4)).toBe('one+')
  expect(codeOf(() => files.readRegular(file, 3))).toBe('untrusted')
  expect(files.readBeginning(file, 3)).toBe('one')
  files.replaceFile(file, 'ä'.repeat(2_000_000))
  expect(files.readRegular(file, 4_000_000)).toBe('ä'.repeat(2_000_000))
  expect(files.namesIn(join(root, 'a/b'))).toEqual(['file'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect([files.removeFile(file), files.removeFile(file), existsSync(file)]).toEqual([true, false, false])
  expect(files.namesIn(join(root, 'none'))).toEqual([])
})

test('a link inside of the root is followed where that is asked for, and one that leads out is not', () => {
  const { root, outside, trap } = stage()
  expect(realInside(root, trap)).toBeUndefined()
  writeFileSync(join(root, 'real'), '{}')
  symlinkSync('real', join(root, 'inside'))
  expect(realInside(root, join(root, 'inside'))).toBe(realInside(root, join(root, 'real')))
  symlinkSync(join(outside, 'precious'), trap)
  expect(codeOf(() => realInside(root, trap))).toBe('untrusted')
  expect(codeOf(() => files.makeFolder(root, join(outside, 'x')))).toBe('untrusted')
})

test('what took the place of a file after it was looked at is not followed and not waited for', () => {
  for (const kind of ['link to a file', 'link to a device', 'link to nowhere', 'pipe', 'socket', 'folder']) {
    const { outside, trap } = stage()
    TRAPS[kind]!(trap, outside)
    const expected = kind.startsWith('link') ? 'ELOOP' : { pipe: 'done', socket: 'ENXIO', folder: 'EISDIR' }[kind]
    expect(
      codeOf(() => expect(files.readLookedAt(trap)).toBe('')),
      kind,
    ).toBe(expected)
  }
})

test('a file that grows while it is read is read within its bound, or refused', () => {
  const { root } = stage()
  const file = join(root, 'file')
  writeFileSync(file, 'x'.repeat(100))
  const { descriptor } = files.openRegular(file, constants.O_RDONLY)
  writeFileSync(file, 'x'.repeat(50_000), { flag: 'a' })
  expect(files.readUpTo(descriptor, 101)).toHaveLength(101)
  closeSync(descriptor)
  expect(codeOf(() => files.readBytes(file, 100))).toBe('untrusted')
  expect(files.readBytes(file, 50_100)).toHaveLength(50_100)
})

test('what the user named is read wherever links lead, within a bound, and a pipe is waited for only where that is asked for', () => {
  const { outside, trap, root } = stage()
  symlinkSync(join(outside, 'precious'), trap)
  expect(files.readNamed(trap, 100).toString()).toBe('kept')
  symlinkSync('/dev/zero', join(root, 'endless'))
  expect(files.readNamed(join(root, 'endless'), 1000)).toHaveLength(1000)
  execFileSync('mkfifo', [join(root, 'pipe')])
  expect(files.readNamed(join(root, 'pipe'), 100)).toHaveLength(0)
  expect(codeOf(() => files.readNamed(join(root, 'none'), 100))).toBe('ENOENT')
})

test('a file is durable with the mode that was asked for, or not there', () => {
  const { root } = stage()
  const before = process.umask(0o077)
  try {
    files.writeDurably(join(root, 'open'), Buffer.from([0xff, 0]), 0o664)
    files.writeDurably(join(root, 'closed'), 'x')
    files.writeNew(join(root, 'empty'), '')
    files.fillFile(join(root, 'empty'), 'filled', 0o640)
  } finally {
    process.umask(before)
  }
  const modes = ['open', 'closed', 'empty'].map(name => statSync(join(root, name)).mode & 0o777)
  expect(modes).toEqual([0o664, 0o600, 0o640])
  expect(readFileSync(join(root, 'empty'), 'utf8')).toBe('filled')
  expect(codeOf(() => files.writeDurably(join(root, 'none/file'), 'x'))).toBe('ENOENT')
  expect(readdirSync(root).toSorted()).toEqual(['closed', 'empty', 'open'])
})
