import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { place, write } from '../support/wiring.ts'

interface Check {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly hint: string
}

/** A project, a user, and the programs that are on PATH. */
function examined() {
  const { cwd, home, around, init } = place()
  const programs = scratch()
  const env = { ...around.env, PATH: `${programs}:/usr/bin:/bin` }
  const program = (name: string, text: string) =>
    writeFileSync(join(programs, name), `#!${process.execPath}\n${text}`, { mode: 0o755 })
  program('punchlist', '')
  return {
    cwd,
    home,
    init,
    programs,
    program,
    doctor: async () => {
      const { stdout, status } = await punchlist(['--json', 'doctor'], { cwd, env })
      const { checks } = JSON.parse(stdout) as { checks: Check[] }
      return { status, all: checks, of: (name: string) => checks.filter(({ check }) => check === name) }
    },
  }
}

/** A Codex that answers what the real one does: the hooks of a folder, and whether they were accepted. */
const CODEX = (trustStatus: string, file: string) => `
const { readFileSync } = require('node:fs')
const { hooks } = JSON.parse(readFileSync(${JSON.stringify(file)}, 'utf8'))
const listed = Object.values(hooks).flat().flatMap(group => group.hooks)
  .map(({ command }) => ({ command, enabled: true, trustStatus: '${trustStatus}' }))
process.stdin.on('data', text => {
  for (const line of String(text).trim().split('\\n')) {
    const { id, method, params } = JSON.parse(line)
    if (method === 'hooks/list') console.log(JSON.stringify({ id, result: { data: [{ cwd: params.cwds[0], hooks: listed }] } }))
    else if (id !== undefined) console.log(JSON.stringify({ id, result: {} }))
  }
})`

describe('doctor', () => {
  test('is silent about hosts where none is wired and none is installed', async () => {
    const { doctor } = examined()
    expect((await doctor()).all.map(({ check }) => check)).toEqual(['workspace', 'node', 'trust', 'store'])
  })

  test('names what is installed and not wired, in one line', async () => {
    const { doctor, program } = examined()
    program('claude', '')
    program('gemini', '')
    const { of, status } = await doctor()
    expect(status).toBe(0)
    expect(of('hosts')).toMatchObject([{ ok: true, detail: expect.stringMatching(/Claude Code, Gemini CLI/) }])
  })

  test('says that a host will call us, and which level it is wired at', async () => {
    const { cwd, home, doctor, init } = examined()
    await init('claude-code', 'gemini', 'opencode')
    await init('qwen', '--user')
    const { of, status } = await doctor()
    expect(status).toBe(0)
    for (const [title, level] of Object.entries({
      'Claude Code': 'project',
      'Gemini CLI': 'project',
      'Qwen Code': 'user',
    }))
      expect(of(title)).toMatchObject([{ ok: true, detail: expect.stringContaining(`is wired for the ${level}`) }])
    expect(of('Claude Code')[0]!.detail).toContain('--allowedTools mcp__punchlist')
    write(home, { '.claude.json': JSON.stringify({ projects: { [cwd]: { hasTrustDialogAccepted: true } } }) })
    expect((await doctor()).of('Claude Code')[0]!.detail).toBe('is wired for the project')
  })

  test('finds what is missing, changed or cannot be read, and says how to put it right', async () => {
    const { cwd, doctor, init } = examined()
    await init('claude-code', 'codex')
    rmSync(join(cwd, '.mcp.json'))
    const settings = join(cwd, '.claude/settings.json')
    writeFileSync(settings, readFileSync(settings, 'utf8').replace('"SessionEnd"', '"SessionOver"'))
    write(cwd, { '.codex/config.toml': 'x = = 1\n' })
    const { of, status } = await doctor()
    expect(status).toBe(7)
    expect(of('Claude Code')).toMatchObject([
      { ok: false, detail: expect.stringContaining('.claude/settings.json'), hint: 'Run: punchlist init claude-code' },
      { ok: false, detail: expect.stringContaining('.mcp.json'), hint: 'Run: punchlist init claude-code' },
    ])
    expect(of('Codex')[0]).toMatchObject({ ok: false, detail: expect.stringContaining('config.toml:1') })
    await init('claude-code')
    expect((await doctor()).of('Claude Code')).toMatchObject([{ ok: true }])
  })

  test('finds that the hooks would not find punchlist', async () => {
    const { cwd, programs, doctor, init } = examined()
    rmSync(join(programs, 'punchlist'))
    await init('gemini')
    expect((await doctor()).of('Gemini CLI')).toMatchObject([
      { ok: false, hint: expect.stringContaining('npm install') },
    ])
    mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true })
    writeFileSync(join(cwd, 'node_modules/.bin/punchlist'), '', { mode: 0o755 })
    expect((await doctor()).of('Gemini CLI')).toMatchObject([{ ok: true }])
  })

  test('finds hooks that are switched off, whoever did it', async () => {
    const { cwd, home, doctor, init } = examined()
    write(home, { '.claude/settings.json': '{"disableAllHooks":true}' })
    write(cwd, {
      '.gemini/settings.json': '{"hooksConfig":{"enabled":false}}',
      '.qwen/settings.json': '{"disableAllHooks":true}',
    })
    await init('claude-code', 'gemini', 'qwen')
    const { of } = await doctor()
    for (const title of ['Claude Code', 'Gemini CLI', 'Qwen Code']) expect(of(title)).toMatchObject([{ ok: false }])
    expect(of('Claude Code')[0]!.hint).toContain(join(home, '.claude/settings.json'))
  })

  test('knows a host that has the plugin, and one that would call us twice', async () => {
    const { home, doctor, init, program } = examined()
    for (const name of ['claude', 'copilot', 'qwen']) program(name, '')
    write(home, {
      '.claude/settings.json': '{"enabledPlugins":{"punchlist@punchlist":true}}',
      '.copilot/settings.json': '{"enabledPlugins":{"punchlist@punchlist":true}}',
      '.qwen/extensions/punchlist/x': '',
    })
    const { of, status } = await doctor()
    expect([status, of('hosts')]).toEqual([0, []])
    for (const title of ['Claude Code', 'Copilot CLI', 'Qwen Code'])
      expect(of(title)).toMatchObject([{ ok: true, detail: 'has the plugin' }])
    await init('claude-code')
    expect((await doctor()).of('Claude Code')).toMatchObject([
      { ok: true, detail: expect.stringContaining('more than once') },
    ])
  })

  test('asks Codex whether the hooks were accepted', async () => {
    const { cwd, home, doctor, init, program } = examined()
    await init('codex')
    const hooks = join(cwd, '.codex/hooks.json')
    program('codex', CODEX('untrusted', hooks))
    expect((await doctor()).of('Codex')).toMatchObject([{ ok: false, hint: expect.stringContaining('/hooks') }])
    program('codex', `require('node:fs').writeFileSync('asked-here', '')\n${CODEX('trusted', hooks)}`)
    expect((await doctor()).of('Codex')).toMatchObject([{ ok: true, detail: 'is wired for the project' }])
    // In the project it would read what came with the project.
    expect([existsSync(join(cwd, 'asked-here')), existsSync(join(home, 'asked-here'))]).toEqual([false, true])
    program('codex', CODEX('trusted', hooks).replace('enabled: true', 'enabled: false'))
    expect((await doctor()).of('Codex')).toMatchObject([{ ok: false, detail: expect.stringContaining('not accepted') }])
    write(home, { '.codex/config.toml': '[features]\nhooks = false\n' })
    expect((await doctor()).of('Codex')).toMatchObject([
      { ok: false, detail: expect.stringContaining('features.hooks') },
    ])
  })

  test('says that it cannot tell where Codex does not answer, and never runs one that came with the project', async () => {
    const { cwd, doctor, init, program, programs } = examined()
    await init('codex')
    const unsure = [{ ok: true, detail: expect.stringContaining('cannot be told') }]
    expect((await doctor()).of('Codex')).toMatchObject(unsure)
    program('codex', 'process.exit(1)')
    expect((await doctor()).of('Codex')).toMatchObject(unsure)
    rmSync(join(programs, 'codex'))
    write(cwd, { 'bin/codex': `#!/bin/sh\ntouch ${join(cwd, 'ran')}\n` })
    chmodSync(join(cwd, 'bin/codex'), 0o755)
    symlinkSync(join(cwd, 'bin/codex'), join(programs, 'codex'))
    expect((await doctor()).of('Codex')).toMatchObject(unsure)
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })
})
