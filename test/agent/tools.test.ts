import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Folder } from '../../src/agent/folder.ts'
import { readingTools } from '../../src/agent/reading.ts'
import { runningTool } from '../../src/agent/running.ts'
import { Seen, writingTools } from '../../src/agent/writing.ts'
import { type Caller, checked } from '../../src/core/operation.ts'
import { Problem } from '../../src/core/problem.ts'
import { scratch } from '../support/scratch.ts'

const KEY = 'my-own-secret-key'

/** A working folder with the agent's tools in it, and something beside it that is none of its business. */
function desk(allowed: readonly string[] = []) {
  const around = scratch()
  const root = join(around, 'work')
  mkdirSync(root)
  writeFileSync(join(around, 'secret.txt'), 'not yours')
  const folder = new Folder(root)
  const seen = new Seen()
  const conceal = (text: string) => text.replaceAll(KEY, '[redacted]')
  const tools = [
    ...readingTools(folder, conceal, (place, text) => seen.note(place, text)),
    ...writingTools(folder, seen),
    runningTool(folder, allowed, conceal),
  ]
  const use = async (name: string, input: object) => {
    const tool = tools.find(one => one.name === name)!
    try {
      return (await tool.run({} as Caller, checked(tool.input(), input))) as Record<string, unknown>
    } catch (error) {
      if (error instanceof Problem) return { refused: error.message, hint: error.hint }
      throw error
    }
  }
  return { around, root, use, file: (name: string) => join(root, name) }
}

describe('nothing outside of the folder is read or written', () => {
  test.each(['../secret.txt', 'sub/../../secret.txt', 'link', 'folder-link/secret.txt', 'dangling', 'absolute'])(
    '%s',
    async asked => {
      const { around, file, use } = desk()
      mkdirSync(file('sub'))
      symlinkSync(join(around, 'secret.txt'), file('link'))
      symlinkSync(around, file('folder-link'))
      symlinkSync(join(around, 'new.txt'), file('dangling'))
      const path = asked === 'absolute' ? join(around, 'secret.txt') : asked
      const out = { refused: expect.stringContaining('leads out of the working folder'), hint: expect.any(String) }
      expect(await use('read_file', { path })).toEqual(out)
      expect(await use('list_files', { path })).toEqual(out)
      expect(await use('write_file', { path, text: 'mine now', replace: true })).toEqual(out)
      expect(await use('edit_file', { path, old: 'not', new: 'all' })).toEqual(out)
      expect(readFileSync(join(around, 'secret.txt'), 'utf8')).toBe('not yours')
      expect(existsSync(join(around, 'new.txt'))).toBe(false)
    },
  )

  test('a path that begins at the root is fine where it leads into the folder', async () => {
    const { file, use } = desk()
    writeFileSync(file('a.txt'), 'one')
    expect(await use('read_file', { path: file('a.txt') })).toMatchObject({ path: 'a.txt', text: 'one' })
  })

  test('links in the folder are listed and not followed', async () => {
    const { around, file, use } = desk()
    symlinkSync(around, file('elsewhere'))
    mkdirSync(file('node_modules/x'), { recursive: true })
    expect((await use('list_files', { recursive: true }))['files']).toEqual(['elsewhere', 'node_modules/'])
  })
})

describe('reading', () => {
  test('a long file comes in pages, and every line is in one of them', async () => {
    const { file, use } = desk()
    const lines = Array.from({ length: 9000 }, (_, n) => `line ${n} of a file`)
    writeFileSync(file('long.txt'), lines.join('\n'))
    const read: string[] = []
    for (let from = 1; from <= lines.length; from = read.length + 1) {
      const { text } = await use('read_file', { path: 'long.txt', from })
      expect(String(text).length).toBeLessThanOrEqual(50_000)
      read.push(...String(text).split('\n'))
    }
    expect(read).toEqual(lines)
  })

  test.each([
    ['zeros', Buffer.from([1, 0, 2]), 'is no text in UTF-8'],
    ['another encoding', Buffer.from([0x66, 0xfc, 0x72]), 'is no text in UTF-8'],
    ['eleven megabytes', Buffer.alloc(11 * 1024 * 1024, 'a'), 'bytes, more than'],
  ])('%s are refused with the fact', async (_, bytes, fact) => {
    const { file, use } = desk()
    writeFileSync(file('x'), bytes)
    expect((await use('read_file', { path: 'x' }))['refused']).toContain(fact)
  })

  test('a folder, and nothing at all', async () => {
    const { use } = desk()
    expect((await use('read_file', { path: '.' }))['refused']).toBe('. is no file')
    expect((await use('read_file', { path: 'x' }))['refused']).toBe('There is no x')
  })

  test('a file that holds the key is shown without it', async () => {
    const { file, use } = desk()
    writeFileSync(file('.env'), `KEY=${KEY}\n`)
    expect((await use('read_file', { path: '.env' }))['text']).toBe('KEY=[redacted]\n')
    expect((await use('write_file', { path: '.env', text: 'KEY=[redacted]\n', replace: true }))['refused']).toContain(
      'is not as you have seen it',
    )
  })
})

describe('writing', () => {
  test.each(['.git/hooks/pre-commit', '.punchlist/x', 'sub/.git/config', '.GIT/config', 'punchlist.json', '.'])(
    '%s is left alone',
    async path => {
      const { file, use } = desk()
      expect((await use('write_file', { path, text: 'x' }))['refused']).toContain('is not to be written')
      expect(existsSync(file('.git'))).toBe(false)
    },
  )

  test('a new file is written, with the folders it needs', async () => {
    const { file, use } = desk()
    expect(await use('write_file', { path: 'src/deep/a.ts', text: 'ä' })).toEqual({
      path: 'src/deep/a.ts',
      written: 2,
      replaced: false,
    })
    expect(readFileSync(file('src/deep/a.ts'), 'utf8')).toBe('ä')
  })

  test('one that is there is replaced only as it was seen, and keeps its permissions', async () => {
    const { file, use } = desk()
    writeFileSync(file('run.sh'), 'old', { mode: 0o755 })
    const write = { path: 'run.sh', text: 'new' }
    expect((await use('write_file', write))['refused']).toBe('run.sh is there already')
    expect((await use('write_file', { ...write, replace: true }))['refused']).toBe('run.sh is not as you have seen it')
    await use('read_file', { path: 'run.sh' })
    writeFileSync(file('run.sh'), 'changed by a person')
    expect((await use('write_file', { ...write, replace: true }))['refused']).toBe('run.sh is not as you have seen it')
    await use('read_file', { path: 'run.sh' })
    expect(await use('write_file', { ...write, replace: true })).toMatchObject({ replaced: true })
    expect(readFileSync(file('run.sh'), 'utf8')).toBe('new')
    expect(statSync(file('run.sh')).mode & 0o777).toBe(0o755)
  })

  test('a piece is replaced exactly, dollar signs and all', async () => {
    const { file, use } = desk()
    writeFileSync(file('a'), '\uFEFFone\r\ntwo\r\ntwo\r\n')
    expect((await use('edit_file', { path: 'a', old: 'three', new: 'x' }))['refused']).toBe(
      'a does not have this piece',
    )
    expect((await use('edit_file', { path: 'a', old: 'two', new: 'x' }))['refused']).toBe('a has this piece 2 times')
    expect(await use('edit_file', { path: 'a', old: 'one', new: '$& $1' })).toEqual({ path: 'a', replaced: 1 })
    expect(await use('edit_file', { path: 'a', old: 'two', new: '2', all: true })).toEqual({ path: 'a', replaced: 2 })
    expect(readFileSync(file('a'), 'utf8')).toBe('\uFEFF$& $1\r\n2\r\n2\r\n')
  })
})

describe('running', () => {
  test.each(['sh', '/bin/sh', './node', 'node '])('%j is not allowed where only node is', async program => {
    const { use } = desk(['node'])
    expect((await use('run_command', { program, args: [] }))['refused']).toContain('is not allowed')
  })

  test('words are handed on as they are, in the folder, and the end of the output comes back', async () => {
    const { root, use } = desk(['node'])
    const script = "console.log('x'.repeat(30000)); console.log(process.cwd(), process.argv[1]); process.exit(3)"
    const { exit, output } = await use('run_command', { program: 'node', args: ['-e', script, '$HOME; *'] })
    expect(exit).toBe(3)
    expect(String(output).length).toBe(20_000)
    expect(String(output).endsWith(`\n${new Folder(root).path} $HOME; *\n`)).toBe(true)
  })

  test('credentials are taken out of the output', async () => {
    const { use } = desk(['echo'])
    const { output } = await use('run_command', { program: 'echo', args: [KEY, `ghp_${'a'.repeat(30)}`] })
    expect(output).toBe('[redacted] [redacted]\n')
  })

  test('a program that is not there, and one that takes too long, are answers', async () => {
    const { use } = desk(['no-such-program', 'sleep'])
    expect(await use('run_command', { program: 'no-such-program' })).toMatchObject({
      exit: null,
      output: expect.stringContaining('ENOENT'),
    })
    expect(await use('run_command', { program: 'sleep', args: ['60'], seconds: 1 })).toMatchObject({
      exit: null,
      signal: 'SIGKILL',
    })
  })
})
