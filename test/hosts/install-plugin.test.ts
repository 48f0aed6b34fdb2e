import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hostFrom } from '../../src/hosts/guessing.ts'
import { pluginHooks } from '../../src/hosts/install/plugin.ts'
import { SKILL } from '../../src/hosts/install/texts.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const json = (path: string) => JSON.parse(read(path)) as Record<string, unknown>

describe('the plugin folder', () => {
  test('has the skill that init writes, and the hooks that the program knows', () => {
    expect(read('plugin/skills/punchlist/SKILL.md')).toBe(SKILL)
    for (const [name, hooks] of Object.entries(pluginHooks())) expect(json(`plugin/hooks/${name}`)).toEqual(hooks)
  })

  test('has the version and the licence of the package', () => {
    const { version, license } = json('package.json')
    for (const file of ['.claude-plugin/plugin.json', '.codex-plugin/plugin.json']) {
      expect(json(`plugin/${file}`)).toMatchObject({ name: 'punchlist', version, license })
    }
    expect(json('plugin/.claude-plugin/marketplace.json')).toMatchObject({ plugins: [{ version, license }] })
    expect(read('plugin/LICENSE')).toBe(read('LICENSE'))
  })

  test('names files that are there', () => {
    const { skills, hooks, mcpServers } = json('plugin/.codex-plugin/plugin.json') as Record<string, string>
    expect(skills).toBe('./skills/')
    for (const file of [hooks, mcpServers]) expect(() => read(join('plugin', file!))).not.toThrow()
  })

  test('is shipped', () => {
    expect(json('package.json')['files']).toContain('plugin')
  })
})

test('the skill is one that every host can read', () => {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(SKILL)!
  const description = /^description: (.*)$/m.exec(head!)![1]!
  expect(/^name: (.*)$/m.exec(head!)![1]).toBe('punchlist')
  expect(description.length).toBeLessThan(1024)
  // A colon and a blank would make a mapping of it.
  expect(description).not.toMatch(/: | #/)
  for (const tool of ['create_todo', 'start_todo', 'complete_todo', 'block_todo', 'list_todo'])
    expect(body).toContain(tool)
})

describe('one file of hooks serves several hosts, and each is known when it calls', () => {
  const claude = { CLAUDE_PLUGIN_ROOT: '/c', CLAUDE_CODE_SESSION_ID: 'c1', CLAUDE_PROJECT_DIR: '/p' }
  const qwen = { QWEN_CODE_SESSION_ID: 'q1', CLAUDE_PROJECT_DIR: '/p', GEMINI_PROJECT_DIR: '/p' }
  const codex = { PLUGIN_ROOT: '/x', CLAUDE_PLUGIN_ROOT: '/x' }
  const copilot = { PLUGIN_ROOT: '/o', CLAUDE_PLUGIN_ROOT: '/o', COPILOT_PLUGIN_ROOT: '/o', COPILOT_PROJECT_DIR: '/p' }
  const cases: [name: string, env: Record<string, string>, payload: Record<string, unknown>][] = [
    ['claude-code', claude, { session_id: 'c1', transcript_path: '/t', cwd: '/p' }],
    ['qwen', qwen, { session_id: 'q1', timestamp: '2026-11-16T09:00:00.000Z' }],
    ['codex', codex, { session_id: 'x1', model: 'm', permission_mode: 'default' }],
    ['codex', codex, { session_id: 'x1', turn_id: 't1' }],
    ['copilot', copilot, { session_id: 'o1', timestamp: '2026-11-16T09:00:00.000Z' }],
    ['copilot', {}, { sessionId: 'o1', stopReason: 'end_turn' }],
    ['claude-code', {}, { session_id: 'c1' }],
  ]

  test.each(cases)('%s', (name, env, payload) => {
    expect(hostFrom(env, payload)).toBe(name)
  })

  test('also one that was started from inside another, with all of its variables', () => {
    const inClaude = { CLAUDE_CODE_SESSION_ID: 'c1', CLAUDE_PROJECT_DIR: '/p' }
    expect(hostFrom({ ...inClaude, ...codex }, { session_id: 'x1', turn_id: 't1' })).toBe('codex')
    expect(hostFrom({ ...inClaude, ...qwen }, { session_id: 'q1' })).toBe('qwen')
    expect(hostFrom({ ...qwen, ...claude }, { session_id: 'c1' })).toBe('claude-code')
    expect(hostFrom({ COPILOT_CLI: '1', ...claude }, { session_id: 'c1' })).toBe('claude-code')
  })
})
