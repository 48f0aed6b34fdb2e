import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Documents as Port } from '../../src/core/operation.ts'
import { Documents } from '../../src/engines/files/documents.ts'
import { scratch } from '../support/scratch.ts'
import { onSmallDisk } from '../support/small-disk.ts'

const FOLDER = 'work/s1/todos'
const PATH = `${FOLDER}/_summary.md`
let root: string
let outside: string
let documents: Port

beforeEach(() => {
  root = scratch()
  outside = scratch()
  documents = new Documents(root, 'tmp')
})

const at = (path: string) => join(root, 'tmp', path)
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8)
const inFolder = () => readdirSync(at(FOLDER)).toSorted()
const makeFolder = () => mkdirSync(at(FOLDER), { recursive: true })

describe('a document', () => {
  test('is read as it was written, for its owner alone, in folders for its owner alone', async () => {
    expect(await documents.read(PATH)).toBeUndefined()
    await documents.write(PATH, 'ünï ✓\r\nno end')
    expect(await documents.read(PATH)).toBe('ünï ✓\r\nno end')
    expect(readFileSync(at(PATH), 'utf8')).toBe('ünï ✓\r\nno end')
    expect(modeOf(at(PATH))).toBe('600')
    for (const folder of ['', 'work', 'work/s1', FOLDER]) expect(modeOf(at(folder)), folder).toBe('700')
    expect(inFolder()).toEqual(['_summary.md'])
  })

  test('is replaced by a new file under the same name, with the permissions of the old one', async () => {
    await documents.write(PATH, 'old')
    chmodSync(at(PATH), 0o644)
    const { ino } = lstatSync(at(PATH))
    await documents.write(PATH, 'new')
    expect(await documents.read(PATH)).toBe('new')
    expect(modeOf(at(PATH))).toBe('644')
    expect(lstatSync(at(PATH)).ino).not.toBe(ino)
    expect(inFolder()).toEqual(['_summary.md'])
  })

  test('that many write at once is one of theirs, whole', async () => {
    const texts = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(5000))
    await Promise.all(texts.map(text => new Documents(root, 'tmp').write(PATH, text)))
    expect(texts).toContain(await documents.read(PATH))
    expect(inFolder()).toEqual(['_summary.md'])
  })

  test('takes away what a killed program left of one, but not what somebody is just writing', async () => {
    makeFolder()
    const [old, fresh, theirs] = [
      '.punchlist-1-a-document.tmp',
      '.punchlist-2-b-document.tmp',
      '.punchlist-1-a-new.tmp',
    ]
    for (const name of [old, fresh, theirs]) writeFileSync(at(`${FOLDER}/${name}`), 'half')
    for (const name of [old, theirs]) utimesSync(at(`${FOLDER}/${name}`), 1, 1)
    await documents.write(PATH, 'x')
    expect(inFolder()).toEqual([theirs, fresh, '_summary.md'].toSorted())
  })

  test('that could not be read again is not written', async () => {
    await documents.write(PATH, 'old')
    await expect(documents.write(PATH, 'x'.repeat(8 * 1024 * 1024 + 1))).rejects.toMatchObject({ code: 'bad_input' })
    expect(await documents.read(PATH)).toBe('old')
    const large = 'x'.repeat(3 * 1024 * 1024)
    await documents.write(PATH, large)
    expect(await documents.read(PATH)).toBe(large)
  })
})

describe('in the place of a document', () => {
  const strange: Record<string, { make: (path: string) => void; says: RegExp }> = {
    'a link to a file elsewhere': {
      make: path => symlinkSync(join(outside, 'secret.md'), path),
      says: /symbolic link/,
    },
    'a link to a file beside it': { make: path => symlinkSync('ann.md', path), says: /symbolic link/ },
    'a link to nowhere': { make: path => symlinkSync(join(outside, 'new.md'), path), says: /symbolic link/ },
    'a pipe': { make: path => execFileSync('mkfifo', [path]), says: /regular/ },
    'a folder': { make: path => mkdirSync(path), says: /regular/ },
  }

  for (const [what, { make, says }] of Object.entries(strange)) {
    test(`${what} is refused by name, and nothing is read or written through it`, async () => {
      makeFolder()
      writeFileSync(join(outside, 'secret.md'), 'secret')
      writeFileSync(at(`${FOLDER}/ann.md`), 'hers')
      make(at(PATH))
      const before = lstatSync(at(PATH))
      for (const answer of [documents.read(PATH), documents.write(PATH, 'ours')]) {
        await expect(answer).rejects.toMatchObject({
          code: 'unreadable_file',
          message: expect.stringMatching(says),
          details: { file: at(PATH) },
        })
      }
      expect(lstatSync(at(PATH))).toEqual(before)
      expect(readdirSync(outside)).toEqual(['secret.md'])
      expect(readFileSync(join(outside, 'secret.md'), 'utf8')).toBe('secret')
      expect(readFileSync(at(`${FOLDER}/ann.md`), 'utf8')).toBe('hers')
      expect(inFolder()).toEqual(['_summary.md', 'ann.md'])
    })
  }

  test('a file that has another name too is not written over', async () => {
    makeFolder()
    writeFileSync(join(outside, 'theirs'), 'theirs')
    linkSync(join(outside, 'theirs'), at(PATH))
    await expect(documents.write(PATH, 'ours')).rejects.toMatchObject({ code: 'unreadable_file' })
    expect(readFileSync(join(outside, 'theirs'), 'utf8')).toBe('theirs')
    expect(lstatSync(at(PATH)).nlink).toBe(2)
  })

  test('a file of fifty megabytes, or one that is no text, is not read', async () => {
    makeFolder()
    writeFileSync(at(PATH), '')
    truncateSync(at(PATH), 50 * 1024 * 1024)
    await expect(documents.read(PATH)).rejects.toMatchObject({ code: 'unreadable_file', message: /larger/ })
    writeFileSync(at(PATH), Buffer.from([0x61, 0xe9, 0x62]))
    await expect(documents.read(PATH)).rejects.toMatchObject({ code: 'unreadable_file', message: /UTF-8/ })
    await documents.write(PATH, 'ours')
    expect(await documents.read(PATH)).toBe('ours')
  })
})

describe('a folder that leads out of the workspace', () => {
  for (const place of ['tmp', 'tmp/work', 'tmp/work/s1', 'tmp/work/s1/todos']) {
    test(`is not read and not written to: ${place}`, async () => {
      const below = join(outside, `tmp/${PATH}`.slice(place.length, -'/_summary.md'.length))
      mkdirSync(below, { recursive: true })
      writeFileSync(join(below, '_summary.md'), 'secret')
      mkdirSync(join(root, place, '..'), { recursive: true })
      symlinkSync(outside, join(root, place))
      const before = readdirSync(outside, { recursive: true })
      await expect(documents.read(PATH)).rejects.toMatchObject({ code: 'bad_input' })
      await expect(documents.write(PATH, 'ours')).rejects.toMatchObject({ code: 'bad_input' })
      expect(await documents.hindrance(FOLDER)).toMatchObject({ code: 'bad_input' })
      expect(readdirSync(outside, { recursive: true })).toEqual(before)
      expect(readFileSync(join(below, '_summary.md'), 'utf8')).toBe('secret')
    })
  }

  test('and one that leads to another place in it is a folder like any other', async () => {
    mkdirSync(join(root, 'elsewhere'))
    mkdirSync(at('work/s1'), { recursive: true })
    symlinkSync(join(root, 'elsewhere'), at(FOLDER))
    expect(await documents.hindrance(FOLDER)).toBeUndefined()
    await documents.write(PATH, 'x')
    expect(readFileSync(join(root, 'elsewhere/_summary.md'), 'utf8')).toBe('x')
    expect(await documents.read(PATH)).toBe('x')
  })
})

describe('whether something can be written is tried, and leaves nothing behind', () => {
  test('where everything is as it should be, in folders that are there and in those that are not', async () => {
    expect(await documents.hindrance(FOLDER)).toBeUndefined()
    expect(readdirSync(root)).toEqual([])
    await documents.write(PATH, 'x')
    expect(await documents.hindrance(FOLDER)).toBeUndefined()
    expect(inFolder()).toEqual(['_summary.md'])
  })

  test('where a file is in the place of a folder', async () => {
    mkdirSync(at('work/s1'), { recursive: true })
    writeFileSync(at(FOLDER), 'a file')
    expect(await documents.hindrance(FOLDER)).toMatchObject({ code: 'store_read_only' })
    expect(await documents.hindrance(`${FOLDER}/deeper`)).toMatchObject({ code: 'store_read_only' })
    await expect(documents.write(PATH, 'x')).rejects.toMatchObject({ code: 'store_read_only' })
    expect(await documents.read(PATH)).toBeUndefined()
    expect(readFileSync(at(FOLDER), 'utf8')).toBe('a file')
  })

  test('where the folder is not ours to write in', () => {
    makeFolder()
    const program = `
      const { Documents } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/engines/files/documents.ts'))})
      const documents = new Documents(${JSON.stringify(root)}, 'tmp')
      const code = error => error?.code
      console.log(JSON.stringify([
        code(await documents.hindrance('${FOLDER}')),
        code(await documents.hindrance('work/s2/todos')),
        await documents.write('${PATH}', 'x').catch(code),
        await documents.write('work/s2/todos/_summary.md', 'x').catch(code),
      ]))`
    // Permissions do not bind root, so the program runs as somebody else then.
    const own = process.getuid?.() === 0
    if (own) execFileSync('chown', ['-R', '65534:65534', root])
    for (const folder of [at(FOLDER), at('work')]) chmodSync(folder, 0o555)
    const somebody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    const [command, ...args] = [...(own ? somebody : []), process.execPath, '--input-type=module', '-e', program]
    const ran = spawnSync(command, args, { encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    expect(JSON.parse(ran.stdout)).toEqual(Array.from({ length: 4 }, () => 'store_read_only'))
    expect(inFolder()).toEqual([])
    expect(readdirSync(at('work'))).toEqual(['s1'])
    for (const folder of [at(FOLDER), at('work')]) chmodSync(folder, 0o755)
  })

  test('where the disk is full: the old document stays whole, and the next is written when there is space', async () => {
    const program = join(import.meta.dirname, '../support/worklog-fill-documents.ts')
    const { answered, stored, refusals, afterwards } = await onSmallDisk(300, program)
    expect(answered).toBeGreaterThan(5)
    expect(stored).toBe(answered)
    expect([refusals, afterwards]).toEqual([['store_full', 'hindered: store_full'], 'went on'])
  })
})
