import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from './support/scratch.ts'

const root = join(import.meta.dirname, '..')

/** The launcher in a package of its own, to be run by a Node that takes itself for an old one. */
function launcher(newer: 'beside' | 'above' | 'none'): { args: string[]; cwd: string; env: Record<string, string> } {
  const folder = scratch()
  const home = join(folder, 'node_modules/punchlist')
  mkdirSync(home, { recursive: true })
  cpSync(join(root, 'bin'), join(home, 'bin'), { recursive: true })
  for (const name of ['dist', 'package.json']) symlinkSync(join(root, name), join(home, name))
  const places = {
    beside: join(home, 'node_modules/node/bin'),
    above: join(folder, 'node_modules/node/bin'),
    none: join(folder, 'x'),
  }
  mkdirSync(places[newer], { recursive: true })
  // The newer Node does not take itself for an old one: only the first gets the preload.
  symlinkSync(process.execPath, join(places[newer], 'node'))
  const old = join(folder, 'old.cjs')
  writeFileSync(old, `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`)
  const args = ['--require', old, join(home, 'bin/punchlist.js')]
  return { args, cwd: folder, env: { PATH: process.env['PATH'] ?? '', HOME: folder } }
}

function launched(newer: 'beside' | 'above' | 'none', words: string[]) {
  const { args, ...around } = launcher(newer)
  return spawnSync(process.execPath, [...args, ...words], { ...around, encoding: 'utf8' })
}

describe('an old Node', () => {
  for (const where of ['beside', 'above'] as const) {
    test(`hands over to a newer one ${where} punchlist, with its arguments and its exit status`, () => {
      expect(launched(where, ['plan', 'add', 'two words'])).toMatchObject({
        status: 0,
        stdout: '1.  pending  two words\n1 remains\n',
      })
      expect(launched(where, ['plan', 'complete', '1', 'x'])).toMatchObject({ status: 4 })
    })
  }

  test('that is stopped stops the newer one, which ends in order', async () => {
    const { args, ...around } = launcher('beside')
    const child = spawn(process.execPath, [...args, 'mcp', '--http', '--json'], around)
    const gone = new Promise(done => child.on('close', done))
    const first = await new Promise<string>(done => child.stdout.setEncoding('utf8').once('data', done))
    const { url } = JSON.parse(first) as { url: string }
    expect((await fetch(url)).status).toBe(401)
    child.kill('SIGTERM')
    expect(await gone).toBe(0)
    await expect(fetch(url)).rejects.toThrow()
  })

  test('says what to install where there is none', () => {
    const { status, stderr } = launched('none', ['plan', 'list'])
    expect(status).toBe(9)
    expect(stderr).toContain('npm install node@24')
  })
})
