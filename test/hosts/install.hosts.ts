import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hooksAsListed } from '../../src/hosts/codex/asking.ts'
import { answer, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { native, PROGRAMS, PUNCHLIST, put } from './driven/host.ts'

const PLUGIN = join(import.meta.dirname, '../../plugin')

/** A user of their own, with the real programs on PATH, and ours. */
function user() {
  const home = scratch()
  const project = join(home, 'project')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(join(home, 'bin'))
  symlinkSync(PUNCHLIST[1], join(home, 'bin/punchlist'))
  // Its own launcher waits for a script that npm does not run here.
  symlinkSync(join(native('@anthropic-ai/claude-code'), 'claude'), join(home, 'bin/claude'))
  const path = [join(home, 'bin'), dirname(process.execPath), join(PROGRAMS, '.bin'), '/usr/bin', '/bin']
  const env = {
    HOME: home,
    PATH: path.join(':'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    COPILOT_OFFLINE: 'true',
  }
  const run = (program: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: project, env, encoding: 'utf8' })
    return { status, said: stdout + stderr }
  }
  return { home, project, env, run }
}

interface Listed {
  readonly hooks: {
    readonly command: string
    readonly key: string
    readonly currentHash: string
    readonly source: string
  }[]
  readonly warnings: string[]
  readonly errors: string[]
}

describe('the plugin folder is one that', () => {
  test('Claude Code takes, to the letter, and installs', () => {
    const { run } = user()
    expect(run('claude', 'plugin', 'validate', PLUGIN, '--strict')).toMatchObject({ status: 0 })
    expect(run('claude', 'plugin', 'validate', PLUGIN, '--profile', 'directory')).toMatchObject({ status: 0 })
    expect(run('claude', 'plugin', 'marketplace', 'add', PLUGIN)).toMatchObject({ status: 0 })
    expect(run('claude', 'plugin', 'install', 'punchlist@punchlist')).toMatchObject({ status: 0 })
    expect(run('claude', 'plugin', 'list').said).toContain('punchlist')
  })

  test('Codex installs, with every hook', async () => {
    const { run, env, home, project } = user()
    mkdirSync(join(home, '.codex'))
    expect(run('codex', 'plugin', 'marketplace', 'add', PLUGIN)).toMatchObject({ status: 0 })
    expect(run('codex', 'plugin', 'add', 'punchlist@punchlist')).toMatchObject({ status: 0 })
    const { hooks, warnings, errors } = (await hooksAsListed(join(PROGRAMS, '.bin/codex'), project, env)) as Listed
    expect(hooks).toHaveLength(7)
    expect(hooks.map(({ source }) => source)).toEqual(hooks.map(() => 'plugin'))
    expect([...warnings, ...errors]).toEqual([])
  })

  test('Copilot CLI installs', () => {
    const { run } = user()
    expect(run('copilot', 'plugin', 'marketplace', 'add', PLUGIN)).toMatchObject({ status: 0 })
    expect(run('copilot', 'plugin', 'install', 'punchlist@punchlist').said).toContain('Installed 1 skill')
  })

  test('Qwen Code installs', () => {
    const { run, home } = user()
    expect(run('qwen', 'extensions', 'install', `${PLUGIN}:punchlist`, '--consent')).toMatchObject({ status: 0 })
    const installed = join(home, '.qwen/extensions/punchlist')
    expect(readdirSync(installed)).toEqual(expect.arrayContaining(['hooks', 'skills', '.mcp.json']))
  })
})

describe('doctor knows what the real Codex will do', () => {
  const doctor = async (cwd: string, env: Record<string, string>) => {
    const { stdout } = await punchlist(['--json', 'doctor'], { cwd, env })
    const { checks } = JSON.parse(stdout) as { checks: { check: string; ok: boolean; hint: string }[] }
    return checks.filter(({ check }) => check === 'Codex')
  }

  test('with a project that is not trusted, with hooks that are not accepted, and with both', async () => {
    const { env, home, project } = user()
    put(home, '.codex/config.toml', '')
    await answer(['init', 'codex'], { cwd: project, env })
    expect(await doctor(project, env)).toMatchObject([{ ok: false, hint: expect.stringContaining('trust') }])
    const settings = join(home, '.codex/config.toml')
    appendFileSync(settings, `[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`)
    expect(await doctor(project, env)).toMatchObject([{ ok: false, hint: expect.stringContaining('/hooks') }])
    const { hooks, warnings, errors } = (await hooksAsListed(join(PROGRAMS, '.bin/codex'), project, env)) as Listed
    expect([...warnings, ...errors]).toEqual([])
    const accepted = hooks.map(
      ({ key, currentHash }) => `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${currentHash}"\n`,
    )
    appendFileSync(settings, accepted.join(''))
    expect(await doctor(project, env)).toMatchObject([{ ok: true }])
  })
})
