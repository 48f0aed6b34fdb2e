import { execFileSync } from 'node:child_process'
import { lutimesSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { place, treeOf, write } from '../support/wiring.ts'

describe('what cannot be done is refused, and nothing is written', () => {
  const cases: [what: string, args: string[], code: string, says: RegExp, files?: Record<string, string>][] = [
    ['an unknown host', ['emacs'], 'bad_input', /claude-code/],
    ['a host that has no configuration of a project', ['kimi'], 'bad_input', /init kimi --user/],
    ['one of several that has none', ['claude-code', 'pi'], 'bad_input', /init pi --user/],
    ['flags without a host', ['--remove'], 'bad_input', /claude-code --remove/],
    ['an empty file', ['claude-code'], 'unreadable_file', /settings\.json:1/, { '.claude/settings.json': '' }],
    [
      'hooks that are a list',
      ['codex'],
      'unreadable_file',
      /hooks\.json:2/,
      { '.codex/hooks.json': '{\n"hooks": []}' },
    ],
    [
      'servers that are a text',
      ['claude-code'],
      'unreadable_file',
      /\.mcp\.json:1/,
      { '.mcp.json': '{"mcpServers":"x"}' },
    ],
    ['TOML that is none', ['codex'], 'unreadable_file', /config\.toml:2/, { '.codex/config.toml': 'a = 1\nb = \n' }],
    [
      'servers on one line',
      ['codex'],
      'unreadable_file',
      /toml:1/,
      { '.codex/config.toml': 'mcp_servers = { a = {} }\n' },
    ],
    [
      'a passage without its end',
      ['codex'],
      'unreadable_file',
      /AGENTS\.md:1/,
      { 'AGENTS.md': '<!-- punchlist: x -->\n' },
    ],
    ['a folder in place of a file', ['claude-code'], 'unreadable_file', /no file/, { '.mcp.json/x': '' }],
  ]

  test.each(cases)('%s', async (_, args, code, says, files = {}) => {
    const { cwd, around, tree } = place()
    write(cwd, files)
    const before = tree()
    const refused = await refusal(['init', ...args], around)
    expect(refused.code).toBe(code)
    expect(`${refused.message}\n${refused.hint}`).toMatch(says)
    expect(tree()).toEqual(before)
  })

  test('a file that is not UTF-8', async () => {
    const { cwd, around } = place()
    writeFileSync(join(cwd, '.mcp.json'), Buffer.from([0x7b, 0xff, 0x7d]))
    expect(await refusal(['init', 'claude-code'], around)).toMatchObject({ code: 'unreadable_file' })
    expect(readdirSync(cwd).toSorted()).toEqual(['.git', '.mcp.json'])
  })

  test('a link that leads out of the project, whatever it is called', async () => {
    for (const link of ['.claude', '.claude/settings.json', '.mcp.json', '.claude/skills']) {
      const { cwd, home, around, tree } = place()
      const outside = scratch()
      writeFileSync(join(outside, 'file'), '{}')
      mkdirSync(join(cwd, dirname(link)), { recursive: true })
      symlinkSync(link.endsWith('json') ? join(outside, 'file') : outside, join(cwd, link))
      expect(await refusal(['init', 'claude-code'], around), link).toMatchObject({ code: 'bad_input' })
      expect(readdirSync(outside)).toEqual(['file'])
      expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('{}')
      expect(treeOf(home)).toEqual({})
      expect(Object.keys(tree()).some(path => path.endsWith('SKILL.md'))).toBe(false)
    }
  })

  test("a link that leads into the repository's own folder", async () => {
    for (const link of ['.claude', '.claude/skills']) {
      const { cwd, around, tree } = place()
      mkdirSync(join(cwd, '.git/hooks'), { recursive: true })
      mkdirSync(join(cwd, dirname(link)), { recursive: true })
      symlinkSync(join(cwd, '.git/hooks'), join(cwd, link))
      const before = tree()
      expect(await refusal(['init', 'claude-code'], around), link).toMatchObject({ code: 'bad_input' })
      expect(tree()).toEqual(before)
    }
  })

  test('a pipe in place of a file, at once', async () => {
    const { cwd, around } = place()
    execFileSync('mkfifo', [join(cwd, '.mcp.json')])
    expect(await refusal(['init', 'claude-code'], around)).toMatchObject({ code: 'unreadable_file' })
    expect(readdirSync(cwd).toSorted()).toEqual(['.git', '.mcp.json'])
  })

  test('what lies in the place of a prepared file is not written through', async () => {
    const { cwd, init } = place()
    const precious = join(scratch(), 'precious')
    writeFileSync(precious, 'kept')
    const prepared = join(cwd, '.claude/.settings.json.punchlist-new')
    mkdirSync(dirname(prepared))
    symlinkSync(precious, prepared)
    lutimesSync(prepared, 1, 1)
    await init('claude-code')
    expect(readFileSync(precious, 'utf8')).toBe('kept')
    expect(readdirSync(dirname(prepared))).not.toContain('.settings.json.punchlist-new')
  })

  test('but one that stays in it is followed, and stays a link', async () => {
    const { cwd, init } = place()
    write(cwd, { 'docs/RULES.md': '# Rules\n' })
    symlinkSync('docs/RULES.md', join(cwd, 'AGENTS.md'))
    await init('codex')
    expect(readFileSync(join(cwd, 'docs/RULES.md'), 'utf8')).toContain('punchlist')
    await init('codex', '--remove')
    expect(readFileSync(join(cwd, 'docs/RULES.md'), 'utf8')).toBe('# Rules\n')
    expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toBe('# Rules\n')
  })
})
