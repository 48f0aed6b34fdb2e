import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { punchlist } from './support/cli.ts'
import { scratch } from './support/scratch.ts'

const STRANGER = 65_534

/** Starts the program with a home of its own; says what of it was cached, and what it left in the folder for everyone. */
async function started({ env = {}, prepare = (_home: string) => {}, args = ['plan', 'list'] } = {}) {
  const [home, temporary] = [scratch(), scratch()]
  prepare(home)
  const around = { cwd: scratch(), env: { HOME: home, XDG_CACHE_HOME: '', TMPDIR: temporary, ...env } }
  const { status, stderr } = await punchlist(args, around)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(readdirSync(temporary)).toEqual([])
  return { home, cache: join(home, '.cache/punchlist/compile') }
}

/** How many files are below a folder; links are not followed. */
function filesBelow(folder: string): number {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return 0
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile()).length
}

const modeOf = (path: string) => lstatSync(path).mode & 0o777

describe('compiled code', () => {
  test("is kept in a folder of the user's own cache that is theirs alone", async () => {
    const { home, cache } = await started()
    expect(filesBelow(cache)).toBeGreaterThan(0)
    for (const folder of [cache, join(cache, '..'), join(home, '.cache')]) expect(modeOf(folder)).toBe(0o700)
  })

  test('is kept where XDG_CACHE_HOME says, if that is an absolute path', async () => {
    const named = join(scratch(), 'cache')
    const { cache } = await started({ env: { XDG_CACHE_HOME: named } })
    expect(filesBelow(join(named, 'punchlist/compile'))).toBeGreaterThan(0)
    expect(filesBelow(cache)).toBe(0)
    expect(filesBelow((await started({ env: { XDG_CACHE_HOME: 'cache' } })).cache)).toBeGreaterThan(0)
  })

  test('is kept where NODE_COMPILE_CACHE says, and not at all with NODE_DISABLE_COMPILE_CACHE', async () => {
    const named = scratch()
    expect(readdirSync((await started({ env: { NODE_COMPILE_CACHE: named } })).home)).not.toContain('.cache')
    expect(filesBelow(named)).toBeGreaterThan(0)
    expect(readdirSync((await started({ env: { NODE_DISABLE_COMPILE_CACHE: '1' } })).home)).not.toContain('.cache')
  })

  const elsewhere = scratch()
  const hostile: Record<string, (cache: string) => void> = {
    'is a link': cache => symlinkSync(elsewhere, cache),
    'others of the group can write to': cache => {
      mkdirSync(cache)
      chmodSync(cache, 0o770)
    },
    'everyone can write to': cache => {
      mkdirSync(cache)
      chmodSync(cache, 0o777)
    },
    "is another user's": cache => {
      mkdirSync(cache, { mode: 0o700 })
      if (process.getuid?.() === 0) chownSync(cache, STRANGER, STRANGER)
      else chmodSync(cache, 0o770)
    },
    'is a file': cache => writeFileSync(cache, ''),
  }
  for (const [what, prepare] of Object.entries(hostile)) {
    test(`is not kept in a folder that ${what}, nor below one`, async () => {
      const own = (home: string, folder: string) => {
        mkdirSync(join(home, folder, '..'), { recursive: true })
        prepare(join(home, folder))
      }
      for (const folder of ['.cache/punchlist/compile', '.cache/punchlist']) {
        const { home } = await started({ prepare: path => own(path, folder) })
        expect(filesBelow(join(home, '.cache'))).toBe(what === 'is a file' ? 1 : 0)
        expect(readdirSync(elsewhere)).toEqual([])
      }
    })
  }

  test('is not kept where there is no home, or none that can be written', async () => {
    const file = join(scratch(), 'file')
    writeFileSync(file, '')
    const cwd = scratch()
    const [state, temporary] = [scratch(), scratch()]
    for (const HOME of ['', 'relative', '/nonexistent', '/proc', file]) {
      const env = { HOME, XDG_CACHE_HOME: '', XDG_STATE_HOME: state, TMPDIR: temporary }
      expect(await punchlist(['plan', 'add', 'x'], { cwd, env })).toMatchObject({ status: 0, stderr: '' })
    }
    expect(readdirSync(temporary)).toEqual([])
    expect(readdirSync(cwd)).toEqual(['.punchlist'])
    expect(lstatSync('/nonexistent', { throwIfNoEntry: false })).toBeUndefined()
  })

  test("is not kept in a cache of another user's: nothing is made there", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip()
    const theirs = (home: string) => chownSync(home, STRANGER, STRANGER)
    expect(readdirSync((await started({ prepare: theirs })).home)).toEqual([])
  })

  test('is found without loading a module that is not loaded anyway', async () => {
    const folder = scratch()
    const loads = join(folder, 'loads.cjs')
    writeFileSync(
      loads,
      // What Node needs to keep compiled code at all is there in both.
      `require('node:module');process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED, JSON.stringify(process.moduleLoadList)))`,
    )
    const cwd = scratch()
    const home = scratch()
    const loaded = async (name: string, more: Record<string, string>) => {
      const LOADED = join(folder, name)
      const through = [process.execPath, '--require', loads]
      await punchlist(['plan', 'list'], { cwd, through, env: { HOME: home, XDG_CACHE_HOME: '', LOADED, ...more } })
      return new Set(JSON.parse(readFileSync(LOADED, 'utf8')) as string[])
    }
    await loaded('first', {})
    const without = await loaded('without', { NODE_DISABLE_COMPILE_CACHE: '1' })
    expect([...(await loaded('with', {}))].filter(name => !without.has(name))).toEqual([])
  })
})
