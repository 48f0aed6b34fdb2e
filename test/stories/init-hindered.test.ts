import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ended, punchlist, start } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { struckAt } from '../support/strace.ts'
import { place, treeOf, write } from '../support/wiring.ts'

const HOSTS = ['claude-code', 'codex', 'gemini']
const THEIRS = {
  '.claude/settings.json': '{\n  "model": "x"\n}\n',
  '.codex/config.toml': 'model = "x"\n',
  'AGENTS.md': '# Rules\n',
}

/** The files without their folders, and without what was being prepared. */
function filesIn(folder: string): Record<string, string> {
  const found = Object.entries(treeOf(folder)).map(([path, text]) => [path.slice(folder.length + 1), text])
  return Object.fromEntries(found.filter(([path, text]) => text !== '' && !path!.endsWith('.punchlist-new')))
}

/** How the files of a project stand before and after. */
async function oldAndNew(): Promise<{ before: Record<string, string>; after: Record<string, string> }> {
  const { cwd, init } = place()
  write(cwd, THEIRS)
  const before = filesIn(cwd)
  await init(...HOSTS)
  return { before, after: filesIn(cwd) }
}

describe('killed at any point', () => {
  test.each([
    ['openat', [20, 30, 40, 45, 50, 55]],
    ['rename', [1, 2, 4, 6]],
    ['fsync', [1, 5, 9, 12]],
    ['unlink,rmdir', [1, 3]],
  ] as const)('each file is the old one or the new one, and another try completes it (%s)', async (call, points) => {
    const { before, after } = await oldAndNew()
    const base = place()
    write(base.cwd, THEIRS)
    let killed = 0
    for (const n of points) {
      const cwd = scratch()
      cpSync(base.cwd, cwd, { recursive: true })
      const around = { ...base.around, cwd }
      const { status } = await punchlist(['init', ...HOSTS], { ...around, through: struckAt(call, n, 'signal=KILL') })
      if (status !== 0) killed++
      const now = filesIn(cwd)
      for (const path of Object.keys({ ...now, ...after })) {
        expect([before[path], after[path]], `${call} ${n}: ${path}`).toContain(now[path])
      }
      age(cwd)
      expect((await punchlist(['init', ...HOSTS], around)).status).toBe(0)
      expect(filesIn(cwd)).toEqual(after)
      expect(Object.keys(treeOf(cwd)).filter(path => path.endsWith('.punchlist-new'))).toEqual([])
    }
    expect(killed).toBeGreaterThan(0)
  })
})

test('what one that was killed has left is gone after the next, or after doctor --fix', async () => {
  const { cwd, around, init, tree } = place()
  write(cwd, THEIRS)
  const before = tree()
  await init('codex')
  const left = { '.codex/.hooks.json.punchlist-new': '{', '.agents/skills/punchlist/.SKILL.md.punchlist-new': '' }
  write(cwd, left)
  age(cwd)
  await init('codex', '--remove')
  expect(tree()).toEqual(before)

  write(cwd, left)
  const checks = async (...args: string[]) =>
    JSON.parse((await punchlist(['--json', 'doctor', ...args], around)).stdout)
  const ofInit = ({ checks: all }: { checks: { check: string }[] }) =>
    all.filter(({ check }) => check === 'left by init')
  expect(ofInit(await checks())).toEqual([])
  age(cwd)
  expect(ofInit(await checks())).toMatchObject([{ ok: false, hint: 'Run: punchlist doctor --fix' }])
  expect(ofInit(await checks('--fix'))).toMatchObject([{ ok: true, fixed: true }])
  expect(tree()).toEqual(before)
})

/** As if some time had passed: what a killed one has left is then nobody's. */
function age(folder: string): void {
  const left = Object.keys(treeOf(folder)).filter(path => path.endsWith('.punchlist-new'))
  for (const path of left) utimesSync(path, new Date(0), new Date(0))
}

test('many at once, each for another host: everything is there once', async () => {
  const { cwd, around, init } = place()
  write(cwd, THEIRS)
  const hosts = ['claude-code', 'codex', 'gemini', 'qwen', 'copilot', 'opencode']
  const ran = await Promise.all(
    [...hosts, ...hosts].map(async host => {
      const child = start(['init', host], around)
      child.stdin!.end()
      return await ended(child)
    }),
  )
  expect(ran.map(({ status, stderr }) => (status === 0 ? '' : stderr)).filter(Boolean)).toEqual([])
  expect(await init(...hosts)).toMatchObject({ files: [] })
  expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8').match(/<!-- punchlist/g)).toHaveLength(1)
  const { mcpServers } = JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8'))
  expect(Object.keys(mcpServers)).toEqual(['punchlist'])
  await init(...hosts, '--remove')
  expect(filesIn(cwd)).toEqual(THEIRS)
})

test('a folder that may not be written to: refused with its name, and nothing is changed elsewhere', async () => {
  const { cwd, around } = place()
  write(cwd, THEIRS)
  const before = filesIn(cwd)
  const folder = join(cwd, '.codex')
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
  const namespace = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m']
  const through = ['unshare', ...namespace, 'sh', '-c', script, folder, process.execPath]
  const { status, stderr } = await punchlist(['init', ...HOSTS], { ...around, through })
  expect(status).toBe(9)
  expect(stderr).toContain(folder)
  expect(filesIn(cwd)).toEqual(before)
  expect(readdirSync(cwd).toSorted()).toEqual(['.claude', '.codex', '.git', 'AGENTS.md'])
})

test('a disk that refuses one of the renames: what was changed already is put back', async () => {
  for (const n of [1, 2, 4]) {
    const { cwd, around } = place()
    write(cwd, THEIRS)
    const before = filesIn(cwd)
    const { status } = await punchlist(['init', ...HOSTS], { ...around, through: struckAt('rename', n, 'error=EIO') })
    expect(status, String(n)).toBe(9)
    expect(filesIn(cwd)).toEqual(before)
  }
})

describe('what the hooks run', () => {
  test('is the punchlist of the project, in folders of any name; where there is none it says nothing', async () => {
    const cwd = join(scratch(), `it's "a" $(touch x) folder`)
    mkdirSync(join(cwd, '.git'), { recursive: true })
    const { around } = place()
    await punchlist(['init', 'claude-code', 'codex', 'gemini', 'qwen', 'copilot'], { ...around, cwd })
    const files = ['.claude/settings.json', '.codex/hooks.json', '.gemini/settings.json', '.qwen/settings.json']
    const commands = [...files, '.github/hooks/punchlist.json'].map(file => {
      const text = readFileSync(join(cwd, file), 'utf8')
      return JSON.parse(/"command": ("sh -c .*")/.exec(text)![1]!) as string
    })
    const run = (command: string, env: Record<string, string> = {}) =>
      spawnSync('sh', ['-c', command], { cwd, env: { PATH: '/usr/bin:/bin', ...env }, encoding: 'utf8', input: '{}' })
    for (const command of commands) expect(run(command)).toMatchObject({ status: 0, stdout: '', stderr: '' })
    mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true })
    writeFileSync(join(cwd, 'node_modules/.bin/punchlist'), '#!/bin/sh\necho "$@"; exit 2\n', { mode: 0o755 })
    const said = commands.map(command => run(command))
    expect(said.map(({ stdout }) => stdout.trim())).toEqual(
      ['claude-code', 'codex', 'gemini', 'qwen', 'copilot'].map(host => `hook ${host}`),
    )
    expect(said.map(({ status }) => status)).toEqual([2, 2, 2, 2, 2])
    // Copilot runs the hooks of Claude Code as well: it has been told already.
    expect(run(commands[0]!, { COPILOT_PROJECT_DIR: cwd })).toMatchObject({ status: 0, stdout: '' })
    expect(readdirSync(cwd)).not.toContain('x')
  })

  test("is never the project's own where the user's configuration says it", async () => {
    const { around, home, init } = place()
    await init('claude-code', '--user')
    const text = readFileSync(join(home, '.claude/settings.json'), 'utf8')
    const command = JSON.parse(/"command": ("sh -c .*")/.exec(text)![1]!) as string
    mkdirSync(join(around.cwd, 'node_modules/.bin'), { recursive: true })
    writeFileSync(join(around.cwd, 'node_modules/.bin/punchlist'), '#!/bin/sh\necho ran\n', { mode: 0o755 })
    const env = { PATH: '/usr/bin:/bin', CLAUDE_PROJECT_DIR: around.cwd }
    expect(spawnSync('sh', ['-c', command], { cwd: around.cwd, env, encoding: 'utf8' }).stdout).toBe('')
  })
})
