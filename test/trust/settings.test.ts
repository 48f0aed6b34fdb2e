import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSettings, readUserSettings } from '../../src/settings.ts'
import { scratch } from '../support/scratch.ts'

function home(text?: string) {
  const folder = scratch()
  mkdirSync(join(folder, 'punchlist'))
  const file = join(folder, 'punchlist/config.json')
  if (text !== undefined) writeFileSync(file, text)
  return { env: { XDG_CONFIG_HOME: folder }, file }
}

function inFolder(settings: unknown): string {
  const file = join(scratch(), 'punchlist.json')
  writeFileSync(file, JSON.stringify(settings))
  return file
}

describe("the user's settings", () => {
  test('without a file there are none', () => {
    expect(readUserSettings(home().env)).toEqual({})
  })

  test('they are read from XDG_CONFIG_HOME, else from ~/.config', () => {
    const set = { run: { workers: 2 }, limits: { workers: 4 } }
    expect(readUserSettings(home(JSON.stringify(set)).env)).toEqual(set)
    const HOME = scratch()
    mkdirSync(join(HOME, '.config/punchlist'), { recursive: true })
    writeFileSync(join(HOME, '.config/punchlist/config.json'), JSON.stringify(set))
    expect(readUserSettings({ HOME })).toEqual(set)
    expect(readUserSettings({ HOME, XDG_CONFIG_HOME: 'relative' })).toEqual(set)
  })

  test('every wrong key is named, with the file', () => {
    const { env, file } = home('{"store": "files", "run": {"workers": 65}, "limits": {"maxInjections": "9"}}')
    expect(() => readUserSettings(env)).toThrow(file)
    expect(() => readUserSettings(env)).toThrow(/store is not a known key/)
    expect(() => readUserSettings(env)).toThrow(/run\.workers/)
    expect(() => readUserSettings(env)).toThrow(/limits\.maxInjections must be number/)
  })

  test('a file that is no file of settings is refused at once', () => {
    const long = home(' '.repeat(300_000))
    expect(() => readUserSettings(long.env)).toThrow(/longer than/)
    const pipe = home()
    execFileSync('mkfifo', [pipe.file])
    expect(() => readUserSettings(pipe.env)).toThrow(/not a file/)
    const device = home()
    symlinkSync('/dev/zero', device.file)
    expect(() => readUserSettings(device.env)).toThrow(/not a file/)
  })

  test('a link to a file of their own is followed', () => {
    const { env, file } = home()
    symlinkSync(home('{"run": {"agent": "claude"}}').file, file)
    expect(readUserSettings(env)).toEqual({ run: { agent: 'claude' } })
  })

  test('a file that everyone may write to is refused', () => {
    const { env, file } = home('{}')
    chmodSync(file, 0o666)
    expect(() => readUserSettings(env)).toThrow(/every user may write/)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a file of another user is refused; under sudo, not that of who called it',
    () => {
      const { env, file } = home('{}')
      chownSync(file, 4711, 4711)
      expect(() => readUserSettings(env)).toThrow(/belongs to the user 4711/)
      expect(readUserSettings({ ...env, SUDO_UID: '4711' })).toEqual({})
    },
  )
})

describe('punchlist.json', () => {
  test.each([
    '.git',
    '.git/hooks',
    'a/.git/x',
    'a/../.GIT',
    '.g\u200Cit',
    '.git./x',
    'GIT~1',
    '../other/.git',
    '/x/.git/hooks',
  ])('nothing lies in %j', path => {
    const file = inFolder({ paths: { work: path, queue: path }, store: `sqlite:${path}` })
    expect(() => readSettings(file)).toThrow(
      `${file}: store lies in .git; paths.work lies in .git; paths.queue lies in .git`,
    )
  })

  test.each(['.punchlist', '.punchlist/runs', 'coordination/.punchlist', '.Punchlist', '../x/.punchlist'])(
    'no folder lies in %j',
    path => expect(() => readSettings(inFolder({ paths: { work: path } }))).toThrow('paths.work lies in .punchlist'),
  )

  test('a folder is not the workspace itself', () => {
    expect(() => readSettings(inFolder({ paths: { queue: 'a/..' } }))).toThrow('paths.queue is the workspace itself')
  })

  test.each(['../beside', '/srv/work', '.github', 'git', '.gitignore.d', '..x'])(
    '%j is a matter of acceptance',
    path => {
      const settings = { paths: { work: path }, store: 'sqlite:.punchlist/other.db' }
      expect(readSettings(inFolder(settings))).toEqual(settings)
    },
  )

  test('wards may name variables', () => {
    const settings = { wards: ['npm test', { run: 'npm run e2e', env: ['CI', '_TOKEN2'] }, { run: 'true' }] }
    expect(readSettings(inFolder(settings))).toEqual(settings)
    expect(() => readSettings(inFolder({ wards: [{ run: 'x', env: ['A=B'] }] }))).toThrow(
      /wards\.0\.env\.0 must be the name of a variable/,
    )
    expect(() => readSettings(inFolder({ wards: [7] }))).toThrow(/wards\.0 must be/)
    expect(() => readSettings(inFolder({ wards: [{ run: 'x', shell: true }] }))).toThrow(/wards\.0/)
  })

  test('there are at most 64 workers', () => {
    expect(readSettings(inFolder({ run: { workers: 64 } }))).toEqual({ run: { workers: 64 } })
    expect(() => readSettings(inFolder({ run: { workers: 65 } }))).toThrow(/run\.workers/)
  })
})
