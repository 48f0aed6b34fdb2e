import { join } from 'node:path'
import { anthropicModel } from '../models/anthropic.ts'
import { type DrivenHost, native, PUNCHLIST, put } from './host.ts'

const EVENTS = ['Stop', 'SubagentStop', 'SessionStart', 'SessionEnd', 'UserPromptSubmit', 'PreCompact']
const TASKS = ['TaskCreated', 'TaskCompleted', 'PostToolUse']

export const claudeCode: DrivenHost = {
  name: 'claude-code',
  model: anthropicModel,
  session: /"session_id":"([^"]+)"/,

  prepare({ project }) {
    const hooks = [{ hooks: [{ type: 'command', command: [...PUNCHLIST, 'hook', 'claude-code'].join(' ') }] }]
    const [command, ...args] = [...PUNCHLIST, 'mcp']
    put(project, '.claude/settings.json', {
      hooks: Object.fromEntries([...EVENTS, ...TASKS].map(name => [name, hooks])),
    })
    put(project, '.mcp.json', { mcpServers: { punchlist: { command, args } } })
  },

  command: (prompt, resumed) => [
    join(native('@anthropic-ai/claude-code'), 'claude'),
    '-p',
    prompt,
    ...(resumed === undefined ? [] : ['--resume', resumed]),
    '--allowedTools',
    'mcp__punchlist',
    '--output-format',
    'json',
  ],

  env: model => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: 'nobody',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
}
