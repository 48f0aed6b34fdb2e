import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WIRINGS } from '../../src/hosts/install/wirings.ts'
import { answer, punchlist, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { place, type Wired, write } from '../support/wiring.ts'

const every = WIRINGS.flatMap(({ host, levels }) =>
  levels.map((level): [string, string[]] => [`${host} ${level}`, [host, ...(level === 'user' ? ['--user'] : [])]]),
)

describe.each(every)('init %s', (_, args) => {
  test('writes what the host needs; again changes nothing; --remove leaves no trace', async () => {
    const { init, tree } = place()
    const before = tree()
    const { files, written } = await init(...args)
    expect(written).toBe(true)
    expect(files.map(({ change }) => change)).toEqual(files.map(() => 'made'))
    for (const { file } of files) expect(readFileSync(file, 'utf8')).toContain('punchlist')
    const wired = tree()
    expect(await init(...args)).toMatchObject({ files: [], written: false })
    expect(tree()).toEqual(wired)
    await init(...args, '--remove')
    expect(tree()).toEqual(before)
    expect(await init(...args, '--remove')).toMatchObject({ files: [], written: false })
  })

  test('shows first, and writes nothing with --dry-run', async () => {
    const { around, tree } = place()
    const before = tree()
    const { stdout, status } = await punchlist(['init', ...args, '--dry-run'], around)
    expect(status).toBe(0)
    expect(stdout).toContain('--- /dev/null')
    expect(stdout).toContain('would be made: ')
    expect(tree()).toEqual(before)
  })
})

const HOSTS = WIRINGS.filter(({ levels }) => levels.includes('project')).map(({ host }) => host)

const THEIRS = {
  '.claude/settings.json': `{
\t"permissions": { "allow": ["Bash(ls:*)"] },
\t"hooks": {
\t\t"Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ],
\t\t"PreToolUse": []
\t}
}`,
  '.mcp.json': '{"mcpServers":{"github":{"command":"gh-mcp"}}}\n',
  '.codex/hooks.json': '{}',
  '.codex/config.toml': '# mine\r\nmodel = "x"\r\n\r\n[mcp_servers.github]\r\ncommand = "gh-mcp"\r\n',
  '.gemini/settings.json': '\uFEFF{\r\n    "ui": {},\r\n    "mcpServers": {}\r\n}\r\n',
  '.qwen/settings.json': '{ "hooks": {} }\n\n',
  'opencode.jsonc': '{\n  // ours\n  "mcp": {}, // none yet\n  "plugin": ["x",],\n}\n',
  'AGENTS.md': '# Rules\n\nBe kind.',
  '.opencode/plugin/other.ts': 'export const other = async () => ({})\n',
  '.github/hooks/other.json': '{"version":1,"hooks":{}}',
}

describe('what is there', () => {
  test('is kept, to the last byte, and all of it is there again after --remove', async () => {
    const { cwd, init, tree } = place()
    write(cwd, THEIRS)
    const before = tree()
    await init(...HOSTS)
    const wired = tree()
    for (const [path, text] of Object.entries(THEIRS)) {
      const now = wired[join(cwd, path)]!
      const lines = Buffer.from(text).toString('latin1').split(/\s+/).filter(Boolean)
      // Every word is still there, in its order.
      let at = 0
      for (const word of lines)
        expect((at = now.indexOf(word.replace(/[,}\]]+$/, ''), at)), `${path}: ${word}`).not.toBe(-1)
    }
    expect(await init(...HOSTS)).toMatchObject({ files: [] })
    await init(...HOSTS, '--remove')
    expect(tree()).toEqual(before)
  })

  test('other hooks still come first, other servers stay', async () => {
    const { cwd, init } = place()
    write(cwd, THEIRS)
    await init('claude-code')
    const settings = JSON.parse(readFileSync(join(cwd, '.claude/settings.json'), 'utf8'))
    expect(settings.hooks.Stop).toHaveLength(2)
    expect(settings.hooks.Stop[0].hooks[0].command).toBe('say done')
    expect(settings.permissions).toEqual({ allow: ['Bash(ls:*)'] })
    const { mcpServers } = JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8'))
    expect(Object.keys(mcpServers)).toEqual(['github', 'punchlist'])
  })

  test('a server that somebody called punchlist is left alone, and told', async () => {
    const { cwd, init } = place()
    for (const server of ['"command":"npx","args":["punchlist","mcp"]', '"command":"punchlist","args":["mcp"]']) {
      const text = `{"mcpServers":{"punchlist":{${server}}}}`
      write(cwd, { '.mcp.json': text })
      const { notes } = await init('claude-code')
      expect(notes.join()).toContain('.mcp.json')
      expect(readFileSync(join(cwd, '.mcp.json'), 'utf8')).toBe(text)
      await init('claude-code', '--remove')
      expect(readFileSync(join(cwd, '.mcp.json'), 'utf8')).toBe(text)
    }
  })

  test('what somebody changed in an entry of ours stays until it is removed', async () => {
    const { cwd, init } = place()
    await init('claude-code')
    const file = join(cwd, '.claude/settings.json')
    const patient = readFileSync(file, 'utf8').replace('"timeout": 20', '"timeout": 60')
    writeFileSync(file, patient)
    expect(await init('claude-code')).toMatchObject({ files: [] })
    expect(readFileSync(file, 'utf8')).toBe(patient)
    await init('claude-code', '--remove')
    expect(readdirSync(cwd)).toEqual(['.git'])
  })

  test('an older text of ours is replaced', async () => {
    const { cwd, init } = place()
    await init('codex')
    const skill = join(cwd, '.agents/skills/punchlist/SKILL.md')
    const text = readFileSync(skill, 'utf8')
    writeFileSync(skill, text.replace('# The plan', '# Plans'))
    write(cwd, { 'AGENTS.md': readFileSync(join(cwd, 'AGENTS.md'), 'utf8').replace('Keep the plan', 'Keep a plan') })
    expect((await init('codex')).files.map(({ change }) => change)).toEqual(['changed', 'changed'])
    expect(readFileSync(skill, 'utf8')).toBe(text)
  })

  test('so are hooks and servers that an older release wrote, and they can be removed', async () => {
    const { cwd, init, tree } = place()
    const before = tree()
    const older = () => {
      for (const file of ['.codex/hooks.json', '.codex/config.toml', '.mcp.json', '.gemini/settings.json']) {
        const path = join(cwd, file)
        writeFileSync(path, readFileSync(path, 'utf8').replaceAll('; command -v', ' || exit 0; command -v'))
      }
    }
    const hosts = ['claude-code', 'codex', 'gemini']
    await init(...hosts)
    const now = tree()
    older()
    expect((await init(...hosts)).files).toHaveLength(4)
    expect(tree()).toEqual(now)
    older()
    await init(...hosts, '--remove')
    expect(tree()).toEqual(before)
  })

  test('is kept as it was in a copy that nobody else can read, until it is so again', async () => {
    const { cwd, home, init, tree } = place()
    write(cwd, THEIRS)
    const before = tree()
    const { notes } = await init('codex')
    const copies = join(home, '.local/state/punchlist/originals')
    const copy = readdirSync(copies).find(name => name.startsWith('config.toml'))
    expect(notes.join()).toContain(`config.toml as it was: ${join(copies, copy!)}`)
    expect(readFileSync(join(copies, copy!), 'utf8')).toBe(THEIRS['.codex/config.toml'])
    expect(statSync(join(copies, copy!)).mode & 0o777).toBe(0o600)
    writeFileSync(
      join(cwd, '.codex/config.toml'),
      `${readFileSync(join(cwd, '.codex/config.toml'), 'utf8')}# later\r\n`,
    )
    await init('codex', '--remove')
    expect(readFileSync(join(copies, copy!), 'utf8')).toContain('[mcp_servers.punchlist]')
    expect(readdirSync(copies)).toEqual([copy])
    write(cwd, { '.codex/config.toml': THEIRS['.codex/config.toml'] })
    await init('codex')
    await init('codex', '--remove')
    expect(tree()).toEqual(before)
  })

  test('is changed though no copy can be kept, and that is told', async () => {
    const { cwd, home, init } = place()
    write(cwd, { 'AGENTS.md': '# Rules\n' })
    write(home, { '.local': 'a file' })
    expect((await init('codex')).notes.join()).toContain('no copies were kept')
    expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toContain('punchlist')
  })

  test('keeps its permissions', async () => {
    const { cwd, init } = place()
    write(cwd, { '.codex/config.toml': 'model = "x"\n' })
    const file = join(cwd, '.codex/config.toml')
    chmodSync(file, 0o600)
    await init('codex')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('and what is made for the user alone is read by nobody else: the host will put keys there', async () => {
    const { cwd, home, init } = place()
    await init('claude-code')
    await init('claude-code', '--user')
    expect(statSync(join(home, '.claude.json')).mode & 0o777).toBe(0o600)
    expect(statSync(join(cwd, '.mcp.json')).mode & 0o077).not.toBe(0)
  })
})

describe('several hosts', () => {
  test('share one skill and one passage, which stay while one of them needs them', async () => {
    const { cwd, init, tree } = place()
    const before = tree()
    await init('codex', 'copilot', 'gemini')
    expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8').match(/<!-- punchlist/g)).toHaveLength(1)
    const { notes } = await init('codex', '--remove')
    expect(notes.join()).toContain('another host needs it')
    expect(Object.keys(tree()).some(path => path.includes('.codex'))).toBe(false)
    expect(tree()).toHaveProperty([join(cwd, 'AGENTS.md')])
    await init('copilot', '--remove')
    expect(tree()).not.toHaveProperty([join(cwd, 'AGENTS.md')])
    expect(tree()).toHaveProperty([join(cwd, '.agents/skills/punchlist/SKILL.md')])
    await init('gemini', '--remove')
    expect(tree()).toEqual(before)
  })

  test('are wired all or none: one file that cannot be read, and nothing is written', async () => {
    const { cwd, around, tree } = place()
    write(cwd, { '.gemini/settings.json': '{\n  "a": 1,\n  "b" 2\n}\n' })
    const before = tree()
    const refused = await refusal(['init', 'claude-code', 'gemini'], around)
    expect(refused).toMatchObject({ status: 7, code: 'unreadable_file' })
    expect(refused.message).toContain(join(cwd, '.gemini/settings.json:3'))
    expect(tree()).toEqual(before)
  })
})

test("the user's own folders are taken from the variables that the hosts have for them", async () => {
  const { around } = place()
  const named = scratch()
  const env = {
    ...around.env,
    CLAUDE_CONFIG_DIR: join(named, 'claude'),
    CODEX_HOME: join(named, 'codex'),
    XDG_CONFIG_HOME: join(named, 'config'),
  }
  await answer(['init', 'claude-code', 'codex', 'opencode', '--user'], { ...around, env })
  expect(readdirSync(join(named, 'claude')).toSorted()).toEqual(['.claude.json', 'settings.json', 'skills'])
  expect(readdirSync(join(named, 'codex')).toSorted()).toEqual(['AGENTS.md', 'config.toml', 'hooks.json'])
  expect(readdirSync(join(named, 'config/opencode')).toSorted()).toEqual(['opencode.json', 'plugin'])
})

test('a script that asks for it gets it: the diff goes where nobody parses', async () => {
  const { around, cwd } = place()
  const { stdout, stderr } = await punchlist(['init', 'claude-code'], around)
  expect(stderr).toContain(`+++ ${join(cwd, '.mcp.json')}`)
  expect(stdout).toContain(`made ${join(cwd, '.mcp.json')}`)
  expect(stdout).not.toContain('+++')
})

test('a diff shows lines as they look, whatever they end with', async () => {
  const { cwd, around } = place()
  write(cwd, { 'AGENTS.md': '# Rules\r\n\r\nBe kind.\r\n' })
  const { stdout } = await punchlist(['init', 'codex', '--dry-run'], around)
  expect(stdout).toContain('\n Be kind.\n')
  expect(stdout).not.toContain('\\u{d}')
})

test('somebody who has punchlist only for the moment is told that hosts will not find it', async () => {
  const { cwd, home } = place()
  const passing = join(scratch(), '_npx/1/node_modules/.bin')
  write(passing, { punchlist: '' })
  chmodSync(join(passing, 'punchlist'), 0o755)
  const env = { HOME: home, PATH: `${passing}:/usr/bin:/bin`, npm_config_user_agent: 'npm/11' }
  const told = async (...args: string[]) =>
    (await answer<Wired>(['init', 'claude-code', ...args], { cwd, env })).notes.join()
  expect(await told()).toContain(
    'neither in node_modules nor on PATH, so nothing will be called: npm install --save-dev',
  )
  expect(await told('--user')).toContain('not on PATH, so nothing will be called: npm install --global')
  await answer(['init', 'claude-code', '--remove'], { cwd, env })
  write(cwd, { 'node_modules/.bin/punchlist': '' })
  chmodSync(join(cwd, 'node_modules/.bin/punchlist'), 0o755)
  expect(await told()).not.toContain('nothing will be called')
})

test('what looks like a credential is not shown with the lines around a change', async () => {
  const { cwd, around } = place()
  write(cwd, { '.mcp.json': `{\n  "mcpServers": {\n    "x": { "env": { "KEY": "ghp_${'a1'.repeat(18)}" } }\n  }\n}\n` })
  const { stderr } = await punchlist(['init', 'claude-code'], around)
  expect(stderr).toContain('[redacted]')
  expect(stderr).not.toContain('ghp_')
  expect(readFileSync(join(cwd, '.mcp.json'), 'utf8')).toContain('ghp_')
})
