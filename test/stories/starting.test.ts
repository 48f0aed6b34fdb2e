import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { acceptAll, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const ROOT = join(import.meta.dirname, '../..')
const LISTING = `process.on('exit', () => require('fs').writeFileSync(process.env.LOADED, JSON.stringify({
  ours: Object.keys(require.cache),
  builtIn: process.moduleLoadList.filter(name => name.startsWith('NativeModule ')).map(name => name.slice(13)),
})))`
const PROGRAM = 'dist/program/engines/sqlite/bin.cjs'
const HOOK = 'dist/hook/engines/sqlite/hook-bin.cjs'

/** What one start loads: our files, relative to the package, and Node's own modules. */
async function loaded(args: readonly string[], cwd: string, input = '') {
  const [preload, list] = ['preload.cjs', 'loaded'].map(name => join(scratch(), name)) as [string, string]
  writeFileSync(preload, LISTING)
  const through = [process.execPath, '--require', preload]
  const ran = await punchlist(args, { cwd, env: { LOADED: list }, input, through })
  expect(ran).toMatchObject({ status: 0, stderr: '' })
  const { ours, builtIn } = JSON.parse(readFileSync(list, 'utf8')) as { ours: string[]; builtIn: string[] }
  return { files: ours.filter(file => file !== preload).map(file => relative(ROOT, file)), builtIn }
}

async function planIn(cwd: string, settings?: object): Promise<void> {
  if (settings) writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify(settings))
  if (settings) await acceptAll({ cwd })
  await punchlist(['plan', 'add', 'first', 'second'], { cwd })
}

const stop = (cwd: string, session: string) =>
  JSON.stringify({ session_id: session, cwd, hook_event_name: 'Stop', stop_hook_active: false })

test.each([
  [['plan', 'list']],
  [['plan', 'list', '--json']],
  [['plan', 'add', 'third']],
  [['plan', 'start']],
  [['plan', 'complete', '1', 'done']],
])('%j loads one file', async args => {
  const cwd = scratch()
  await planIn(cwd)
  expect((await loaded(args, cwd)).files).toEqual(['bin/punchlist.js', PROGRAM])
})

test('a hook loads one file where no list is kept, one more to look at the list, and one more where items are open', async () => {
  const cwd = scratch()
  const hook = async (session: string) => (await loaded(['hook', 'claude-code'], cwd, stop(cwd, session))).files
  const [list, open] = [/sqlite\/list-/, /shared\/open-/].map(name => expect.stringMatching(name))
  expect(await hook('default')).toEqual(['bin/punchlist.js', HOOK])
  await planIn(cwd)
  expect(await hook('nobody')).toEqual(['bin/punchlist.js', HOOK, list])
  expect(await hook('default')).toEqual(['bin/punchlist.js', HOOK, list, open])
})

test('what accepted settings take is one chunk more', async () => {
  const cwd = scratch()
  await planIn(cwd, { wards: ['true'] })
  const chunks = (files: readonly string[]) => files.filter(file => !file.includes('rolldown-runtime'))
  const [settings, list] = [/shared\/settings-/, /sqlite\/list-/].map(name => expect.stringMatching(name))
  const { files: listing } = await loaded(['plan', 'list'], cwd)
  expect(chunks(listing)).toEqual(['bin/punchlist.js', PROGRAM, settings])
  const { files: hooked } = await loaded(['hook', 'claude-code'], cwd, stop(cwd, 'nobody'))
  expect(chunks(hooked)).toEqual(['bin/punchlist.js', HOOK, settings, list])
})

test('a start that only reads loads neither cryptography nor streams, with settings or without', async () => {
  for (const settings of [undefined, { wards: ['true'] }]) {
    const cwd = scratch()
    await planIn(cwd, settings)
    const heavy = (builtIn: readonly string[]) => builtIn.filter(name => ['crypto', 'stream', 'net'].includes(name))
    expect(heavy((await loaded(['plan', 'list'], cwd)).builtIn)).toEqual([])
    expect(heavy((await loaded(['hook', 'claude-code'], cwd, stop(cwd, 'nobody'))).builtIn)).toEqual([])
  }
})

test('the file that a start loads holds nothing that only other commands need', () => {
  const [program, hook] = [PROGRAM, HOOK].map(file => readFileSync(join(ROOT, file), 'utf8')) as [string, string]
  expect(hook).not.toContain('SELECT')
  const others = ['appliedSettings', 'isAccepted', 'authorityBelow', 'requireToken', 'runCheck', 'commandEnvironment']
  for (const name of others)
    expect({ name, program: holds(program, name), hook: holds(hook, name) }).toEqual({
      name,
      program: false,
      hook: false,
    })
  for (const name of ['evidenceIn', 'carryItems', 'turnTodoRepository']) expect(holds(program, name)).toBe(false)
})

/** Whether a function is defined in a text. */
function holds(text: string, name: string): boolean {
  return new RegExp(`function ${name}\\b|\\b${name}=`).test(text)
}
